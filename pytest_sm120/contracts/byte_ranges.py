"""Ranges of bytes in one storage: which of them a view names, and what others leave of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from pytest_sm120.recorder.records import TensorView
from pytest_sm120.tensors.dtypes import find_dtype
from pytest_sm120.tensors.layouts import element_offsets, is_dense

ByteRange = tuple[int, int]

# Runs of a strided view that are followed one by one; more would take longer than the check.
_MOST_RUNS = 16384


def ranges_of(view: TensorView) -> list[ByteRange]:
    """Return the bytes that a view names, gaps between its rows left out.

    Empty, as if it named none, where that would take more than 16384 ranges.
    """
    if is_dense(view.shape, view.strides):
        return [view.byte_range]
    size = find_dtype(view.dtype).itemsize
    outer, inner = _split(view)
    if prod(view.shape[:outer]) > _MOST_RUNS:
        return []
    starts = element_offsets(view.shape[:outer], view.strides[:outer], 0)
    low = view.byte_range[0]
    return merge((low + start * size, low + (start + inner) * size) for start in starts)


def _split(view: TensorView) -> tuple[int, int]:
    """Return how many dimensions lie outside the view's dense part, and that part's elements."""
    for outer in range(len(view.shape)):
        if is_dense(view.shape[outer:], view.strides[outer:]):
            return outer, prod(view.shape[outer:])
    return len(view.shape), 1


def merge(ranges: Iterable[ByteRange]) -> list[ByteRange]:
    """Return the same bytes in as few ranges as possible, in order."""
    merged: list[ByteRange] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def subtract(ranges: Sequence[ByteRange], taken: Iterable[ByteRange]) -> list[ByteRange]:
    """Return what is left of the ranges without the taken bytes."""
    left = list(ranges)
    for low, high in taken:
        parts = [((start, min(end, low)), (max(start, high), end)) for start, end in left]
        left = [part for pair in parts for part in pair if part[0] < part[1]]
    return left


def overlap(ranges: Sequence[ByteRange], others: Sequence[ByteRange]) -> bool:
    """Return whether the two have a byte in common."""
    return any(max(low, start) < min(high, end) for low, high in ranges for start, end in others)
