"""What a ghost makes of what it is put on as a decorator."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from pytest_sm120.stand_ins.decorating import compiles_what_it_decorates, is_kernel


def decorate(ghost: Any, value: Any, child: Callable[[Any, str], Any]) -> Any:
    """Return what a ghost makes of what it is put on: the thing itself, or what tells of it.

    ``child`` makes a ghost that derives from another one, from its name.
    """
    if is_kernel(value):
        value.__dict__.setdefault("wrapper", ghost)
    elif isinstance(value, FunctionType):
        if compiles_what_it_decorates(ghost._origin):
            from pytest_sm120.stand_ins.ghost_kernels import TracedFunction

            return TracedFunction(ghost, value)
        if is_kernel(ghost._made_from):
            from pytest_sm120.stand_ins.ghost_kernels import record_dispatch

            return record_dispatch(ghost, value, ghost._made_from)
        ghost._ghosts.decorated.add(value)
        if ghost._ghosts.execution.importing:
            _lend_attributes(ghost, value, child)
    return value


def _lend_attributes(ghost: Any, function: FunctionType, child: Callable[[Any, str], Any]) -> None:
    """Let a decorated function have what the module uses of the decorator's result."""
    facts = ghost._ghosts.facts_of(function.__code__)
    for attribute in () if facts is None else facts.used.get(function.__name__, ()):
        if not hasattr(function, attribute):
            setattr(function, attribute, child(ghost, f"{ghost._name}().{attribute}"))
