"""One turn for each arch: the loop ``for arch in sm120.for_each_arch()`` and the decorator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_sm120.arch import ARCHES, Arch, find_arch, find_arches
from pytest_sm120.errors import UsageError
from pytest_sm120.recorder.places import find_place

if TYPE_CHECKING:
    from pytest_sm120.tiers.record import RecordSession


class TurnTaker(Protocol):
    """What the loop needs of the fixture."""

    arch: Arch
    left_turn: str

    @property
    def targets(self) -> tuple[ModuleType, ...]:
        """The modules loaded so far."""

    @property
    def used_session(self) -> RecordSession | None:
        """The session of the last turn that loaded or made something."""

    def begin_turn(self, arch: Arch) -> None:
        """Let capability queries answer for this arch, with nothing loaded."""


def for_each_arch(*arches: Any) -> Any:
    """Decorate a test, or a class of tests, to run once for each arch, named in its id.

    Without arches: for all of the table. A dict of arches gives the test its value for each as the
    argument ``expected``, or the one that a second argument names. Raises UsageError for an unknown
    arch.
    """
    if len(arches) == 1 and callable(arches[0]):
        return for_each_arch()(arches[0])
    if arches and isinstance(arches[0], Mapping):
        return _mark(*arches)
    return pytest.mark.sm120(arch=list(find_arches(_listed(arches))))


def _mark(by_arch: Mapping[Any, Any], expected: str = "expected") -> Any:
    find_arches(by_arch)
    return pytest.mark.sm120(arch=by_arch, expected=expected)


def _listed(arches: tuple[Any, ...]) -> Any:
    """Return what a list as the only argument holds, and all arches for no argument."""
    if not arches:
        return list(ARCHES.values())
    return arches[0] if len(arches) == 1 else list(arches)


def take_turns(fixture: TurnTaker, arches: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the arches, or (arch, value) pairs of a dict, each in a turn of its own."""
    given = _listed(arches)
    if not isinstance(given, Mapping):
        return _turns(fixture, [(arch, arch) for arch in find_arches(given)])
    find_arches(given)
    return _turns(fixture, [(find_arch(key), (find_arch(key), given[key])) for key in given])


def _turns(fixture: TurnTaker, turns: list[Any]) -> Iterator[Any]:
    before = fixture.arch
    try:
        for arch, given in turns:
            _begin(fixture, arch)
            try:
                yield given
            except GeneratorExit:
                # By break, or by an exception that ends the loop.
                site = find_place().site
                fixture.left_turn = (
                    f"{site}: the loop over arches was left in the turn of {arch.name}."
                )
                raise
    finally:
        _begin(fixture, before)


def _begin(fixture: TurnTaker, arch: Arch) -> None:
    dropped = fixture.targets
    session = fixture.used_session
    if session is not None:
        session.recording.refuse = _too_late
    fixture.begin_turn(arch)
    for module in dropped:
        module.__class__ = DroppedModule


_REMEDY = "Load the target, and make its inputs, inside the loop."


def _too_late(site: str) -> UsageError:
    return UsageError(
        f"{site}: a tensor or function of another turn of sm120.for_each_arch, or of outside it, "
        "was used.",
        limit="What it does would be recorded where nobody looks any more.",
        remedy=_REMEDY,
    )


class DroppedModule(ModuleType):
    """A target of a turn that is over. It was loaded for another arch, so it answers no longer."""

    def __getattribute__(self, name: str) -> Any:
        read: Callable[[str], Any] = super().__getattribute__
        if name.startswith("__"):
            return read(name)
        raise UsageError(
            f"{read('__name__')} was loaded in another turn of sm120.for_each_arch, or outside it.",
            limit="Each turn loads anew, since a file may decide while it is imported what it does "
            "on which arch.",
            remedy=_REMEDY,
        )
