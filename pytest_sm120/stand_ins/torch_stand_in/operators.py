"""Python's operators on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign

_BINARY = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
    "matmul": "matmul",
}  # fmt: skip

_IN_PLACE = {"sub", "mul", "add", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"}

#: The method behind each operator: ``"__radd__"`` runs ``add`` with the operands exchanged.
OPERATORS = {
    **{f"__{name}__": method for name, method in _BINARY.items()},
    **{f"__r{name}__": method for name, method in _BINARY.items()},
    **{f"__i{name}__": f"{_BINARY[name]}_" for name in (*_IN_PLACE, "lshift", "rshift")},
    **{f"__{name}__": name for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs")},
    "__invert__": "bitwise_not",
}

_UNARY = ("__neg__", "__abs__", "__invert__")


def make_operator(
    dunder: str, name: str, find_run: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    """Return the function behind one operator; ``find_run`` finds the run of an operation's row."""
    if dunder == "__invert__":
        return _invert
    if dunder in _UNARY:
        return lambda self: getattr(self, name)()

    kinds = _OPERANDS[:1] if name == "matmul" else _OPERANDS

    def operator(self: Tensor, other: Any) -> Any:
        return getattr(self, name)(other) if _is_operand(other, kinds) else NotImplemented

    def reversed_operator(self: Tensor, other: Any) -> Any:
        if not _is_operand(other, kinds):
            return NotImplemented
        return find_run(name)(f"Tensor.{name}", other, self)

    return reversed_operator if dunder.startswith("__r") and dunder != "__rshift__" else operator


def _invert(self: Tensor) -> Any:
    if self.dtype.kind not in ("bool", "int", "uint"):
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return self.bitwise_not()


_OPERANDS: tuple[type, ...] = (Tensor, bool, int, float, complex)


def _is_operand(other: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(other, kinds):
        return True
    refuse_foreign(other)
    return False
