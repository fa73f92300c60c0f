"""torch.searchsorted and torch.bucketize."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import Known, known_values
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation
from pytest_sm120.tensors.dtypes import DTYPES
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Uniform


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Computed:
    """Return the positions at which elements would be inserted; for a number, one position."""
    if sorter is not None:
        raise unknown_operation("torch.searchsorted(..., sorter=...)")
    refuse_dtype("searchsorted", sorted_sequence.dtype)
    after = _is_after_equal_ones(right, side)
    dtype = DTYPES["int32" if out_int32 else "int64"]
    if not isinstance(input, Tensor):
        return Computed(sorted_sequence, (), dtype, _positions(sorted_sequence, [input], after))
    if sorted_sequence.ndim != 1 and sorted_sequence.shape[:-1] != input.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(sorted_sequence.shape)} and input value tensor "
            f"{list(input.shape)}"
        )
    wanted = known_values(input)
    listed = [wanted.value] * input.numel() if isinstance(wanted, Uniform) else wanted
    known = None if listed is None else _positions(sorted_sequence, listed, after)
    return Computed(sorted_sequence, input.shape, dtype, known)


def _is_after_equal_ones(right: bool, side: str | None) -> bool:
    if side not in (None, "left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    return right or side == "right"


def _positions(boundaries: Tensor, wanted: Sequence[Any], after: bool) -> Known:
    known = known_values(boundaries)
    if known is None or boundaries.ndim != 1 or boundaries.numel() > LARGEST_FOLLOWED:
        return None
    listed: Any = [known.value] * boundaries.numel() if isinstance(known, Uniform) else known
    find = bisect_right if after else bisect_left
    return [find(listed, value) for value in wanted]


def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Computed:
    """Return which of the intervals between the boundaries each element lies in."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


#: The rows of the operations in this module.
SEARCHING = (
    computing("searchsorted", searchsorted, method=False),
    computing("bucketize", bucketize, method=False),
)
