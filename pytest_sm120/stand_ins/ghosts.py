"""Ghosts: objects for what code under test imports but is not there.

At import time a ghost goes along with everything, and each decision that was made on it is listed
as an assumption. At run time a decision on a ghost is an error that names the remedy, since a test
that took a branch by accident proves nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pytest_sm120.recorder.places import find_place
from pytest_sm120.recorder.recording import plain_argument, plain_arguments
from pytest_sm120.recorder.records import Call, Opaque
from pytest_sm120.stand_ins.decorating import can_be_decorated
from pytest_sm120.stand_ins.execution import Assumption, Execution
from pytest_sm120.stand_ins.ghost_arithmetic import add_arithmetic
from pytest_sm120.stand_ins.ghost_classes import (
    bases_are_known,
    creates_class,
    is_exception_name,
    is_from_typing,
    make_base,
    make_exception,
    refuses_other_bases,
)
from pytest_sm120.stand_ins.ghost_errors import unknown_operation, value_asked_of_ghost
from pytest_sm120.stand_ins.platform_answers import find_answer, find_flag
from pytest_sm120.stand_ins.unpacking import names_unpacked_to

T = TypeVar("T")

_PLAIN_NAME = re.compile(r"[\w.]+")


class Ghosts:
    """Makes the ghosts of one test, one for each dotted name."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self._known: dict[str, object] = {}
        #: Finds what a dotted name stands for; the import system puts its own look-up here.
        self.look_up: Callable[[str], object] = self.named
        #: Finds the names of module globals that hold an object, for remedies.
        self.names_of: Callable[[object], list[str]] = lambda held: []

    def named(self, dotted: str) -> Any:
        """Return the ghost of a dotted name; an exception class where the name says so."""
        return self._find(dotted, strict=False)

    def modelled_only(self, dotted: str) -> Any:
        """Return a ghost that may be imported but not called at run time: part of torch, triton."""
        return self._find(dotted, strict=True)

    def _find(self, dotted: str, *, strict: bool) -> object:
        if dotted not in self._known:
            self._known[dotted] = (
                make_exception(dotted)
                if is_exception_name(dotted)
                else Ghost(self, dotted, origin=dotted, strict=strict)
            )
        return self._known[dotted]


class Ghost:
    """An object that is not there. Only its name is known."""

    # In slots, so that the dict holds nothing but what code under test has put there.
    __slots__ = ("__dict__", "__weakref__", "_class", "_ghosts", "_name", "_origin", "_strict")

    #: Tells the stand-ins for torch that this has no value.
    __sm120_opaque__ = True

    def __init__(self, ghosts: Ghosts, name: str, *, origin: str, strict: bool) -> None:
        self._class: type | None = None
        self._ghosts = ghosts
        self._name = name
        # The dotted name that it derives from, without calls, items and arithmetic.
        self._origin = origin
        self._strict = strict
        self.__dict__.update(__module__=name.rpartition(".")[0], __doc__=None)

    def __sm120_plain__(self) -> Opaque:
        return Opaque(self._name)

    def __repr__(self) -> str:
        return f"<ghost {self._name}>"

    def __format__(self, _spec: str) -> str:
        return repr(self)

    def __copy__(self) -> Ghost:
        return self

    def __deepcopy__(self, _memo: object) -> Ghost:
        return self

    # -- looking into it ---------------------------------------------------------------------------

    def __getattr__(self, attribute: str) -> Any:
        if attribute in _ANSWERED_DUNDERS:
            return _ANSWERED_DUNDERS[attribute](self._name)
        if attribute.startswith("__"):
            raise AttributeError(f"{self!r} has no attribute {attribute!r}")
        child = _child(self, f"{self._name}.{attribute}")
        if not _is_plain(self._name):
            # What a call returned is not found again by its name, so the object itself keeps it.
            self.__dict__[attribute] = child
        return child

    def __getitem__(self, key: object) -> Any:
        return _child(self, f"{self._name}[{_short(key)}]")

    def __setitem__(self, key: object, value: object) -> None:
        _note_call(self, f"{self._origin}.__setitem__", (key, value), {})

    def __delitem__(self, key: object) -> None:
        _note_call(self, f"{self._origin}.__delitem__", (key,), {})

    # -- using it ----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Answer a platform question, hand back what is decorated, else return a ghost."""
        answer = find_answer(self._name.rpartition(".")[2])
        if answer is not None:
            return answer(self._ghosts.execution.arch, *args, **kwargs)
        if creates_class(args):
            return type(*args)
        _note_call(self, self._name.partition("[")[0], args, kwargs)
        if len(args) == 1 and can_be_decorated(args[0]):
            return args[0]
        return _child(self, f"{self._name}()")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        others = tuple(base for base in bases if not isinstance(base, Ghost))
        return () if refuses_other_bases(others) else (_class_of(self),)

    def __instancecheck__(self, instance: object) -> bool:
        return _is_of_kind(self, type(instance), f"isinstance({_kind_in_words(instance)}, ")

    def __subclasscheck__(self, subclass: type) -> bool:
        return _is_of_kind(self, subclass, f"issubclass({subclass.__name__}, ")

    def __enter__(self) -> Ghost:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    # -- deciding on it ----------------------------------------------------------------------------

    def __bool__(self) -> bool:
        answer = find_flag(self._name.rpartition(".")[2])
        if answer is not None:
            return bool(answer(self._ghosts.execution.arch))
        return _decide(self, f"bool({self._name})", False)

    def __eq__(self, other: object) -> bool:
        if self is other or is_from_typing(other):
            return self is other
        return _decide(self, f"{self._name} == {_short(other)}", False)

    def __ne__(self, other: object) -> bool:
        if self is other or is_from_typing(other):
            return self is not other
        return _decide(self, f"{self._name} != {_short(other)}", True)

    def __lt__(self, other: object) -> bool:
        return _decide(self, f"{self._name} < {_short(other)}", False)

    def __le__(self, other: object) -> bool:
        return _decide(self, f"{self._name} <= {_short(other)}", False)

    def __gt__(self, other: object) -> bool:
        return _decide(self, f"{self._name} > {_short(other)}", False)

    def __ge__(self, other: object) -> bool:
        return _decide(self, f"{self._name} >= {_short(other)}", False)

    def __contains__(self, item: object) -> bool:
        return _decide(self, f"{_short(item)} in {self._name}", False)

    def __len__(self) -> int:
        return _decide(self, f"len({self._name})", 0)

    def __iter__(self) -> Iterator[Any]:
        count = names_unpacked_to(sys._getframe(1))
        if count is not None:
            return iter([self[position] for position in range(count)])
        return iter(_decide(self, f"iter({self._name})", ()))

    def __int__(self) -> int:
        return _decide(self, f"int({self._name})", 1)

    def __index__(self) -> int:
        return _decide(self, f"index({self._name})", 1)

    def __float__(self) -> float:
        return _decide(self, f"float({self._name})", 1.0)

    def __fspath__(self) -> str:
        return _decide(self, f"os.fspath({self._name})", self._name)

    __hash__ = object.__hash__


# What functions such as functools.wraps and inspect.unwrap read; anything else is not there.
_ANSWERED_DUNDERS: dict[str, Callable[[str], Any]] = {
    "__name__": lambda name: name.rpartition(".")[2],
    "__qualname__": lambda name: name.rpartition(".")[2],
    "__path__": lambda name: [],
    "__spec__": lambda name: None,
}


def _is_plain(name: str) -> bool:
    return _PLAIN_NAME.fullmatch(name) is not None


def _child(ghost: Ghost, name: str) -> Any:
    if _is_plain(name):
        return ghost._ghosts.look_up(name)
    return Ghost(ghost._ghosts, name, origin=ghost._origin, strict=ghost._strict)


def _short(value: object) -> str:
    text = value._name if isinstance(value, Ghost) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _class_of(ghost: Ghost) -> type:
    """Return the class that stands for a ghost among the bases of a class; one for each ghost."""
    if ghost._class is None:
        ghost._class = make_base(ghost._name)
    return ghost._class


def _is_of_kind(ghost: Ghost, kind: type, question: str) -> bool:
    if issubclass(kind, _class_of(ghost)):
        return True
    if kind is not Ghost and kind is not type and bases_are_known(kind):
        return False
    # A class is an instance of nothing but a metaclass or a protocol: who asks expects it to be.
    return _decide(ghost, f"{question}{ghost._name})", kind is type)


def _kind_in_words(instance: object) -> str:
    return _short(instance) if isinstance(instance, (Ghost, type)) else type(instance).__name__


def _note_call(ghost: Ghost, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Record a call at run time; refuse it for what only a model could answer."""
    if ghost._ghosts.execution.importing:
        return
    if ghost._strict:
        raise unknown_operation(find_place().site, name, ghost._origin)
    plain = tuple(plain_argument(value) for value in args)
    named = plain_arguments(kwargs)
    recording = ghost._ghosts.execution.recording
    recording.add(lambda place, order: Call(place, order, name, plain, named))
    forget_contents([*args, *kwargs.values()])


def forget_contents(value: object) -> None:
    """Note that what has been called may have written into a tensor, or into those it is given."""
    forget = getattr(type(value), "__sm120_forget__", None)
    if forget is not None:
        forget(value)
    elif isinstance(value, (list, tuple, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            forget_contents(inner)


def _decide(ghost: Ghost, question: str, answer: T) -> T:
    execution = ghost._ghosts.execution
    if not execution.importing:
        raise value_asked_of_ghost(
            find_place().site,
            ghost._name,
            question,
            key=ghost._origin,
            called=f"{ghost._origin}(" in ghost._name,
            held=ghost._ghosts.names_of(ghost),
        )
    execution.assume(Assumption(find_place().site, question, repr(answer)))
    return answer


add_arithmetic(Ghost, _child, _short)
