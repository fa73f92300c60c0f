"""Contracts of persistent scratch buffers: sequences of calls, judged on a recording."""

from __future__ import annotations

from pytest_sm120.contracts.checking import check
from pytest_sm120.contracts.results import ClauseResult, ContractResult
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.contracts.steps import Bench

__all__ = ["Bench", "ClauseResult", "ContractResult", "Scratch", "check"]
