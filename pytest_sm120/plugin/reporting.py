"""What one test's report carries: what it did, and for a failure what was recorded and assumed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import pytest

from pytest_sm120.errors import ContractBroken
from pytest_sm120.plugin.fixture import Sm120

if TYPE_CHECKING:
    from pytest_sm120.contracts import ContractResult

_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def add_to_report(
    fixture: Sm120,
    report: pytest.TestReport,
    excinfo: pytest.ExceptionInfo[BaseException] | None = None,
) -> None:
    """Add what was recorded to a failure; at the end of the test, what it did to its last report.

    That is plain data, which pytest-xdist can carry from its workers.
    """
    if report.skipped and not hasattr(report, "wasxfail"):
        fixture.was_skipped = True
    if report.failed:
        fixture.has_failed = True
        # A broken contract has named every place already.
        says_all = excinfo is not None and excinfo.errisinstance(ContractBroken)
        report.sections += _sections(fixture, with_records=not says_all)
    if report.when == "teardown":
        report.sm120 = describe_use(fixture)  # type: ignore[attr-defined]  # reports take extra data


def _sections(fixture: Sm120, *, with_records: bool) -> Iterator[tuple[str, str]]:
    if fixture.left_turn:
        yield "sm120: arch", fixture.left_turn
    session = fixture.used_session
    if session is None or not session.targets:
        return
    from pytest_sm120.recorder.explaining import explain_recording

    assumptions = fixture.assumptions
    if assumptions:
        yield "sm120: assumed at import", "\n".join(assumptions)
    if with_records:
        yield "sm120: recorded", explain_recording(session.recording)


def describe_use(fixture: Sm120) -> dict[str, Any]:
    """Return what a test loaded, checked and assumed, as plain data."""
    # In a test that passes, a broken contract is what the test asks for: of a broken twin, say.
    to_mend = fixture.results if fixture.has_failed else []
    return {
        "tier": fixture.tier,
        "skipped": fixture.was_skipped,
        "targets": [str(module.__file__) for module in fixture.targets],
        "contracts": len(fixture.results),
        "clauses_broken": sum(len(result.findings) for result in to_mend),
        "clauses_not_judged": sum(len(result.unjudged) for result in fixture.results),
        "costs": [cost for result in to_mend for cost in _costs_of_the_fix(result)],
        "assumptions": list(fixture.assumptions),
    }


def _costs_of_the_fix(result: ContractResult) -> list[str]:
    """Return what the initial value costs if it is not the one that the contract asks for."""
    if not any(clause.is_hazard and clause.finding for clause in result.clauses):
        return []
    return [f"{result.title}: {line}" for line in result.cost_lines]


def hide_own_frames(error: BaseException) -> None:
    """Let pytest leave this package's frames out, so that it shows the user's lines only.

    The mark is pytest's own, in the globals of the modules that the traceback went through:
    tracebacks stay as they are, for debuggers and other plugins, and --full-trace shows all.
    """
    for each in _linked(error):
        for frame, _ in walk_tb(each.__traceback__):
            if frame.f_code.co_filename.startswith(_OWN_FOLDER):
                frame.f_globals["__tracebackhide__"] = True


def _linked(error: BaseException) -> list[BaseException]:
    """Return the error, its causes and contexts and the members of groups, each once."""
    found = {id(error): error}
    waiting = [error]
    while waiting:
        for linked in _next_of(waiting.pop()):
            if id(linked) not in found:
                found[id(linked)] = linked
                waiting.append(linked)
    return list(found.values())


def _next_of(error: BaseException) -> list[BaseException]:
    # By attribute, since Python 3.10 has no BaseExceptionGroup.
    members = getattr(error, "exceptions", ())
    linked = [error.__cause__, error.__context__, *(members if type(members) is tuple else ())]
    return [each for each in linked if isinstance(each, BaseException)]
