"""Reads a target as text: allocations, calls and functions with the comments that belong to them.

Works on ``ast`` and ``tokenize`` only and never imports the target.
"""

from __future__ import annotations

from pytest_sm120.source.records import SourceCall
from pytest_sm120.source.view import SourceFunction, SourceView, read_source

__all__ = ["SourceCall", "SourceFunction", "SourceView", "read_source"]
