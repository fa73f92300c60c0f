"""Refuses a write from a tensor that shares some of its memory with what is written."""

from __future__ import annotations

from pytest_sm120.stand_ins.torch_stand_in.memory import View
from pytest_sm120.tensors.layouts import is_dense


def refuse_partial_overlap(target: View, source: object) -> None:
    """Raise RuntimeError, as torch does, when both share memory and differ in geometry.

    torch looks only at tensors without gaps; one that is written from itself is well.
    """
    if not isinstance(source, View) or source is target:
        return
    if source._storage is not target._storage or 0 in (*source._shape, *target._shape):
        return
    if not (is_dense(target._shape, target._strides) and is_dense(source._shape, source._strides)):
        return
    one, two = target.__sm120_view__().byte_range, source.__sm120_view__().byte_range
    if one == two and target._strides == source._strides:
        return
    if max(one[0], two[0]) < min(one[1], two[1]):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            "operation."
        )
