"""Refuses a write from a tensor that shares some of its memory with what is written."""

from __future__ import annotations

from pytest_sm120.stand_ins.torch_stand_in.memory import View
from pytest_sm120.tensors.layouts import is_dense


def is_same_memory(target: View, source: View) -> bool:
    """Return whether a write would change nothing; torch then looks no further."""
    return (
        source._storage is target._storage
        and source._dtype is target._dtype
        and source._shape == target._shape
        and source._strides == target._strides
        and source._offset == target._offset
    )


def may_change_while_read(target: View, source: View) -> bool:
    """Return whether a write may change elements of its source that are not read yet.

    What is written then depends on the order of the writes.
    """
    return source._storage is target._storage and _share_bytes(target, source)


def _share_bytes(target: View, source: View) -> bool:
    one, two = target.__sm120_view__().byte_range, source.__sm120_view__().byte_range
    return max(one[0], two[0]) < min(one[1], two[1])


def refuse_partial_overlap(target: View, source: object) -> None:
    """Raise RuntimeError, as torch does, when both share memory and differ in geometry.

    torch looks only at tensors without gaps; one that is written from itself is well.
    """
    if not isinstance(source, View) or source is target:
        return
    one, two = target.__sm120_view__().byte_range, source.__sm120_view__().byte_range
    if one == two and target._strides == source._strides:
        return
    refuse_any_overlap(target, source)


def refuse_any_overlap(target: View, source: View) -> None:
    """Raise RuntimeError, as torch does, when both share memory; tensors with gaps are let by."""
    if source._storage is not target._storage or 0 in (*source._shape, *target._shape):
        return
    if not (is_dense(target._shape, target._strides) and is_dense(source._shape, source._strides)):
        return
    if _share_bytes(target, source):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            "operation."
        )
