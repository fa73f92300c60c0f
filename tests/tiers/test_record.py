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
