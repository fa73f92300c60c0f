"""torch.is_tensor and other questions about an object, and torch.nn.functional."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.matrices import LINEAR
from pytest_sm120.stand_ins.torch_stand_in.methods import FUNCTIONS
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation


def is_tensor(obj: Any) -> bool:
    """Return whether it is a tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Return whether a tensor's dtype is a real floating-point format."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Return whether a tensor's dtype is a complex format."""
    return input.is_complex()


def numel(input: Tensor) -> int:
    """Return the number of a tensor's elements."""
    return input.numel()


QUESTIONS: dict[str, Any] = {
    function.__name__: function for function in (is_tensor, is_floating_point, is_complex, numel)
}


def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    return LINEAR.run("torch.nn.functional.linear", input, weight, bias)


def _dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    if training and p:
        raise unknown_operation("torch.nn.functional.dropout while training")
    return input


#: What torch.nn.functional shares with torch itself, and its own.
FUNCTIONAL: dict[str, Any] = {
    **{name: FUNCTIONS[name] for name in ("relu", "sigmoid", "tanh", "softmax", "log_softmax")},
    "linear": _linear,
    "dropout": _dropout,
}
