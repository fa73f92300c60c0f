"""torch.is_tensor and other questions about an object."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor


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
