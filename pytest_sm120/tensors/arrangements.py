"""Ways to lay the same elements out in memory, to see who takes a tensor's strides for granted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_sm120.tensors.layouts import Shape, contiguous_strides

# As many elements as keep rows of every dtype 16-byte aligned, so that a wrapper which asks for
# aligned rows, as TMA does, has nothing to refuse.
_PADDING = 16

Arrange = Callable[[Sequence[int]], Shape]


def padded_strides(shape: Sequence[int]) -> Shape:
    """Return strides of rows that are part of longer rows; a single dimension stays as it is."""
    if len(shape) < 2:
        return contiguous_strides(shape)
    return contiguous_strides((*shape[:-1], shape[-1] + _PADDING))


def transposed_strides(shape: Sequence[int]) -> Shape:
    """Return strides whose last two dimensions lie in memory the other way round."""
    if len(shape) < 2:
        return contiguous_strides(shape)
    *outer, inner, last = contiguous_strides((*shape[:-2], shape[-1], shape[-2]))
    return (*outer, last, inner)


#: How ``sm120.tensor`` and ``sm120.values`` lay out what has two dimensions or more.
ARRANGEMENTS: dict[str, Arrange] = {"padded": padded_strides, "transposed": transposed_strides}
