"""Operations that pick, order or move elements along one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import ne, sub
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.extremes import Extremes
from pytest_sm120.stand_ins.torch_stand_in.memory import Known, convert_known, known_values
from pytest_sm120.stand_ins.torch_stand_in.memory_formats import preserved_strides
from pytest_sm120.stand_ins.torch_stand_in.operands import common_device, strides_of_layouts
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.reductions import lines_of
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.running import unlined
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension, wrap_dimensions
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import (
    listed_values,
    read_values,
    refuse_foreign,
)
from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.layouts import contiguous_strides, element_offsets
from pytest_sm120.tensors.storages import Number, Uniform


def _check_index(name: str, index: Any, kinds: str, empty: bool = False) -> Tensor:
    if not isinstance(index, Tensor):
        refuse_foreign(index)
        raise TypeError(
            f"{name}(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}"
        )
    # Where there is nothing to pick, some do not look at the dtype.
    if index.dtype.name not in ("int32", "int64") and not (empty and not index.numel()):
        raise RuntimeError(f"{name}(): Expected dtype {kinds} for index")
    return index


def _with_size(tensor: Tensor, axis: int, size: int) -> list[int]:
    shape = list(tensor.shape)
    if shape:
        shape[axis] = size
    return shape


def index_select(input: Tensor, dim: int, index: Tensor) -> Computed:
    """Return the chosen indices of a dimension."""
    axis = wrap_dimension(dim, input.ndim)
    if isinstance(index, Tensor) and index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    chosen = _check_index("index_select", index, "int32 or int64")
    common_device((input, chosen))
    if not input.ndim and chosen.numel() != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {chosen.numel()} value(s)"
        )
    if input.ndim < 2:
        # torch has a kernel of its own for vectors, which knows fewer dtypes.
        refuse_dtype("index_select", input.dtype)
    shape = _with_size(input, axis, chosen.numel())
    order = known_values(chosen)
    if order is None:
        return Computed(input, shape, input.dtype, _uniform(input))
    positions = [int(value.real) for value in read_values(chosen, "torch.index_select")]
    size = input.shape[axis] if input.ndim else 1
    if positions and size == 0 and input.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if any(not 0 <= position < size for position in positions):
        raise IndexError("index out of range in self")
    known = _reordered(known_values(input), input.shape, axis, positions)
    return Computed(input, shape, input.dtype, known)


def _uniform(input: Tensor) -> Known:
    known = known_values(input)
    return known if isinstance(known, Uniform) else None


def _reordered(known: Known, shape: Sequence[int], axis: int, positions: Sequence[int]) -> Known:
    """Return the known elements with these indices of one dimension, in this order."""
    if known is None or isinstance(known, Uniform):
        return known
    size = shape[axis] if shape else 1
    inner, outer = prod(shape[axis + 1 :]), prod(shape[:axis])
    return [
        known[(row * size + position) * inner + column]
        for row in range(outer)
        for position in positions
        for column in range(inner)
    ]


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Computed:
    """Return, for each index, the element at that index of the dimension."""
    axis = wrap_dimension(dim, input.ndim)
    chosen = _check_index("gather", index, "int32/int64", empty=True)
    common_device((input, chosen))
    if max(chosen.ndim, 1) != max(input.ndim, 1) and chosen.numel():
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    if chosen.numel() and not input.numel():
        raise RuntimeError(f"index 0 is out of bounds for dimension {axis} with size 0")
    for at, (size, limit) in enumerate(zip(chosen.shape, input.shape, strict=False)):
        if chosen.numel() and at != axis and size > limit:
            raise RuntimeError(
                f"Size does not match at dimension {at} expected index {list(chosen.shape)} to be "
                f"no larger than self {list(input.shape)} apart from dimension {axis}"
            )
    if chosen.numel():
        refuse_dtype("gather", input.dtype)
    return Computed(input, chosen.shape, input.dtype, _gathered(input, axis, chosen))


def _gathered(input: Tensor, axis: int, index: Tensor) -> Known:
    places, known = listed_values(index), known_values(input)
    if places is None or known is None or isinstance(known, Uniform):
        return known if isinstance(known, Uniform) else None
    size = input.shape[axis] if input.ndim else 1
    steps = list(contiguous_strides(input.shape))
    own = steps[axis] if steps else 0
    # A vector and a tensor without dimensions go together.
    fixed = tuple(0 if at == axis else step for at, step in enumerate(steps))[: index.ndim]
    fixed += (0,) * (index.ndim - len(fixed))
    starts = element_offsets(tuple(index.shape), fixed, 0)
    made = []
    for start, place in zip(starts, places, strict=True):
        at = int(place.real)
        if not 0 <= at < size:
            raise RuntimeError(f"index {at} is out of bounds for dimension {axis} with size {size}")
        made.append(known[start + at * own])
    return made


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Extremes:
    """Return the elements of each line in order, and where they were."""
    axis = wrap_dimension(dim, input.ndim)
    if input.dtype.kind == "complex":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    # Elements that are all one in memory are in order already.
    if input.ndim and input.stride(axis) != 0:
        refuse_dtype("sort", input.dtype)
    lines = lines_of(input, [axis] if input.ndim else [], input.dtype)
    values: Known = None
    places: Known = None
    if lines is not None:
        orders = [_order(line, descending) for line in lines]
        places = unlined(input, axis, orders)
        values = unlined(input, axis, [
            [line[at] for at in order] for line, order in zip(lines, orders, strict=True)
        ])  # fmt: skip
    strides = preserved_strides(tuple(input.shape), input.stride())
    return Extremes(
        Computed(input, input.shape, input.dtype, values, strides),
        Computed(input, input.shape, DTYPES["int64"], places, strides, differentiable=False),
    )


def _order(line: Sequence[Any], descending: bool) -> list[int]:
    # NaN counts as larger than any number.
    def key(at: int) -> tuple[bool, Any]:
        value = line[at]
        return (True, 0) if value != value else (False, value)

    return sorted(range(len(line)), key=key, reverse=descending)


def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> Computed:
    """Return where the elements of each line come from in order."""
    positions: Computed = sort(input, dim, descending, stable).indices
    return positions


def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Extremes:
    """Return the k largest or smallest elements of each line, and where they were."""
    axis = wrap_dimension(dim, input.ndim)
    size = input.shape[axis] if input.ndim else 1
    count = int(k)
    if not 0 <= count <= size:
        raise RuntimeError("selected index k out of range")
    if input.dtype.kind == "bool":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if input.ndim or input.dtype.kind == "complex":
        refuse_dtype("topk", input.dtype)
    if not input.ndim:
        return Extremes(clone(input), Computed(input, (), DTYPES["int64"], [0]))
    shape = _with_size(input, axis, count)
    values: Known = None
    places: Known = None
    if sorted and _all_differ(input, axis):
        ordered = sort(input, axis, largest)
        values, places = (
            _reordered(part.known, input.shape, axis, range(count)) for part in ordered
        )
    return Extremes(
        Computed(input, shape, input.dtype, values),
        Computed(input, shape, DTYPES["int64"], places, differentiable=False),
    )


def _all_differ(input: Tensor, axis: int) -> bool:
    """Return whether it is known which elements are taken: of equal ones, the hardware chooses."""
    lines = lines_of(input, [axis], input.dtype)
    return lines is not None and all(
        len({*line}) == len(line) and all(value == value for value in line) for line in lines
    )


def flip(input: Tensor, *dims: Any) -> Computed:
    """Return the tensor with dimensions reversed."""
    if not dims:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    given = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    axes = wrap_dimensions(given, input.ndim) if given else ()
    known = known_values(input)
    if known is not None and not isinstance(known, Uniform) and input.ndim:
        known = _flipped(list(known), tuple(input.shape), axes)
    strides = preserved_strides(tuple(input.shape), input.stride())
    return Computed(input, input.shape, input.dtype, known, strides)


def _flipped(
    values: Sequence[Number], shape: tuple[int, ...], axes: Sequence[int]
) -> Sequence[Number]:
    for axis in axes:
        inner = prod(shape[axis + 1 :])
        block = shape[axis] * inner
        values = [
            values[place - place % block + (shape[axis] - 1 - place % block // inner) * inner
                   + place % inner]
            for place in range(len(values))
        ]  # fmt: skip
    return values


def diff(input: Tensor, n: int = 1, dim: int = -1) -> Any:
    """Return the differences of neighbours along a dimension."""
    axis = wrap_dimension(dim, input.ndim)
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    order = min(n, input.shape[axis])
    if n == 0:
        return clone(input)
    if order == 0:
        return input
    if input.numel():
        refuse_dtype("diff", input.dtype)
    shape, strides = tuple(input.shape), tuple(input.stride())
    known = known_values(input)
    for _ in range(order):
        known = _differences(known, shape, axis, input.dtype)
        shape = (*shape[:axis], shape[axis] - 1, *shape[axis + 1 :])
        strides = strides_of_layouts([(shape, strides)], shape)
    return Computed(input, shape, input.dtype, known, strides)


def _differences(known: Known, shape: Sequence[int], axis: int, dtype: DType) -> Known:
    size = shape[axis]
    later = _reordered(known, shape, axis, range(1, size))
    former = _reordered(known, shape, axis, range(size - 1))
    step = ne if dtype.kind == "bool" else sub
    if later is None or former is None:
        return None
    if isinstance(later, Uniform) or isinstance(former, Uniform):
        return convert_known(Uniform(step(1, 1), dtype), dtype)
    return convert_known([step(*pair) for pair in zip(later, former, strict=True)], dtype)


def clone(input: Tensor) -> Computed:
    """Return the same elements, in memory of their own in the same order."""
    strides = preserved_strides(tuple(input.shape), input.stride())
    return Computed(input, input.shape, input.dtype, known_values(input), strides)


#: The rows of every operation in this module.
SELECTION = (
    computing("index_select", index_select),
    computing("gather", gather),
    computing("sort", sort),
    computing("argsort", argsort),
    computing("topk", topk),
    computing("flip", flip, refusals="flip"),
    computing("diff", diff),
)
