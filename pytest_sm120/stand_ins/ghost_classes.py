"""The real classes that stand for ghosts where Python accepts nothing but a class."""

from __future__ import annotations

import re
import sys
import typing
from typing import Any

from pytest_sm120.recorder.places import TARGET_MARK
from pytest_sm120.stand_ins.decorating import is_kernel

_STAND_INS = __name__.rpartition(".")[0]

# Names that stand in an ``except`` clause, where only a real class will do.
_EXCEPTION_NAME = re.compile(r".*(?:Error|Exception|Warning)|(?:Invalid|OutOf)[A-Z]\w*")


class GhostBase:
    """Base of the classes that stand for ghosts: takes any arguments, so that subclasses can."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        return None

    #: The ghost that the class stands for.
    __sm120_ghost__: Any = None
    #: Finds what the class that is not there would make of a kernel that a subclass holds.
    __sm120_find__: Any = None

    def __getattr__(self, name: str) -> Any:
        """Find what the class that is not there would have, while a module is imported."""
        find = type(self).__sm120_find__
        if find is not None:
            return find(self, name)
        ghost = type(self).__sm120_ghost__
        if ghost is not None and not name.startswith("__") and ghost._ghosts.execution.importing:
            return getattr(ghost, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __init_subclass__(cls, **kwargs: object) -> None:
        # class X(Ghost, option=1): the option was meant for the class that is not there.
        super().__init_subclass__()
        held = (getattr(value, "__func__", value) for value in vars(cls).values())
        kernel = next((value for value in held if is_kernel(value)), None)
        if kernel is not None:
            from pytest_sm120.stand_ins.ghost_kernels import adopt_kernel

            adopt_kernel(cls, kernel)


class GhostError(Exception):
    """Base of the exception classes that are not there."""


def is_exception_name(dotted: str) -> bool:
    """Return whether a dotted name reads like that of an exception class inside a module."""
    module, _, name = dotted.rpartition(".")
    return bool(module) and _EXCEPTION_NAME.fullmatch(name) is not None


def make_exception(dotted: str) -> type[GhostError]:
    """Return an exception class with this name."""
    module, _, name = dotted.rpartition(".")
    return type(name, (GhostError,), {"__module__": module})


def make_base(dotted: str, ghost: object) -> type[GhostBase]:
    """Return a class with this name that others can derive from."""
    module, _, name = dotted.rpartition(".")
    return type(name, (GhostBase,), {"__module__": module, "__sm120_ghost__": ghost})


def refuses_other_bases(bases: tuple[object, ...]) -> bool:
    """Return whether one of these bases tolerates no ordinary class beside it."""
    origins = {typing.get_origin(base) or base for base in bases if not isinstance(base, GhostBase)}
    return not origins.isdisjoint({typing.Protocol, typing.TypedDict})


def is_from_typing(value: object) -> bool:
    """Return whether a value is a special form, which typing compares with each annotation."""
    if value is type(None):
        return True
    return type(value).__module__ == "typing" or getattr(value, "__module__", None) == "typing"


def creates_class(args: tuple[object, ...]) -> bool:
    """Return whether these are the arguments of a metaclass that is asked for a class."""
    if len(args) != 3:
        return False
    name, bases, namespace = args
    return (
        isinstance(name, str)
        and isinstance(bases, tuple)
        and isinstance(namespace, dict)
        and "__qualname__" in namespace
    )


def bases_are_known(kind: type) -> bool:
    """Return whether a class is plain data, ours, or defined by a target."""
    home = kind.__module__
    if home == "builtins" or home.startswith(_STAND_INS) or issubclass(kind, GhostBase):
        return True
    return hasattr(sys.modules.get(home), TARGET_MARK)
