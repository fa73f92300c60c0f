"""Views of a part of one dimension."""

from __future__ import annotations

from operator import index
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, make_view


def narrow(call: str, input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Return the view of ``length`` indices of one dimension."""
    if not input._shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    position = wrap_dimension(dim, input.ndim)
    size, first = input._shape[position], index(start)
    if not -size <= first <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {first})"
        )
    first = first + size if first < 0 else first
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return slice_dimension(input, position, first, first + length, 1)


def slice_dimension(input: Tensor, position: int, start: int, stop: int, step: int) -> Tensor:
    """Return the view of the indices ``range(start, stop, step)`` of one dimension."""
    shape, strides = list(input._shape), list(input._strides)
    shape[position] = len(range(start, stop, step))
    offset = input._offset + start * strides[position]
    strides[position] *= step
    return make_view(input, shape, strides, offset)


def select(call: str, input: Tensor, dim: int, index: Any) -> Tensor:
    """Return the view of one index of a dimension, without that dimension."""
    if not input._shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    position = wrap_dimension(dim, input.ndim)
    size, wanted = input._shape[position], int(index)
    if not -size <= wanted < size:
        raise IndexError(
            f"select(): index {wanted} out of range for tensor of size {list(input._shape)} at "
            f"dimension {position}"
        )
    return drop_dimension(input, position, wanted % size)


def drop_dimension(input: Tensor, position: int, wanted: int) -> Tensor:
    """Return the view of one index of a dimension that is known to be there."""
    shape, strides = list(input._shape), list(input._strides)
    offset = input._offset + wanted * strides[position]
    del shape[position], strides[position]
    return make_view(input, shape, strides, offset)
