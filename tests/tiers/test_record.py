from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_sm120.arch import DEFAULT_ARCH
from pytest_sm120.errors import UsageError
from pytest_sm120.stand_ins.target_files import CompiledFiles
from pytest_sm120.tiers.record import RecordSession


@pytest.fixture
def session(tmp_path: Path) -> Iterator[RecordSession]:
    session = RecordSession(
        root=tmp_path, arch=DEFAULT_ARCH, real_packages=(), files=CompiledFiles()
    )
    yield session
    session.close()


@pytest.mark.parametrize("watched", [{}, [], None, 5, math], ids=lambda watched: repr(watched)[:7])
def test_watch_refuses_what_has_no_attributes_of_its_own(
    session: RecordSession, watched: object
) -> None:
    with pytest.raises(UsageError) as raised:
        session.watch(watched)
    assert str(raised.value) == (
        f"sm120.watch was given {watched!r}. It watches the attributes of an object, such as the "
        "self of a runner. In place of a dict that holds buffers use sm120.registry(). What a "
        "loaded module keeps in its globals is found without watching."
    )


class Slotted:
    __slots__ = ("workspace",)


class Plain:
    pass


@pytest.mark.parametrize(
    "watched", [Slotted(), Plain(), SimpleNamespace()], ids=lambda watched: type(watched).__name__
)
def test_watch_accepts_what_has_attributes(session: RecordSession, watched: object) -> None:
    assert session.watch(watched) is watched


def test_other_stream_is_current_on_every_device_inside_the_block(session: RecordSession) -> None:
    seen = []
    for _ in range(2):
        with session.other_stream():
            seen.append([session.execution.state_now().stream_on(device) for device in (0, 1, 7)])
    assert [len(set(streams)) for streams in seen] == [1, 1]
    assert len({0, seen[0][0], seen[1][0]}) == 3
    assert session.execution.state_now().stream_on(0) == 0


def test_capture_is_another_graph_each_time(session: RecordSession) -> None:
    seen = []
    for _ in range(2):
        with session.capture():
            seen.append(session.execution.state_now().graph_on(1))
    assert len({None, *seen}) == 3
    assert session.execution.state_now().graph_on(1) is None
