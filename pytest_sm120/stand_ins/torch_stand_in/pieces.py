"""Views that take a tensor apart, and views of single dimensions that are split or joined."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.size import read_sizes, wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.slicing import drop_dimension, slice_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, make_view
from pytest_sm120.stand_ins.torch_stand_in.views import reorder, view
from pytest_sm120.tensors.layouts import resolve_minus_one


def unbind(call: str, input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return one view per index of a dimension."""
    if not input._shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    position = wrap_dimension(dim, input.ndim)
    return tuple(drop_dimension(input, position, at) for at in range(input._shape[position]))


def split(call: str, input: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Return views of equal sizes, the last one smaller, or of the sizes listed."""
    if isinstance(split_size_or_sections, int) and split_size_or_sections < 0 and input._shape:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size_or_sections}"
        )
    position = _dimension_to_split(call, input, dim)
    size = input._shape[position]
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = read_sizes("split", (tuple(split_size_or_sections),))
        _refuse_wrong_sections(input, position, sizes)
        return _cut(input, position, sizes)
    step = int(split_size_or_sections)
    if step == 0 and size != 0:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    return _cut(input, position, _equal_sizes(size, step))


def _dimension_to_split(call: str, input: Tensor, dim: int) -> int:
    if not input._shape:
        name = call.rpartition(".")[2]
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    return wrap_dimension(dim, input.ndim)


def _refuse_wrong_sections(input: Tensor, position: int, sizes: tuple[int, ...]) -> None:
    size = input._shape[position]
    if any(section < 0 for section in sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}"
        )
    if sum(sizes) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size "
            f"at dimension {position}), but got split_sizes={list(sizes)}"
        )


def _equal_sizes(size: int, step: int) -> list[int]:
    if size == 0:
        return [0]
    return [min(step, size - start) for start in range(0, size, step)]


def _cut(input: Tensor, position: int, sizes: Any) -> tuple[Tensor, ...]:
    ends = list(accumulate(sizes))
    return tuple(
        slice_dimension(input, position, end - size, end, 1)
        for size, end in zip(sizes, ends, strict=True)
    )


def chunk(call: str, input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return at most this many views of equal size."""
    if input._shape and chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    position = _dimension_to_split(call, input, dim)
    size = input._shape[position]
    step = -(-size // chunks)
    return _cut(input, position, [0] * chunks if step == 0 else _equal_sizes(size, step))


def unflatten(call: str, input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Return the view in which one dimension is split into several."""
    position = wrap_dimension(dim, input.ndim)
    if not input._shape:
        raise RuntimeError(
            "unflatten got an unexpected error:\n"
            "Dimension specified as 0 but tensor has no dimensions"
        )
    wanted = read_sizes("unflatten", (tuple(sizes),))
    size = input._shape[position]
    resolved = resolve_minus_one(wanted, size) if wanted else None
    if resolved is None:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(wanted)} don't multiply up to the size of dim "
            f"{position} ({size}) in the input tensor"
        )
    return view(call, input, (*input._shape[:position], *resolved, *input._shape[position + 1 :]))


def unfold(call: str, input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return the view of windows of one dimension; their elements are the last dimension."""
    position = wrap_dimension(dimension, input.ndim)
    available = input._shape[position] if input._shape else 1
    if size > available:
        raise RuntimeError(
            f"maximum size for tensor at dimension {position} is {available} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not input._shape:
        return make_view(input, (size,), (1,))
    shape, strides = list(input._shape), list(input._strides)
    shape[position] = (available - size) // step + 1
    strides[position] *= step
    return make_view(input, (*shape, size), (*strides, input._strides[position]))


def transposed(input: Tensor) -> Tensor:
    """Return ``Tensor.T``: all dimensions in reverse order."""
    return reorder(input, range(input.ndim)[::-1])


def transposed_matrices(input: Tensor) -> Tensor:
    """Return ``Tensor.mT``: the last two dimensions exchanged."""
    if input.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{input.ndim}-D tensor."
        )
    if not input.ndim:
        return input
    order = list(range(input.ndim))
    return reorder(input, [*order[:-2], *order[:-3:-1]])
