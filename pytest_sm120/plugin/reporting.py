"""What one test's report carries: what it did, and for a failure what was recorded and assumed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import pytest

from pytest_sm120.plugin.fixture import FIXTURE, Sm120
from pytest_sm120.recorder.explaining import explain_recording

_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def add_to_report(item: pytest.Item, report: pytest.TestReport) -> None:
    """Attach what the test did, as plain data that pytest-xdist can carry."""
    fixture = item.stash.get(FIXTURE, None)
    if fixture is None or report.when != "call":
        return
    report.sm120 = describe_use(fixture)  # type: ignore[attr-defined]  # reports take extra data
    session = fixture.used_session
    if report.failed and session is not None:
        assumptions = list(_assumptions(fixture))
        if assumptions:
            report.sections.append(("sm120: assumed at import", "\n".join(assumptions)))
        report.sections.append(("sm120: recorded", explain_recording(session.recording)))


def describe_use(fixture: Sm120) -> dict[str, Any]:
    """Return what a test loaded, checked and assumed, as plain data."""
    session = fixture.used_session
    targets = session.targets if session is not None else ()
    return {
        "tier": fixture.tier,
        "targets": [str(module.__file__) for module in targets],
        "contracts": len(fixture.results),
        "clauses_broken": sum(len(result.findings) for result in fixture.results),
        "costs": [
            cost for result in fixture.results for cost in result.cost_lines if result.findings
        ],
        "assumptions": list(_assumptions(fixture)),
    }


def _assumptions(fixture: Sm120) -> Iterator[str]:
    session = fixture.used_session
    seen: set[str] = set()
    for module in session.targets if session is not None else ():
        for assumption in module.__sm120_assumptions__:
            if str(assumption) not in seen:
                seen.add(str(assumption))
                yield str(assumption)


def hide_own_frames(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Leave this package's frames out of the traceback, so that it shows the user's lines only."""
    if call.excinfo is None or item.config.getoption("fulltrace", False):
        return
    error: BaseException | None = call.excinfo.value
    while error is not None:
        _hide_frames_of(error)
        error = error.__cause__
    call.excinfo = pytest.ExceptionInfo.from_exception(call.excinfo.value)


def _hide_frames_of(error: BaseException) -> None:
    kept = [part for part in _parts(error.__traceback__) if not _is_own(part)]
    rebuilt: TracebackType | None = None
    for part in reversed(kept):
        rebuilt = TracebackType(rebuilt, part.tb_frame, part.tb_lasti, part.tb_lineno)
    if rebuilt is not None:
        error.__traceback__ = rebuilt


def _parts(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_own(part: TracebackType) -> bool:
    return part.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER)
