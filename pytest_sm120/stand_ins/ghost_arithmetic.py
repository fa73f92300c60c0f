"""Arithmetic on ghosts: each operation gives a ghost that is named after the expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_BINARY = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%"},
    **{"pow": "**", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"},
    "matmul": "@",
}
_UNARY = {"neg": "(-{})", "pos": "(+{})", "invert": "(~{})", "abs": "abs({})"}

Child = Callable[[Any, str], Any]


def add_arithmetic(kind: type, child: Child, text_of: Callable[[object], str]) -> None:
    """Give a class of ghosts its operators; ``child`` makes the result from its name."""

    def binary(symbol: str, *, reflected: bool) -> Callable[..., Any]:
        def operate(ghost: Any, other: object) -> Any:
            left, right = (other, ghost) if reflected else (ghost, other)
            return child(ghost, f"({text_of(left)} {symbol} {text_of(right)})")

        return operate

    def unary(template: str) -> Callable[..., Any]:
        return lambda ghost: child(ghost, template.format(text_of(ghost)))

    for method, symbol in _BINARY.items():
        setattr(kind, f"__{method}__", binary(symbol, reflected=False))
        setattr(kind, f"__r{method}__", binary(symbol, reflected=True))
    for method, template in _UNARY.items():
        setattr(kind, f"__{method}__", unary(template))
