"""Views: operations that name the same memory with another geometry."""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.size import (
    read_sizes,
    refuse_negative,
    wrap_dimension,
    wrap_dimensions,
)
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, make_view
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.layouts import Shape, extent, resolve_minus_one, view_strides


def view(call: str, input: Tensor, *shape: Any, dtype: DType | None = None) -> Tensor:
    """Return the view with another shape, or with another dtype."""
    wanted = dtype if dtype is not None else shape[0] if len(shape) == 1 else None
    if isinstance(wanted, DType):
        return view_as_dtype(input, wanted)
    if not shape:
        raise TypeError(
            "view() received an invalid combination of arguments - got (), but expected one of:"
        )
    sizes = resolve_sizes(input, read_sizes("view", shape))
    strides = view_strides(tuple(input._shape), input._strides, sizes)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return make_view(input, sizes, strides)


def resolve_sizes(input: Tensor, sizes: Shape) -> Shape:
    """Return the sizes with -1 replaced; RuntimeError when they do not hold the elements."""
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    for position, size in enumerate(sizes):
        if size < -1:
            raise RuntimeError(
                f"invalid shape dimension {size} at index {position} of shape {list(sizes)}"
            )
    count = input.numel()
    if count == 0 and -1 in sizes and prod(size for size in sizes if size != -1) == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the unspecified "
            "dimension size -1 can be any value and is ambiguous"
        )
    resolved = resolve_minus_one(sizes, count)
    if resolved is None:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")
    return resolved


def view_as_dtype(input: Tensor, dtype: DType) -> Tensor:
    """Return the same bytes as another dtype; the last dimension takes up the difference."""
    old, new = input.element_size(), dtype.itemsize
    if old == new:
        return make_view(input, input._shape, input._strides, dtype=dtype)
    kinds = f"to view {scalar_type_name(input.dtype)} as {scalar_type_name(dtype)}"
    kinds += " (different element sizes)"
    if not input._shape:
        raise RuntimeError(f"self.dim() cannot be 0 {kinds}")
    if old > new:
        _refuse_steps(input, kinds)
        return _view_smaller(input, dtype, old // new)
    return _view_larger(input, dtype, new // old, kinds)


def _refuse_steps(input: Tensor, kinds: str) -> None:
    if input._strides[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {kinds}, but got {input._strides[-1]}")


def _view_smaller(input: Tensor, dtype: DType, ratio: int) -> Tensor:
    shape = (*input._shape[:-1], input._shape[-1] * ratio)
    strides = (*(stride * ratio for stride in input._strides[:-1]), 1)
    return make_view(input, shape, strides, input._offset * ratio, dtype)


def _view_larger(input: Tensor, dtype: DType, ratio: int, kinds: str) -> Tensor:
    demands = [("self.size(-1)", input._shape[-1]), ("self.storage_offset()", input._offset)]
    _refuse_remainders(demands, ratio, kinds)
    _refuse_steps(input, kinds)
    steps = enumerate(input._strides[:-1])
    _refuse_remainders([(f"self.stride({at})", step) for at, step in steps], ratio, kinds)
    shape = (*input._shape[:-1], input._shape[-1] // ratio)
    strides = (*(stride // ratio for stride in input._strides[:-1]), 1)
    return make_view(input, shape, strides, input._offset // ratio, dtype)


def _refuse_remainders(demands: list[tuple[str, int]], ratio: int, kinds: str) -> None:
    for what, value in demands:
        if value % ratio:
            raise RuntimeError(f"{what} must be divisible by {ratio} {kinds}, but got {value}")


def view_as(call: str, input: Tensor, other: Tensor) -> Tensor:
    """Return the view with the other's shape."""
    return view(call, input, tuple(other._shape))


def as_strided(
    call: str, input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """Return any geometry over the storage; refused outside its bounds."""
    sizes, strides = read_sizes(call, (tuple(size),)), read_sizes(call, (tuple(stride),))
    if len(sizes) != len(strides):
        raise RuntimeError("mismatch in length of strides and shape")
    if min(strides, default=0) < 0:
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(strides)}"
        )
    offset = input._offset if storage_offset is None else index(storage_offset)
    _refuse_outside(input, sizes, strides, offset)
    return make_view(input, sizes, strides, offset)


def _refuse_outside(input: Tensor, sizes: Shape, strides: Shape, offset: int) -> None:
    if min(sizes, default=0) < 0:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(sizes)} and "
            f"strides={list(strides)}"
        )
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    itemsize = input.element_size()
    needed = (extent(sizes, strides) + offset) * itemsize if 0 not in sizes else 0
    if needed > input._storage.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(strides)}, storage offset {offset}, "
            f"and itemsize {itemsize} requiring a storage size of {needed} are out of bounds for "
            f"storage of size {input._storage.nbytes}"
        )


def permute(call: str, input: Tensor, *dims: Any) -> Tensor:
    """Return the view with its dimensions in another order."""
    if not dims:
        raise TypeError('permute() missing 1 required positional arguments: "dims"')
    order = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    if len(order) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {input.ndim} is not "
            f"equal to len(dims) = {len(order)}"
        )
    wrapped = [wrap_dimension(dimension, input.ndim) for dimension in order]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return reorder(input, wrapped)


def reorder(input: Tensor, order: Any) -> Tensor:
    """Return the view whose dimension i is the input's dimension order[i]."""
    shape = [input._shape[dimension] for dimension in order]
    strides = [input._strides[dimension] for dimension in order]
    return make_view(input, shape, strides)


def transpose(call: str, input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return the view with two dimensions exchanged."""
    first, second = wrap_dimension(dim0, input.ndim), wrap_dimension(dim1, input.ndim)
    order = list(range(input.ndim))
    if order:
        order[first], order[second] = second, first
    return reorder(input, order)


def t(call: str, input: Tensor) -> Tensor:
    """Return the transposed view of at most two dimensions."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return reorder(input, range(input.ndim)[::-1])


def movedim(call: str, input: Tensor, source: Any, destination: Any) -> Tensor:
    """Return the view with dimensions moved to new positions."""
    sources = source if isinstance(source, (tuple, list)) else (source,)
    targets = destination if isinstance(destination, (tuple, list)) else (destination,)
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(sources)} dims) should "
            f"contain the same number of dims as destination ({list(targets)} dims)"
        )
    moved = [wrap_dimension(dimension, input.ndim) for dimension in sources]
    places = [wrap_dimension(dimension, input.ndim) for dimension in targets]
    for kind, named in (("source", moved), ("destination", places)):
        if len(set(named)) != len(named):
            raise RuntimeError(f"movedim: repeated dim in `{kind}` ({list(named)})")
    rest = iter([dimension for dimension in range(input.ndim) if dimension not in moved])
    at = dict(zip(places, moved, strict=True))
    return reorder(input, [at[place] if place in at else next(rest) for place in range(input.ndim)])


def unsqueeze(call: str, input: Tensor, dim: int) -> Tensor:
    """Return the view with a dimension of size 1 inserted."""
    position = wrap_dimension(dim, input.ndim + 1)
    shape, strides = list(input._shape), list(input._strides)
    inside = position < input.ndim
    stride = shape[position] * strides[position] if inside else 1
    shape.insert(position, 1)
    strides.insert(position, stride)
    return make_view(input, shape, strides)


def squeeze(call: str, input: Tensor, dim: Any = None) -> Tensor:
    """Return the view without its dimensions of size 1, or without those named."""
    dropped = range(input.ndim) if dim is None else wrap_dimensions_given(dim, input.ndim)
    kept = [
        position
        for position in range(input.ndim)
        if position not in dropped or input._shape[position] != 1
    ]
    return reorder(input, kept)


def wrap_dimensions_given(dim: Any, rank: int) -> tuple[int, ...]:
    """Return the named dimensions; an empty sequence names none."""
    return () if isinstance(dim, (tuple, list)) and not dim else wrap_dimensions(dim, rank)


def expand(call: str, input: Tensor, *sizes: Any) -> Tensor:
    """Return the view in which dimensions of size 1 are repeated without memory."""
    if not sizes:
        raise TypeError('expand() missing 1 required positional arguments: "size"')
    wanted = read_sizes("expand", sizes)
    missing = len(wanted) - input.ndim
    if missing < 0:
        raise RuntimeError(
            f"expand(torch.{scalar_type_name(input.dtype)}Tensor{{{list(input._shape)}}}, "
            f"size={list(wanted)}): the number of sizes provided ({len(wanted)}) must be greater "
            f"or equal to the number of dimensions in the tensor ({input.ndim})"
        )
    shape = [
        _expanded_size(input, wanted, position, position - missing)
        for position in range(len(wanted))
    ]
    refuse_negative(tuple(shape))
    strides = [0] * missing + [
        0 if old == 1 and new != 1 else stride
        for old, new, stride in zip(input._shape, shape[missing:], input._strides, strict=True)
    ]
    if not input._shape:
        return make_view(input, shape, strides)
    # A new leading dimension of size 1 gets the stride that a contiguous one would have.
    for position in reversed(range(missing)):
        if shape[position] == 1:
            inner = position + 1
            strides[position] = shape[inner] * strides[inner] if inner < len(shape) else 1
    return make_view(input, shape, strides)


def _expanded_size(input: Tensor, wanted: Shape, position: int, own: int) -> int:
    size = wanted[position]
    if own < 0:
        if size == -1:
            raise RuntimeError(
                "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
                f"dimension {position}"
            )
        return size
    existing = input._shape[own]
    if size == -1:
        return existing
    if existing not in (1, size):
        raise RuntimeError(
            f"The expanded size of the tensor ({size}) must match the existing size ({existing}) "
            f"at non-singleton dimension {position}.  Target sizes: {list(wanted)}.  Tensor sizes: "
            f"{list(input._shape)}"
        )
    return size


def expand_as(call: str, input: Tensor, other: Tensor) -> Tensor:
    """Return the view expanded to the other's shape."""
    return expand(call, input, tuple(other._shape))


def detach(call: str, input: Tensor) -> Tensor:
    """Return the same memory without its history."""
    made = make_view(input, input._shape, input._strides)
    made._requires_grad = False
    made._leaf = True
    return made
