"""What an unknown callable does with what it is called with: as a decorator it is identity."""

from __future__ import annotations

from types import FunctionType, MethodType

_STAND_INS = __name__.rpartition(".")[0]

_NAMED = (type, FunctionType, MethodType, classmethod, staticmethod, property)


def can_be_decorated(value: object) -> bool:
    """Return whether a value is what decorators are put on: a function, a class, a kernel."""
    kind = type(value)
    if hasattr(kind, "__sm120_opaque__") or hasattr(kind, "__sm120_view__"):
        return False
    if isinstance(value, FunctionType) and value.__name__ == "<lambda>":
        # @unknown(lambda args: ...) is given a lambda as an option, before it decorates.
        return False
    if isinstance(value, _NAMED) or hasattr(kind, "__sm120_kernel__"):
        return True
    return callable(value) and (kind.__module__.startswith(_STAND_INS) or _wraps_one(value))


def _wraps_one(value: object) -> bool:
    return hasattr(value, "fn") or hasattr(value, "__wrapped__")
