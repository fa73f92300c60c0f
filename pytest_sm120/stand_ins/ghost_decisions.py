"""Decisions on ghosts: assumed and listed while a module is imported, refused at run time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pytest_sm120.recorder.places import find_place
from pytest_sm120.stand_ins.execution import Assumption
from pytest_sm120.stand_ins.ghost_classes import is_from_typing
from pytest_sm120.stand_ins.ghost_errors import value_asked_of_ghost
from pytest_sm120.stand_ins.platform_answers import find_flag
from pytest_sm120.stand_ins.unpacking import names_unpacked_to

T = TypeVar("T")

# What ends in [:2] has two items.
_SLICED = re.compile(r"\[slice\((?:None|0), (\d+), None\)\]$")


class Undecided:
    """What is asked of a ghost as if it had a value."""

    __slots__ = ()

    _ghosts: Any
    _name: str
    #: Returns the ghost of an item.
    _item: Callable[[object], Any]

    def __bool__(self) -> bool:
        answer = find_flag(self._name.rpartition(".")[2])
        if answer is not None:
            return bool(answer(self._ghosts.execution.arch))
        answer_of_name = False
        if self._ghosts.execution.importing:
            from pytest_sm120.stand_ins.import_guesses import guess_flag

            answer_of_name = guess_flag(self, self._name)
        return decide(self, f"bool({self._name})", answer_of_name)

    def __eq__(self, other: object) -> bool:
        if self is other or is_from_typing(other):
            return self is other
        return decide(self, f"{self._name} == {short_text(other)}", False)

    def __ne__(self, other: object) -> bool:
        if self is other or is_from_typing(other):
            return self is not other
        return decide(self, f"{self._name} != {short_text(other)}", True)

    def __lt__(self, other: object) -> bool:
        return decide(self, f"{self._name} < {short_text(other)}", False)

    def __le__(self, other: object) -> bool:
        return decide(self, f"{self._name} <= {short_text(other)}", False)

    def __gt__(self, other: object) -> bool:
        return decide(self, f"{self._name} > {short_text(other)}", False)

    def __ge__(self, other: object) -> bool:
        return decide(self, f"{self._name} >= {short_text(other)}", False)

    def __contains__(self, item: object) -> bool:
        return decide(self, f"{short_text(item)} in {self._name}", False)

    def __len__(self) -> int:
        return decide(self, f"len({self._name})", 0)

    def __iter__(self) -> Iterator[Any]:
        count = names_unpacked_to(sys._getframe(1))
        if count is None and self._ghosts.execution.importing:
            sliced = _SLICED.search(self._name)
            count = int(sliced[1]) if sliced else None
        if count is not None:
            return iter([self._item(position) for position in range(count)])
        return iter(decide(self, f"iter({self._name})", ()))

    def __int__(self) -> int:
        return decide(self, f"int({self._name})", 1)

    def __index__(self) -> int:
        return decide(self, f"index({self._name})", 1)

    def __sm120_asked__(self, question: str) -> None:
        """Decide on a question that a stand-in has words for; ``{}`` is where the name goes."""
        decide(self, question.format(self._name), None)

    def __float__(self) -> float:
        return decide(self, f"float({self._name})", 1.0)

    def __fspath__(self) -> str:
        return decide(self, f"os.fspath({self._name})", self._name)

    __hash__ = object.__hash__


def decide(ghost: Any, question: str, answer: T) -> T:
    """Return what is assumed at import time, and list it; raise GhostValue at run time."""
    execution = ghost._ghosts.execution
    if not execution.importing:
        raise value_asked_of_ghost(
            find_place().site,
            ghost._name,
            question,
            key=ghost._origin,
            called=f"{ghost._origin}(" in ghost._name,
            held=ghost._ghosts.names_of(ghost),
            sibling=ghost._ghosts.sibling_of(ghost._origin),
        )
    if isinstance(answer, bool):
        from pytest_sm120.stand_ins.import_guesses import expected_by_assertion

        expected = expected_by_assertion(ghost)
        # mypy does not narrow T.
        answer = answer if expected is None else expected  # type: ignore[assignment]  # a bool, too
    execution.assume(Assumption(find_place().site, question, repr(answer)))
    return answer


def short_text(value: object) -> str:
    """Return a value in a few words: a ghost by its name."""
    text = value._name if isinstance(value, Undecided) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
