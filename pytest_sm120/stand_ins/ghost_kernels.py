"""Kernels and functions that something which is not there was put around."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any

from pytest_sm120.recorder.records import Opaque
from pytest_sm120.stand_ins.binding import bind_arguments
from pytest_sm120.stand_ins.ghost_calls import name_of, record_call


def record_dispatch(
    ghost: Any, function: Callable[..., Any], kernel: Any, method_of: str | None = None
) -> Callable[..., Any]:
    """Return the function so that its calls at run time are recorded, with what it answers.

    It is what a wrapper that was given a kernel, and is not there itself, asks how to launch it.
    ``method_of`` names the class when it is a method.
    """
    execution = ghost._ghosts.execution
    name = method_of or f"{function.__module__}.{function.__qualname__}"
    # The object that a method belongs to is none of its arguments.
    first = 0 if method_of is None else 1

    @functools.wraps(function)
    def dispatched(*args: Any, **kwargs: Any) -> Any:
        returned = function(*args, **kwargs)
        if not execution.importing:
            bound = bind_arguments(function, args, kwargs) or {}
            record_call(
                execution,
                name,
                (args[first:], kwargs),
                bound=dict([*bound.items()][first:]),
                kernel=name_of(kernel),
                returned=returned,
            )
        return returned

    return dispatched


def adopt_kernel(owner: Any, kernel: Any) -> None:
    """Let a class that holds a kernel, below a base that is not there, tell of its calls.

    What the base would make of the kernel is not known: neither its ``__call__`` around the class's
    own, nor its methods.
    """
    ghost = owner.__sm120_ghost__
    name = f"{owner.__module__}.{owner.__qualname__}"
    own = vars(owner).get("__call__")
    if isinstance(own, FunctionType) and own in ghost._ghosts.decorated:
        owner.__call__ = record_dispatch(ghost, own, kernel, method_of=name)
    elif not any("__call__" in vars(base) for base in owner.__mro__):
        owner.__call__ = lambda held, *args, **kwargs: ghost._ghosts.made_from(ghost, name, kernel)(
            *args, **kwargs
        )
    if owner.__sm120_find__ is None:
        owner.__sm120_find__ = functools.partial(_method_of_base, ghost, kernel)


def _method_of_base(ghost: Any, kernel: Any, held: object, attribute: str) -> Any:
    if attribute.startswith("_"):
        raise AttributeError(f"{type(held).__name__!r} object has no attribute {attribute!r}")
    return ghost._ghosts.made_from(ghost, f"{ghost._origin}.{attribute}", kernel)


def wrapped_attribute(kernel: Any, attribute: str) -> Any:
    """Return what a ghost that was put around a kernel would have under a name."""
    ghost = kernel.__dict__.get("wrapper")
    if ghost is None or attribute.startswith("_"):
        raise AttributeError(f"{kernel!r} has no attribute {attribute!r}")
    return ghost._ghosts.made_from(ghost, f"{ghost._origin}.{attribute}", kernel)


def call_wrapped(kernel: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Record a call of what a ghost made of a kernel; return a ghost."""
    ghost = kernel.wrapper
    return ghost._ghosts.made_from(ghost, ghost._origin, kernel)(*args, **kwargs)


class TracedFunction:
    """A function that a language for kernels compiles: its body is no host code and never runs.

    A call at run time is recorded; while a module is imported the function is called.
    """

    #: Tells ghosts that decorate it to hand it back.
    __sm120_kernel__ = True

    def __init__(self, ghost: Any, fn: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.wrapper = ghost

    def __sm120_plain__(self) -> Opaque:
        return Opaque(self.name)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    @property
    def name(self) -> str:
        """The function's plain name."""
        return self.fn.__name__

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record a call; return a ghost."""
        ghosts = self.wrapper._ghosts
        if ghosts.execution.importing:
            return self.fn(*args, **kwargs)
        name = f"{self.fn.__module__}.{self.fn.__qualname__}"
        bound = bind_arguments(self.fn, args, kwargs)
        record_call(ghosts.execution, name, (args, kwargs), bound=bound, kernel=self.name)
        return ghosts.made_from(self.wrapper, f"{name}()", self)

    def __getattr__(self, attribute: str) -> Any:
        return wrapped_attribute(self, attribute)
