"""The parts of triton.language that host code evaluates: constexpr and the dtypes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


class constexpr:  # noqa: N801  # the name under which code under test knows it
    """A compile-time constant: a value in a wrapper that goes along with arithmetic."""

    def __init__(self, value: Any) -> None:
        self.value: Any = value.value if isinstance(value, constexpr) else value

    def __repr__(self) -> str:
        return f"constexpr[{self.value!r}]"

    def __sm120_plain__(self) -> object:
        return self.value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what is inside."""
        return self.value(*args, **kwargs)


def _forward(operate: Callable[..., Any], *, reflected: bool = False) -> Callable[..., constexpr]:
    def method(own: constexpr, other: object) -> constexpr:
        values = (own.value, plain_constant(other))
        return constexpr(operate(*(reversed(values) if reflected else values)))

    return method


def _add_operators() -> None:
    for name in "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split():  # noqa: SIM905  # reads as a list of words
        operate: Callable[..., Any] = getattr(operator, name)
        plain = name.rstrip("_")
        setattr(constexpr, f"__{plain}__", _forward(operate))
        setattr(constexpr, f"__r{plain}__", _forward(operate, reflected=True))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(constexpr, f"__{name}__", _forward(getattr(operator, name)))
    for name in ("neg", "pos", "invert"):
        setattr(constexpr, f"__{name}__", _forward_unary(getattr(operator, name)))


def _forward_unary(operate: Callable[[Any], Any]) -> Callable[[constexpr], constexpr]:
    return lambda own: constexpr(operate(own.value))


_add_operators()


def plain_constant(value: object) -> Any:
    """Return the value inside a constexpr, anything else as it is."""
    return value.value if isinstance(value, constexpr) else value


class dtype:  # noqa: N801  # the name under which code under test knows it
    """A dtype of kernel code. Equal by name; recorded as that name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"triton.language.{self.name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dtype) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __sm120_plain__(self) -> object:
        return self.name


#: Dtypes of triton.language 3.9.0.
DTYPE_NAMES = (
    *("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float8e5", "float8e5b16", "float8e4nv", "float8e4b8", "float8e4b15"),
    *("float16", "bfloat16", "float32", "float64", "void"),
)
