"""Operations that repeat a tensor, its indices or its elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import Known, known_values
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.size import read_sizes, wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import read_values
from pytest_sm120.tensors.layouts import Shape, contiguous_strides, element_offsets
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Number, Uniform


def repeat(input: Tensor, *repeats: Any) -> Computed:
    """Return the tensor repeated along each dimension."""
    if not repeats:
        raise TypeError('repeat() missing 1 required positional arguments: "repeats"')
    counts = read_sizes("repeat", repeats)
    if len(counts) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    own = (1,) * (len(counts) - input.ndim) + tuple(input.shape)
    if any(count < 0 for count in counts):
        sizes = [count * size for count, size in zip(counts, own, strict=True)]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {sizes}")
    # Read with two dimensions for each of its own: which repetition, and which element.
    wanted = tuple(size for pair in zip(counts, own, strict=True) for size in pair)
    steps = tuple(step for stride in contiguous_strides(own) for step in (0, stride))
    shape = [count * size for count, size in zip(counts, own, strict=True)]
    return Computed(input, shape, input.dtype, _reread(input, wanted, steps))


def _reread(input: Tensor, shape: Sequence[int], strides: Sequence[int]) -> Known:
    known = known_values(input)
    if known is None or isinstance(known, Uniform) or prod(shape) > LARGEST_FOLLOWED:
        return known if isinstance(known, Uniform) else None
    return [known[offset] for offset in element_offsets(tuple(shape), tuple(strides), 0)]


def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Computed:
    """Return the tensor with each index of a dimension repeated; without repeats, the indices."""
    if repeats is None:
        return _repeated_indices(input)
    known = known_values(input)
    shape = [input.numel()] if dim is None else list(input.shape)
    axis = 0 if dim is None else wrap_dimension(dim, input.ndim)
    counts, old = _counts(repeats, shape[axis]), tuple(shape)
    shape[axis] = sum(counts)
    if known is not None and not isinstance(known, Uniform):
        known = _repeated(known, old, axis, counts) if prod(shape) <= LARGEST_FOLLOWED else None
    return Computed(input, shape, input.dtype, known)


def _repeated(known: Sequence[Number], shape: Shape, axis: int, counts: list[int]) -> list[Number]:
    inner, size = prod(shape[axis + 1 :]), shape[axis]
    order = [at for at, count in enumerate(counts) for _ in range(count)]
    return [
        known[(row * size + at) * inner + column]
        for row in range(prod(shape[:axis]))
        for at in order
        for column in range(inner)
    ]


def _repeated_indices(repeats: Tensor) -> Computed:
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.dtype.name not in ("int32", "int64"):
        kind = scalar_type_name(repeats.dtype)
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{kind}'")
    counts = [int(value.real) for value in read_values(repeats, "torch.repeat_interleave")]
    if any(count < 0 for count in counts):
        raise RuntimeError("repeats can not be negative")
    order = [at for at, count in enumerate(counts) for _ in range(count)]
    return Computed(repeats, (len(order),), repeats.dtype, order)


def _counts(repeats: Any, size: int) -> list[int]:
    if not isinstance(repeats, Tensor):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        return [int(repeats)] * size
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    values = [int(value.real) for value in read_values(repeats, "repeat_interleave")]
    if len(values) == 1:
        return values * size
    if len(values) != size:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {len(values)} and input.size(0) = {size}"
        )
    return values


#: The rows of every operation in this module.
REPEATING = (
    computing("repeat", repeat, function=False),
    computing("repeat_interleave", repeat_interleave),
)
