"""What an unknown callable does with what it is called with: as a decorator it is identity."""

from __future__ import annotations

from types import FunctionType, MethodType

_STAND_INS = __name__.rpartition(".")[0]

_NAMED = (type, FunctionType, MethodType, classmethod, staticmethod, property)

# Decorators of the languages for kernels that Python functions are compiled from, by the package
# that has them. The body of what they decorate is no host code.
_COMPILERS = frozenset({"cutlass", "helion", "tilelang", "cuda", "flydsl", "warp", "triton"})
_COMPILING = frozenset({"jit", "kernel", "prim_func"})


def is_kernel(value: object) -> bool:
    """Return whether a value is a kernel, wrapped or not."""
    return hasattr(type(value), "__sm120_kernel__")


def compiles_what_it_decorates(dotted: str) -> bool:
    """Return whether this is a decorator that compiles a function for the card."""
    root, _, rest = dotted.partition(".")
    return root in _COMPILERS and rest.rpartition(".")[2] in _COMPILING


def can_be_decorated(value: object) -> bool:
    """Return whether a value is what decorators are put on: a function, a class, a kernel."""
    kind = type(value)
    if hasattr(kind, "__sm120_opaque__") or hasattr(kind, "__sm120_view__"):
        return False
    if isinstance(value, FunctionType) and value.__name__ == "<lambda>":
        # @unknown(lambda args: ...) is given a lambda as an option, before it decorates.
        return False
    if isinstance(value, _NAMED) or is_kernel(value):
        return True
    return callable(value) and (kind.__module__.startswith(_STAND_INS) or _wraps_one(value))


def _wraps_one(value: object) -> bool:
    return hasattr(value, "fn") or hasattr(value, "__wrapped__")
