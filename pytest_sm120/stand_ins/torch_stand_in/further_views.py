"""Views that host code around kernels seldom takes: diagonals and unequal pieces."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.operation import Operation
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.slicing import slice_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, make_view


def diagonal(call: str, input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return the view of a diagonal of two dimensions; it is the last dimension."""
    first, second = wrap_dimension(dim1, input.ndim), wrap_dimension(dim2, input.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    steps = input.stride()
    rows, columns = input.shape[first], input.shape[second]
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    skipped = offset * steps[second] if offset >= 0 else -offset * steps[first]
    rest = [at for at in range(input.ndim) if at not in (first, second)]
    return make_view(
        input,
        [*(input.shape[at] for at in rest), length],
        [*(steps[at] for at in rest), steps[first] + steps[second]],
        input.storage_offset() + (skipped if length else 0),
    )


def tensor_split(
    call: str,
    input: Tensor,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Tensor, ...]:
    """Return views that are as equal as can be, or that end at the indices given."""
    if not input.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    axis = wrap_dimension(dim, input.ndim)
    given = next(each for each in (indices_or_sections, indices, sections) if each is not None)
    wanted = given.tolist() if isinstance(given, Tensor) else given
    size = input.shape[axis]
    if isinstance(wanted, (list, tuple)):
        ends = [int(end) for end in wanted]
        pairs = list(zip([0, *ends], [*ends, size], strict=True))
    else:
        pairs = _equal_pieces(size, int(wanted))
    return tuple(_piece(input, axis, start, end) for start, end in pairs)


def _equal_pieces(size: int, count: int) -> list[tuple[int, int]]:
    if count <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {count}")
    step, longer = divmod(size, count)
    ends = [step * (at + 1) + min(at + 1, longer) for at in range(count)]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _piece(input: Tensor, axis: int, start: int, end: int) -> Tensor:
    first, last, _ = slice(start, end).indices(input.shape[axis])
    return slice_dimension(input, axis, first, max(last, first), 1)


#: The rows of every operation in this module.
FURTHER_VIEWS = (
    Operation("diagonal", diagonal),
    Operation("tensor_split", tensor_split),
)
