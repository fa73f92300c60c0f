"""Checks the contracts that are not about one buffer: drives the calls and judges their clauses."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sm120.contracts.argument_clauses import judge_arguments
from pytest_sm120.contracts.implementation_clauses import judge_implementations
from pytest_sm120.contracts.implementations import Implementations
from pytest_sm120.contracts.kernel_arguments import KernelArguments
from pytest_sm120.contracts.report import explain_ending, report_of
from pytest_sm120.contracts.results import ClauseResult, ContractResult
from pytest_sm120.contracts.sibling_clauses import judge_siblings
from pytest_sm120.contracts.siblings import Siblings
from pytest_sm120.contracts.steps import (
    DEFAULT_DEVICES,
    DEFAULT_SIZES,
    Bench,
    Drive,
    Driven,
    PlannedStep,
    drive_steps,
    plan_steps,
)
from pytest_sm120.errors import ContractBroken, UsageError

Checked = KernelArguments | Siblings | Implementations


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
    if isinstance(contract, Implementations):
        return _conclude(contract.title, judge_implementations(contract), Driven(()))
    if drive is None:
        raise _explain_missing_drive(contract)
    if thorough:
        raise _explain_thorough(contract)
    plans = plan_steps(
        DEFAULT_SIZES if sizes is None else sizes, DEFAULT_DEVICES if devices is None else devices
    )
    if isinstance(contract, Siblings):
        return _check_siblings(contract, plans, drive, bench)
    if isinstance(contract, KernelArguments):
        return _check_arguments(contract, plans, drive, bench)
    raise _explain_no_contract(contract)


def _check_siblings(
    contract: Siblings, plans: list[PlannedStep], drive: Drive, bench: Bench
) -> ContractResult:
    __tracebackhide__ = True
    restore = bench.save_state()
    try:
        driven = drive_steps(plans, drive, bench)
        clauses = judge_siblings(contract, plans, driven, bench.recording)
    finally:
        restore()
    return _conclude(contract.title, clauses, driven)


def _check_arguments(
    contract: KernelArguments, plans: list[PlannedStep], drive: Drive, bench: Bench
) -> ContractResult:
    __tracebackhide__ = True
    # What inference mode does to buffers that are kept is no matter of arguments.
    first = plans[0]._replace(mode="ordinary")
    restore = bench.save_state()
    try:
        driven = drive_steps([first, *plans[1:], *contract.more_steps(first)], drive, bench)
        clauses = judge_arguments(contract, driven, bench.recording)
    finally:
        restore()
    return _conclude(contract.title, clauses, driven)


def _conclude(title: str, clauses: Sequence[ClauseResult], driven: Driven) -> ContractResult:
    __tracebackhide__ = True
    result = ContractResult(title, tuple(clauses))
    if result.findings or driven.error:
        raise ContractBroken(report_of(result, explain_ending(driven)), result) from driven.error
    return result


def _explain_no_contract(contract: object) -> UsageError:
    return UsageError(
        f"sm120.check was given {contract!r}.",
        limit="It tests a contract: Scratch, KernelArguments, Siblings or Implementations.",
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
