"""Checks the contracts that are not about one buffer: drives the calls and judges their clauses."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sm120.contracts.argument_clauses import judge_arguments
from pytest_sm120.contracts.kernel_arguments import KernelArguments
from pytest_sm120.contracts.report import explain_ending, report_of
from pytest_sm120.contracts.results import ContractResult
from pytest_sm120.contracts.steps import (
    DEFAULT_DEVICES,
    DEFAULT_SIZES,
    Bench,
    Drive,
    Driven,
    drive_steps,
    plan_steps,
)
from pytest_sm120.errors import ContractBroken, UsageError

Checked = KernelArguments


def check_other(
    contract: object,
    drive: Drive | None,
    bench: Bench,
    sizes: Sequence[int] | None,
    devices: Sequence[str] | None,
    thorough: bool,
) -> ContractResult:
    """Judge a contract other than a Scratch, as ``check`` does.

    Raises ContractBroken with all that is broken, and UsageError for what is no contract and for
    arguments that this kind of contract does not take.
    """
    __tracebackhide__ = True
    if drive is None:
        raise _explain_missing_drive(contract)
    if thorough:
        raise _explain_thorough(contract)
    if not isinstance(contract, KernelArguments):
        raise _explain_no_contract(contract)
    plans = plan_steps(
        DEFAULT_SIZES if sizes is None else sizes, DEFAULT_DEVICES if devices is None else devices
    )
    # What inference mode does to buffers that are kept is no matter of arguments.
    plans[0] = plans[0]._replace(mode="ordinary")
    restore = bench.save_state()
    try:
        driven = drive_steps([*plans, *contract.more_steps(plans[0])], drive, bench)
        clauses = judge_arguments(contract, driven, bench.recording)
    finally:
        restore()
    return _conclude(ContractResult(contract.title, tuple(clauses)), driven)


def _conclude(result: ContractResult, driven: Driven) -> ContractResult:
    __tracebackhide__ = True
    if result.findings or driven.error:
        raise ContractBroken(report_of(result, explain_ending(driven)), result) from driven.error
    return result


def _explain_no_contract(contract: object) -> UsageError:
    return UsageError(
        f"sm120.check was given {contract!r}.",
        limit="It tests a contract: a Scratch or KernelArguments.",
        remedy="Import one of them from pytest_sm120.",
    )


def _explain_thorough(contract: object) -> UsageError:
    return UsageError(
        f"sm120.check(thorough=True) was asked for {type(contract).__name__}.",
        limit="Random orders of calls are compared with a model of a buffer, which only a Scratch"
        " has.",
        remedy="Leave thorough=True out.",
    )


def _explain_missing_drive(contract: object) -> UsageError:
    return UsageError(
        f"sm120.check was given {type(contract).__name__} without drive=.",
        limit="This contract is judged on what the code under test does when it is called.",
        remedy="Pass drive=lambda size, device: ..., which calls it once.",
    )
