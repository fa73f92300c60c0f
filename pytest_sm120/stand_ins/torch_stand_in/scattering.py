"""Operations that write at given indices of one dimension."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import Known, known_values
from pytest_sm120.stand_ins.torch_stand_in.memory_formats import preserved_strides
from pytest_sm120.stand_ins.torch_stand_in.operands import common_device
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign, unknown_operation
from pytest_sm120.tensors.layouts import contiguous_strides, element_offsets
from pytest_sm120.tensors.number_formats import convert_number
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Number, Uniform

_Combine = Callable[[Any, Any], Any]


def _replace(old: Any, new: Any) -> Any:
    return new


def _check_index(name: str, index: Any, kinds: tuple[str, ...]) -> Tensor:
    if not isinstance(index, Tensor):
        refuse_foreign(index)
        raise TypeError(
            f"{name}(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}"
        )
    if index.dtype.name not in kinds:
        raise RuntimeError(f"{name}(): Expected dtype {'/'.join(kinds)} for index")
    return index


def _listed(tensor: Tensor) -> Sequence[Number] | None:
    known = known_values(tensor)
    if tensor.numel() > LARGEST_FOLLOWED:
        return None
    return [known.value] * tensor.numel() if isinstance(known, Uniform) else known


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
    chosen = _check_index(name, index, ("int32", "int64"))
    _check_source(name, input, source)
    common_device((input, chosen, source))
    if chosen.numel():
        _refuse_sizes(axis, input, chosen, source)
    known = _scattered(input, axis, chosen, source, combine)
    return Computed(input, input.shape, input.dtype, known)


def _scattered(input: Tensor, axis: int, index: Tensor, source: Any, combine: _Combine) -> Known:
    places, before = _listed(index), _listed(input)
    values = _values_at(source, index)
    if not index.numel():
        return before
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
    listed = _listed(source)
    if listed is None or not source.ndim:
        return listed
    places = element_offsets(tuple(index.shape), contiguous_strides(source.shape), 0)
    return [listed[place] for place in places] if index.numel() else []


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
    chosen = _check_index(name, index, ("int32", "int64"))
    if chosen.ndim > 1 and name == "index_fill":
        raise RuntimeError("Index has to be a vector/scalar")
    if chosen.ndim > 1:
        raise IndexError(f"{name}_(): Index should have dimension 1 or 0 (got {chosen.ndim})")
    return axis, chosen


def _along(
    name: str, input: Tensor, dim: int, index: Any, source: Any, combine: _Combine
) -> Computed:
    """Combine whole slices of one dimension with those of ``source``, or with one number."""
    axis, chosen = _check_vector(name, input, dim, index)
    _check_source(name, input, source)
    common_device((input, chosen, source))
    if isinstance(source, Tensor):
        _refuse_slices(name, input, axis, chosen, source)
    size = input.shape[axis] if input.ndim else 1
    places, before = _listed(chosen), _listed(input)
    strides = preserved_strides(tuple(input.shape), input.stride())
    values = _listed(source) if isinstance(source, Tensor) else source
    if places is None or before is None or values is None:
        return Computed(input, input.shape, input.dtype, None, strides)
    made, inner = list(before), prod(input.shape[axis + 1 :])
    count = len(places)
    for at, place in enumerate(int(value.real) for value in places):
        if not -size <= place < size:
            raise IndexError(
                f"index {place} is out of bounds for dimension {axis} with size {size}"
            )
        for row in range(prod(input.shape[:axis])):
            for column in range(inner):
                target = (row * size + place % size) * inner + column
                new = values if source is values else values[(row * count + at) * inner + column]
                made[target] = _combined(combine, made[target], new, input)
    return Computed(input, input.shape, input.dtype, made, strides)


def _refuse_slices(name: str, input: Tensor, axis: int, index: Tensor, source: Tensor) -> None:
    wanted = list(input.shape)
    if wanted:
        wanted[axis] = index.numel()
    if input.ndim and source.ndim == input.ndim and source.shape[axis] != index.numel():
        raise IndexError(
            f"{name}_(): Number of indices ({index.numel()}) should be equal to source.size(dim) "
            f"({source.shape[axis]})"
        )
    if list(source.shape) != wanted:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
        )


def index_fill(input: Tensor, dim: int, index: Any, value: Any) -> Computed:
    """Return the tensor with one value at the indices of a dimension."""
    number = value.item() if isinstance(value, Tensor) else value
    return _along("index_fill", input, dim, index, number, _replace)


def index_copy(input: Tensor, dim: int, index: Any, source: Tensor) -> Computed:
    """Return the tensor with slices of the source at the indices of a dimension."""
    return _along("index_copy", input, dim, index, source, _replace)


def index_add(input: Tensor, dim: int, index: Any, source: Tensor, *, alpha: Any = 1) -> Computed:
    """Return the tensor with slices of the source added at the indices of a dimension."""
    if alpha != 1:
        raise unknown_operation("torch.index_add(..., alpha=...)")
    return _along("index_add", input, dim, index, source, operator.add)


#: The rows of every operation in this module.
SCATTERING = (
    computing("scatter", scatter, in_place=True),
    computing("scatter_add", scatter_add, in_place=True),
    computing("index_fill", index_fill, in_place=True),
    computing("index_copy", index_copy, in_place=True),
    computing("index_add", index_add, in_place=True),
)
