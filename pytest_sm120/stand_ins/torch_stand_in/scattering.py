"""Operations that write at given indices of one dimension."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import Known
from pytest_sm120.stand_ins.torch_stand_in.memory_formats import preserved_strides
from pytest_sm120.stand_ins.torch_stand_in.operands import common_device
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.refusals import find_refusal, refuse_overflow
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import listed_values, refuse_foreign
from pytest_sm120.tensors.layouts import contiguous_strides, element_offsets
from pytest_sm120.tensors.number_formats import convert_number
from pytest_sm120.tensors.storages import Number

_Combine = Callable[[Any, Any], Any]


def _replace(old: Any, new: Any) -> Any:
    return new


def _check_index(name: str, index: Any, kinds: str = "int32/int64") -> Tensor:
    if not isinstance(index, Tensor):
        refuse_foreign(index)
        raise TypeError(
            f"{name}(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}"
        )
    # Where there is nothing to write, scatter does not look at the dtype.
    looked_at = index.numel() or not name.startswith("scatter")
    if index.dtype.name not in kinds.split("/") and looked_at:
        if name == "index_fill":
            raise IndexError(f"index_fill_(): Expected dtype {kinds} for index.")
        raise RuntimeError(f"{name}(): Expected dtype {kinds} for index")
    return index


def _find_refusal(name: str, input: Tensor) -> Exception | None:
    """Return what a kernel of the host raises; those of a card copy elements of any dtype."""
    return find_refusal(name, input.dtype) if input.is_cpu else None


def _check_source(name: str, input: Tensor, source: Any) -> None:
    if isinstance(source, Tensor) and source.dtype is not input.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")


def _refuse_sizes(axis: int, input: Tensor, index: Tensor, source: Any) -> None:
    others = [input, *([source] if isinstance(source, Tensor) else [])]
    if any(max(other.ndim, 1) != max(index.ndim, 1) for other in others):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    for at, size in enumerate(index.shape):
        limits = [other.shape[at] for other in others if other.ndim]
        if any(size > limit for limit in (limits if at != axis else limits[1:])):
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self "
                f"{list(input.shape)} apart from dimension {axis}"
            )


def _scatter(
    name: str, input: Tensor, dim: int, index: Any, source: Any, combine: _Combine
) -> Computed:
    axis = wrap_dimension(dim, input.ndim)
    chosen = _check_index(name, index)
    _check_source(name, input, source)
    common_device((input, chosen, source))
    if not chosen.numel():
        return Computed(input, input.shape, input.dtype, listed_values(input))
    _refuse_sizes(axis, input, chosen, source)
    if not isinstance(source, Tensor):
        refuse_overflow(source, input.dtype)
    refusal = _find_refusal("scatter", input)
    known = _scattered(input, axis, chosen, source, combine)
    return Computed(input, input.shape, input.dtype, known, refusal=refusal)


def _scattered(input: Tensor, axis: int, index: Tensor, source: Any, combine: _Combine) -> Known:
    places, before = listed_values(index), listed_values(input)
    values = _values_at(source, index)
    if places is None or before is None or values is None:
        return None
    size = input.shape[axis] if input.ndim else 1
    steps = contiguous_strides(input.shape)
    own = steps[axis] if input.ndim else 0
    fixed = tuple(0 if at == axis else step for at, step in enumerate(steps))
    starts = element_offsets(tuple(index.shape), fixed, 0)
    made = list(before)
    for start, place, value in zip(starts, places, values, strict=True):
        if not 0 <= int(place.real) < size:
            raise RuntimeError(
                f"index {place} is out of bounds for dimension {axis} with size {size}"
            )
        at = start + int(place.real) * own
        made[at] = _combined(combine, made[at], value, input)
    return made


def _combined(combine: _Combine, old: Number, new: Number, input: Tensor) -> Number:
    return convert_number(combine(old, new), input.dtype)


def _values_at(source: Any, index: Tensor) -> Sequence[Number] | None:
    if not isinstance(source, Tensor):
        return [source] * index.numel()
    listed = listed_values(source)
    if listed is None or not source.ndim:
        return listed
    places = element_offsets(tuple(index.shape), contiguous_strides(source.shape), 0)
    return [listed[place] for place in places]


def scatter(
    input: Tensor, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Computed:
    """Return the tensor with elements of ``src``, or one value, at the indices."""
    combine = {None: _replace, "add": operator.add, "multiply": operator.mul}.get(reduce)
    if combine is None:
        raise RuntimeError("reduce argument must be either add or multiply.")
    return _scatter("scatter", input, dim, index, value if src is None else src, combine)


def scatter_add(input: Tensor, dim: int, index: Any, src: Any) -> Computed:
    """Return the tensor with the elements of ``src`` added at the indices."""
    return _scatter("scatter_add", input, dim, index, src, operator.add)


def _check_vector(name: str, input: Tensor, dim: int, index: Any) -> tuple[int, Tensor]:
    axis = wrap_dimension(dim, input.ndim)
    kinds = "int32/int64" if name == "index_add" else "int64"
    if isinstance(index, Tensor) and index.ndim > 1 and name != "index_fill":
        raise IndexError(f"{name}_(): Index should have dimension 1 or 0 (got {index.ndim})")
    chosen = _check_index(name, index, kinds)
    if chosen.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    return axis, chosen


def _along(
    name: str, input: Tensor, axis: int, index: Tensor, source: Any, combine: _Combine
) -> Computed:
    """Combine whole slices of one dimension with those of ``source``, or with one number."""
    common_device((input, index, source))
    lines = prod((*input.shape[:axis], *input.shape[axis + 1 :]))
    if name != "index_add" and index.numel() and input.shape[axis : axis + 1] == (0,) and lines:
        raise IndexError(f"index 0 is out of bounds for dimension {axis} with size 0")
    places, before = listed_values(index), listed_values(input)
    values = listed_values(source) if isinstance(source, Tensor) else source
    known: Known = None
    # Without elements, only what adds to a vector looks at the indices.
    if places is not None and (input.numel() or (input.ndim == 1 and name == "index_add")):
        indices = [_wrap_index(int(place.real), input, axis) for place in places]
        if before is not None and values is not None:
            known = _written(input, axis, indices, before, values, combine)
    # What adds whole slices looks at the dtype when there is a slice.
    looked_at = name != "index_add" or input.ndim < 2 or index.numel()
    refusal = _find_refusal(name, input) if looked_at else None
    return Computed(input, input.shape, input.dtype, known, refusal=refusal)


def _wrap_index(place: int, input: Tensor, axis: int) -> int:
    size = input.shape[axis] if input.ndim else 1
    if not -size <= place < size:
        raise IndexError(f"index {place} is out of bounds for dimension {axis} with size {size}")
    return place % size


def _written(
    input: Tensor,
    axis: int,
    indices: Sequence[int],
    before: Sequence[Number],
    values: Any,
    combine: _Combine,
) -> Sequence[Number]:
    size = input.shape[axis] if input.ndim else 1
    made, inner, count = list(before), prod(input.shape[axis + 1 :]), len(indices)
    for at, place in enumerate(indices):
        for row in range(prod(input.shape[:axis])):
            for column in range(inner):
                target = (row * size + place) * inner + column
                taken = (row * count + at) * inner + column
                new = values[taken] if isinstance(values, Sequence) else values
                made[target] = _combined(combine, made[target], new, input)
    return made


def index_fill(input: Tensor, dim: int, index: Any, value: Any) -> Computed:
    """Return the tensor with one value at the indices of a dimension."""
    axis, chosen = _check_vector("index_fill", input, dim, index)
    number = value.item() if isinstance(value, Tensor) else value
    result = _along("index_fill", input, axis, chosen, number, _replace)
    return replace(result, strides=preserved_strides(tuple(input.shape), input.stride()))


def index_copy(input: Tensor, dim: int, index: Any, source: Tensor) -> Computed:
    """Return the tensor with slices of the source at the indices of a dimension."""
    if not source.ndim and isinstance(index, Tensor) and index.numel() != 1:
        wrap_dimension(dim, input.ndim)
        raise IndexError(
            "index_copy_(): When source is scalar, index should have one element (got "
            f"{index.numel()})"
        )
    axis, chosen = _check_vector("index_copy", input, dim, index)
    if source.ndim and input.ndim and source.ndim != input.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({source.ndim}), destination dimensionality "
            f"({input.ndim})"
        )
    if source.dtype is not input.dtype:
        own, other = scalar_type_name(input.dtype), scalar_type_name(source.dtype)
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{own} and (source) {other}"
        )
    _refuse_other_slices(input, axis, chosen.numel(), source)
    return _along("index_copy", input, axis, chosen, source, _replace)


def _refuse_other_slices(input: Tensor, axis: int, count: int, source: Tensor) -> None:
    rests = [
        " ".join(str(size) for size in (*tensor.shape[:axis], *tensor.shape[axis + 1 :]))
        for tensor in (input, source)
    ]
    if rests[0] != rests[1]:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {rests[0]} at dimension {axis} and source slice shape: {rests[1]} at "
            f"dimension {axis if source.ndim else 0}."
        )
    if source.ndim and source.shape[axis] != count:
        raise IndexError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) "
            f"({source.shape[axis]})"
        )


def index_add(input: Tensor, dim: int, index: Any, source: Tensor, *, alpha: Any = 1) -> Computed:
    """Return the tensor with slices of the source, scaled, added at the indices of a dimension."""
    axis, chosen = _check_vector("index_add", input, dim, index)
    _check_source("index_add", input, source)
    _refuse_slices(input, axis, chosen.numel(), source)
    factor = convert_number(alpha, input.dtype)

    def add_scaled(old: Any, new: Any) -> Any:
        return old + factor * new

    return _along("index_add", input, axis, chosen, source, add_scaled)


def _refuse_slices(input: Tensor, axis: int, count: int, source: Tensor) -> None:
    if not source.ndim and count != 1:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    wanted = list(input.shape)
    if wanted:
        wanted[axis] = source.shape[axis] if source.ndim > axis else -1
    if list(source.shape) != wanted:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
        )
    if (source.shape[axis] if source.ndim else 1) != count:
        raise RuntimeError(
            f"index_add_(): Number of indices ({count}) should be equal to source.size(dim): "
            f"({source.shape[axis] if source.ndim else 1}), for dim: {axis}"
        )


#: The rows of every operation in this module.
SCATTERING = (
    computing("scatter", scatter, in_place=True),
    computing("scatter_add", scatter_add, in_place=True),
    computing("index_fill", index_fill, in_place=True),
    computing("index_copy", index_copy, in_place=True),
    computing("index_add", index_add, in_place=True),
)
