"""Ghosts: objects for what code under test imports but is not there.

At import time a ghost goes along with everything, and each decision that was made on it is listed
as an assumption. At run time a decision on a ghost is an error that names the remedy, since a test
that took a branch by accident proves nothing.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pytest_sm120.recorder.places import TARGET_MARK
from pytest_sm120.recorder.records import Opaque
from pytest_sm120.stand_ins.decorating import (
    can_be_decorated,
    is_kernel,
)
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.ghost_arithmetic import add_arithmetic
from pytest_sm120.stand_ins.ghost_classes import (
    bases_are_known,
    creates_class,
    is_exception_name,
    make_base,
    make_exception,
    refuses_other_bases,
)
from pytest_sm120.stand_ins.ghost_decisions import Undecided, decide, short_text
from pytest_sm120.stand_ins.platform_answers import find_answer

if TYPE_CHECKING:
    from pytest_sm120.stand_ins.import_guesses import Facts

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
        #: Finds the module below the root that has a dotted name, for remedies.
        self.sibling_of: Callable[[str], str | None] = lambda dotted: None
        #: Finds the file of the module below the root that has a dotted name.
        self.file_of: Callable[[str], str | None] = lambda dotted: None
        #: Finds what is known of a target's file, by code of it.
        self.facts_of: Callable[[CodeType], Facts | None] = lambda code: None
        #: The functions that a ghost was put around, and that are themselves nevertheless.
        self.decorated: WeakSet[FunctionType] = WeakSet()
        self._operators: dict[str, FunctionType] = {}
        execution.find_operator = self.find_operator

    def named(self, dotted: str) -> Any:
        """Return the ghost of a dotted name; an exception class where the name says so."""
        return self._find(dotted, strict=False)

    def modelled_only(self, dotted: str) -> Any:
        """Return a ghost that may be imported but not called at run time: part of torch, triton."""
        return self._find(dotted, strict=True)

    def find_operator(self, qualified: str) -> FunctionType | None:
        """Return the function that was registered as an operator by something that is a ghost.

        A ghost that was given a name and a function, or the function after the name, is taken to
        register it, and one that decorates a function to register it under its own name.
        """
        name = qualified.rpartition("::")[2]
        known = self._operators.get(qualified) or self._operators.get(name)
        if known is None:
            # In the order of their lines, since a set has none.
            found = sorted(self.decorated, key=lambda one: one.__code__.co_firstlineno)
            known = next((one for one in found if one.__qualname__ == name), None)
        return known

    def note_names(self, ghost: Ghost, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note a function that a ghost was given together with a name, in one call or in two."""
        given = (*args, *kwargs.values())
        function = next((one for one in given if isinstance(one, FunctionType)), None)
        if function is not None:
            for name in (*ghost._given_names, *(one for one in given if isinstance(one, str))):
                self._operators.setdefault(name, function)

    def made_from(self, ghost: Ghost, name: str, callee: object) -> Ghost:
        """Return a ghost that derives from another one and from a kernel or function."""
        made = Ghost(self, name, origin=ghost._origin, strict=ghost._strict)
        made._made_from = callee
        return made

    def result_of(self, ghost: Ghost, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ghost:
        """Return what a call of a ghost returns: a ghost that knows which kernel it was given."""
        kernel = next((one for one in (*args, *kwargs.values()) if is_kernel(one)), None)
        if kernel is None and not self.execution.importing:
            from pytest_sm120.stand_ins.ghost_calls import find_callee

            kernel = find_callee(args, kwargs)
        made = self.made_from(ghost, f"{ghost._name}()", kernel or ghost._made_from)
        made._given_names = tuple(one for one in (*args, *kwargs.values()) if isinstance(one, str))
        return made

    def _find(self, dotted: str, *, strict: bool) -> object:
        if dotted not in self._known:
            self._known[dotted] = (
                make_exception(dotted)
                if is_exception_name(dotted)
                else Ghost(self, dotted, origin=dotted, strict=strict)
            )
        return self._known[dotted]


class Ghost(Undecided):
    """An object that is not there. Only its name is known."""

    # In slots, so that the dict holds nothing but what code under test has put there.
    __slots__ = (
        *("__dict__", "__weakref__", "_class", "_ghosts", "_given_names", "_made_from", "_name"),
        *("_origin", "_strict"),
    )

    #: Tells the stand-ins for torch that this has no value.
    __sm120_opaque__ = True

    def __init__(self, ghosts: Ghosts, name: str, *, origin: str, strict: bool) -> None:
        self._class: type | None = None
        self._ghosts = ghosts
        self._name = name
        # The dotted name that it derives from, without calls, items and arithmetic.
        self._origin = origin
        self._strict = strict
        # The kernel or function that it was made from, by a call that was given one.
        self._made_from: Any = None
        # The strings among what that call was given.
        self._given_names: tuple[str, ...] = ()
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
        if attribute.startswith("__") and not _is_asked_by_name(attribute):
            raise AttributeError(f"{self!r} has no attribute {attribute!r}")
        if attribute == "__file__":
            file = self._ghosts.file_of(self._name)
            if file is not None:
                return file
        child = _child(self, f"{self._name}.{attribute}")
        if not _is_plain(self._name):
            # What a call returned is not found again by its name, so the object itself keeps it.
            self.__dict__[attribute] = child
        return child

    def __getitem__(self, key: object) -> Any:
        if is_kernel(self._made_from):
            from pytest_sm120.stand_ins.ghost_calls import launch

            return functools.partial(launch, self, key)
        return self._item(key)

    def _item(self, key: object) -> Any:
        return _child(self, f"{self._name}[{short_text(key)}]")

    def __setitem__(self, key: object, value: object) -> None:
        _note_call(self, f"{self._origin}.__setitem__", (key, value), {})

    def __delitem__(self, key: object) -> None:
        _note_call(self, f"{self._origin}.__delitem__", (key,), {})

    # -- using it ----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Answer a platform question, hand back what is decorated, else return a ghost."""
        answer = find_answer(self._name)
        if answer is not None:
            return answer(self._ghosts.execution.arch, *args, **kwargs)
        if creates_class(args):
            return type(*args)
        self._ghosts.note_names(self, args, kwargs)
        _note_call(self, self._name.partition("[")[0], args, kwargs)
        if len(args) == 1 and can_be_decorated(args[0]):
            from pytest_sm120.stand_ins.ghost_decorations import decorate

            return decorate(self, args[0], _child)
        if self._ghosts.execution.importing:
            from pytest_sm120.stand_ins.import_guesses import (
                asks_for_a_flag,
                decorates,
                guess_call,
            )

            if asks_for_a_flag(self._name) and not decorates(self):
                return decide(self, f"bool({self._name}())", guess_call(self, args))
        return self._ghosts.result_of(self, args, kwargs)

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


# What functions such as functools.wraps and inspect.unwrap read; anything else is not there.
_ANSWERED_DUNDERS: dict[str, Callable[[str], Any]] = {
    "__name__": lambda name: name.rpartition(".")[2],
    "__qualname__": lambda name: name.rpartition(".")[2],
    "__path__": lambda name: [],
    "__spec__": lambda name: None,
}


def _is_asked_by_name(attribute: str) -> bool:
    """Return whether it is the target's own code that spells the name, not Python's protocols."""
    frame = sys._getframe(2)
    return TARGET_MARK in frame.f_globals and attribute in frame.f_code.co_names


def _is_plain(name: str) -> bool:
    return _PLAIN_NAME.fullmatch(name) is not None


def _child(ghost: Ghost, name: str) -> Any:
    if _is_plain(name):
        return ghost._ghosts.look_up(name)
    child = Ghost(ghost._ghosts, name, origin=ghost._origin, strict=ghost._strict)
    child._made_from = ghost._made_from
    return child


def _class_of(ghost: Ghost) -> type:
    """Return the class that stands for a ghost among the bases of a class; one for each ghost."""
    if ghost._class is None:
        ghost._class = make_base(ghost._name, ghost)
    return ghost._class


def _is_of_kind(ghost: Ghost, kind: type, question: str) -> bool:
    if issubclass(kind, _class_of(ghost)):
        return True
    if kind is not Ghost and kind is not type and bases_are_known(kind):
        return False
    # A class is an instance of nothing but a metaclass or a protocol: who asks expects it to be.
    return decide(ghost, f"{question}{ghost._name})", kind is type)


def _kind_in_words(instance: object) -> str:
    return short_text(instance) if isinstance(instance, (Ghost, type)) else type(instance).__name__


def _note_call(ghost: Ghost, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Record a call at run time."""
    if not ghost._ghosts.execution.importing:
        from pytest_sm120.stand_ins.ghost_calls import record_ghost_call

        record_ghost_call(ghost, name, (args, kwargs))


add_arithmetic(Ghost, _child, short_text)
