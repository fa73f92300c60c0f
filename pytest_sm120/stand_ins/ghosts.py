"""Ghosts: objects for what code under test imports but is not there.

At import time a ghost goes along with everything, and each decision that was made on it is listed
as an assumption. At run time a decision on a ghost is an error that names the remedy, since a test
that took a branch by accident proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

from pytest_sm120.errors import GhostValue, UnknownOperation
from pytest_sm120.recorder.places import find_place
from pytest_sm120.recorder.records import Call, Opaque
from pytest_sm120.recorder.recording import plain_argument, plain_arguments
from pytest_sm120.stand_ins.execution import Assumption, Execution
from pytest_sm120.stand_ins.platform_answers import find_answer

# Names that stand in an ``except`` clause, where only a real class will do.
_EXCEPTION_NAME = re.compile(r".*(?:Error|Exception|Warning)|Invalid[A-Z]\w*")

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
        if dotted not in self._known:
            self._known[dotted] = self._make(dotted)
        return self._known[dotted]

    def modelled_only(self, dotted: str) -> Any:
        """Return a ghost that may be imported but not called at run time: part of torch, triton."""
        if dotted not in self._known:
            self._known[dotted] = Ghost(self, dotted, strict=True)
        return self._known[dotted]

    def _make(self, dotted: str) -> object:
        module, _, name = dotted.rpartition(".")
        if module and _EXCEPTION_NAME.fullmatch(name):
            return type(name, (Exception,), {"__module__": module})
        return Ghost(self, dotted, strict=False)


class Ghost:
    """An object that is not there. Only its name is known."""

    def __init__(self, ghosts: Ghosts, name: str, *, strict: bool) -> None:
        own = self.__dict__
        own["_sm120_ghosts"] = ghosts
        own["_sm120_name"] = name
        own["_sm120_strict"] = strict

    def __sm120_plain__(self) -> Opaque:
        return Opaque(_name(self))

    def __repr__(self) -> str:
        return f"<ghost {_name(self)}>"

    # -- looking into it ---------------------------------------------------------------------------

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute not in _ANSWERED_DUNDERS:
            raise AttributeError(f"{self!r} has no attribute {attribute!r}")
        if attribute in _ANSWERED_DUNDERS:
            return _ANSWERED_DUNDERS[attribute](_name(self))
        child = _child(self, f"{_name(self)}.{attribute}")
        if _PLAIN_NAME.fullmatch(_name(self)) is None:
            # What a call returned is not found again by its name, so the object itself keeps it.
            self.__dict__[attribute] = child
        return child

    def __getitem__(self, key: object) -> Any:
        return _child(self, f"{_name(self)}[{_short(key)}]")

    def __setitem__(self, key: object, value: object) -> None:
        return None

    def __delitem__(self, key: object) -> None:
        return None

    # -- using it ----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        execution = _ghosts(self).execution
        name = _name(self)
        answer = find_answer(name.rpartition(".")[2])
        if answer is not None:
            return answer(execution.arch, *args, **kwargs)
        if not execution.importing:
            _record_call(self, args, kwargs)
        if len(args) == 1 and _can_be_decorated(args[0]):
            return args[0]
        return _child(self, f"{name}()")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return (_class_of(self),)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, _class_of(self))

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, _class_of(self))

    def __enter__(self) -> Ghost:
        return self

    def __exit__(self, *_: object) -> bool:
        return False

    # -- deciding on it ----------------------------------------------------------------------------

    def __bool__(self) -> bool:
        answer = find_answer(_name(self).rpartition(".")[2])
        if answer is not None:
            return bool(answer(_ghosts(self).execution.arch))
        return _decide(self, f"bool({_name(self)})", False)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ghost):
            return self is other
        return _decide(self, f"{_name(self)} == {_short(other)}", False)

    def __ne__(self, other: object) -> bool:
        if isinstance(other, Ghost):
            return self is not other
        return _decide(self, f"{_name(self)} != {_short(other)}", True)

    def __lt__(self, other: object) -> bool:
        return _decide(self, f"{_name(self)} < {_short(other)}", False)

    def __le__(self, other: object) -> bool:
        return _decide(self, f"{_name(self)} <= {_short(other)}", False)

    def __gt__(self, other: object) -> bool:
        return _decide(self, f"{_name(self)} > {_short(other)}", False)

    def __ge__(self, other: object) -> bool:
        return _decide(self, f"{_name(self)} >= {_short(other)}", False)

    def __contains__(self, item: object) -> bool:
        return _decide(self, f"{_short(item)} in {_name(self)}", False)

    def __len__(self) -> int:
        return _decide(self, f"len({_name(self)})", 0)

    def __iter__(self) -> Iterator[Any]:
        return iter(_decide(self, f"iter({_name(self)})", ()))

    def __int__(self) -> int:
        return _decide(self, f"int({_name(self)})", 1)

    def __index__(self) -> int:
        return _decide(self, f"index({_name(self)})", 1)

    def __float__(self) -> float:
        return _decide(self, f"float({_name(self)})", 1.0)

    __hash__ = object.__hash__


def _name(ghost: Ghost) -> str:
    return str(ghost.__dict__["_sm120_name"])


def _ghosts(ghost: Ghost) -> Ghosts:
    found: Ghosts = ghost.__dict__["_sm120_ghosts"]
    return found


def _child(ghost: Ghost, name: str) -> Any:
    strict = ghost.__dict__["_sm120_strict"]
    if _PLAIN_NAME.fullmatch(name) and not strict:
        return _ghosts(ghost).look_up(name)
    return Ghost(_ghosts(ghost), name, strict=strict)


def _short(value: object) -> str:
    text = _name(value) if isinstance(value, Ghost) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# What functions such as functools.wraps and inspect.unwrap read; anything else is not there.
_ANSWERED_DUNDERS: dict[str, Callable[[str], Any]] = {
    "__name__": lambda name: name.rpartition(".")[2],
    "__qualname__": lambda name: name.rpartition(".")[2],
    "__module__": lambda name: name.rpartition(".")[0],
    "__path__": lambda name: [],
    "__spec__": lambda name: None,
}


def _can_be_decorated(value: object) -> bool:
    if isinstance(value, Ghost):
        return False
    named = isinstance(value, (type, FunctionType, MethodType, classmethod, staticmethod, property))
    wraps_one = hasattr(value, "fn") or hasattr(value, "__wrapped__")
    return named or (callable(value) and wraps_one)


def _class_of(ghost: Ghost) -> type:
    """Return the class that stands for a ghost among the bases of a class; one for each ghost."""
    own = ghost.__dict__
    if "_sm120_class" not in own:
        name = _name(ghost).rpartition(".")[2]
        own["_sm120_class"] = type(
            name, (GhostBase,), {"__module__": _name(ghost).rpartition(".")[0]}
        )
    found: type = own["_sm120_class"]
    return found


class GhostBase:
    """Base of the classes that stand for ghosts: takes any arguments, so that subclasses can."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        return None

    def __init_subclass__(cls, **kwargs: object) -> None:
        # class X(Ghost, option=1): the option was meant for the class that is not there.
        super().__init_subclass__()


def _record_call(ghost: Ghost, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if ghost.__dict__["_sm120_strict"]:
        raise _unknown_operation(ghost)
    name = _name(ghost).partition("[")[0]
    plain = tuple(plain_argument(value) for value in args)
    named = plain_arguments(kwargs)
    recording = _ghosts(ghost).execution.recording
    recording.add(lambda place, order: Call(place, order, name, plain, named))
    for value in (*args, *kwargs.values()):
        forget_contents(value)


def forget_contents(value: object) -> None:
    """Note that what has been called may have written into this argument, if it is a tensor."""
    forget = getattr(type(value), "__sm120_forget__", None)
    if forget is not None:
        forget(value)


def _decide(ghost: Ghost, question: str, answer: Any) -> Any:
    execution = _ghosts(ghost).execution
    if not execution.importing:
        raise _value_asked_of_ghost(ghost, question)
    assumption = Assumption(find_place().site, question, repr(answer))
    if assumption not in execution.assumptions:
        execution.assumptions.append(assumption)
    return answer


def _unknown_operation(ghost: Ghost) -> UnknownOperation:
    name = _name(ghost)
    return UnknownOperation(
        f"{find_place().site}: {name} was called at run time, and the record tier does not model it.",
        limit="A stand-in that guessed would make the test prove nothing.",
        remedy=f'Give it to sm120.load as provide={{"{_provide_key(name)}": ...}}, or run this test '
        'in a tier with real torch and Triton: tier="interpret".',
    )


def _value_asked_of_ghost(ghost: Ghost, question: str) -> GhostValue:
    name = _name(ghost)
    value = "lambda *args: ..." if name.endswith("()") else "..."
    remedy = f'Give it a value: sm120.load(..., provide={{"{_provide_key(name)}": {value}}})'
    held = _ghosts(ghost).names_of(ghost)
    if held:
        remedy += f", or set {held[0]} on the loaded module"
    return GhostValue(
        f"{find_place().site}: the code asked {question} at run time, but {name} is a ghost: it was "
        "imported from something that is neither loaded nor provided, so it has no value.",
        limit="Any answer would send the test down a branch by accident.",
        remedy=f"{remedy}.",
    )


def _provide_key(name: str) -> str:
    return re.split(r"[(\[ ]", name, maxsplit=1)[0]


def _add_arithmetic() -> None:
    """Let arithmetic on a ghost give a ghost, named after the expression."""
    symbols = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%"}
    symbols |= {"pow": "**", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}
    symbols |= {"matmul": "@"}
    for method, symbol in symbols.items():
        setattr(Ghost, f"__{method}__", _binary(symbol, reflected=False))
        setattr(Ghost, f"__r{method}__", _binary(symbol, reflected=True))
    for method, symbol in {"neg": "-", "pos": "+", "invert": "~"}.items():
        setattr(Ghost, f"__{method}__", _unary(symbol))


def _binary(symbol: str, *, reflected: bool) -> Callable[[Ghost, object], Any]:
    def operate(ghost: Ghost, other: object) -> Any:
        left, right = (other, ghost) if reflected else (ghost, other)
        return _child(ghost, f"({_short(left)} {symbol} {_short(right)})")

    return operate


def _unary(symbol: str) -> Callable[[Ghost], Any]:
    return lambda ghost: _child(ghost, f"({symbol}{_name(ghost)})")


_add_arithmetic()
