"""torch.contiguous_format and its siblings, and torch.strided: orders of elements in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_sm120.tensors.layouts import (
    Shape,
    channels_last_strides,
    contiguous_strides,
    is_dense,
    result_strides,
)

if TYPE_CHECKING:
    from pytest_sm120.stand_ins.torch_stand_in.memory import View


@dataclass(frozen=True, eq=False, repr=False)
class MemoryFormat:
    """An order of elements in memory, as ``torch.memory_format``."""

    name: str

    def __repr__(self) -> str:
        return f"torch.{self.name}"


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """Dense or one of the sparse layouts, as ``torch.layout``; only dense ones are modelled."""

    name: str

    def __repr__(self) -> str:
        return f"torch.{self.name}"


PRESERVE = MemoryFormat("preserve_format")
STRIDED = Layout("strided")
MEMORY_FORMATS = {
    name: MemoryFormat(name) for name in ("contiguous_format", "channels_last", "channels_last_3d")
} | {"preserve_format": PRESERVE}

#: The only rank that a format is for.
#: The only rank that a format is for.
RANKS = {"channels_last": 4, "channels_last_3d": 5}


def strides_in_format(tensor: View, memory_format: MemoryFormat | None) -> Shape:
    """Return the strides of a new tensor of this shape in the format."""
    shape = tuple(tensor._shape)
    if memory_format is PRESERVE:
        return preserved_strides(shape, tensor._strides)
    return strides_of_shape(shape, memory_format)


def strides_of_shape(shape: Shape, memory_format: MemoryFormat | None) -> Shape:
    """Return the strides of a new tensor of this shape in the format."""
    if memory_format is PRESERVE:
        raise RuntimeError("unsupported memory format Preserve")
    if memory_format is None or memory_format.name == "contiguous_format":
        return contiguous_strides(shape)
    rank = RANKS[memory_format.name]
    if len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {memory_format.name} format")
    return channels_last_strides(shape)


def preserved_strides(shape: Shape, strides: Shape) -> Shape:
    """Return the strides of a copy that keeps the order of elements, without gaps."""
    if is_dense(shape, strides):
        return strides
    return result_strides(shape, [strides])
