"""torch.nn.functional.pad."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import Known, known_values
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_overflow
from pytest_sm120.stand_ins.torch_stand_in.selection import clone
from pytest_sm120.stand_ins.torch_stand_in.slicing import slice_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation
from pytest_sm120.tensors.layouts import Shape, contiguous_strides, element_offsets
from pytest_sm120.tensors.number_formats import convert_number
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Uniform


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Computed:
    """Return the tensor with elements added, or taken away, at the ends of its last dimensions."""
    if mode != "constant":
        raise unknown_operation(f'torch.nn.functional.pad(..., mode="{mode}")')
    widths = [int(width) for width in pad]
    if len(widths) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(widths) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(widths)} and input of dimension {input.ndim}"
        )
    kept = _cropped(input, widths)
    if max(widths, default=0) <= 0:
        return clone(kept)
    grown = [max(width, 0) for width in widths]
    before = _by_dimension(grown[0::2], input.ndim)
    after = _by_dimension(grown[1::2], input.ndim)
    shape = tuple(map(sum, zip(before, kept.shape, after, strict=True)))
    refuse_overflow(float(value or 0), input.dtype)
    known = _padded(kept, before, shape, value or 0)
    return Computed(input, shape, input.dtype, known)


def _by_dimension(widths: list[int], rank: int) -> list[int]:
    return [0] * (rank - len(widths)) + widths[::-1]


def _cropped(input: Tensor, widths: list[int]) -> Tensor:
    kept = input
    for at in range(0, len(widths), 2):
        dimension = input.ndim - 1 - at // 2
        start, size = max(-widths[at], 0), kept.shape[dimension]
        stop = size - max(-widths[at + 1], 0)
        if stop < start:
            raise RuntimeError("narrow(): length must be non-negative.")
        kept = slice_dimension(kept, dimension, start, stop, 1)
    return kept


def _padded(kept: Tensor, before: list[int], shape: Shape, value: Any) -> Known:
    known, steps = known_values(kept), contiguous_strides(shape)
    count = len(element_offsets((*shape,), (0,) * len(shape), 0)) if 0 not in shape else 0
    if known is None or count > LARGEST_FOLLOWED:
        return None
    listed = [known.value] * kept.numel() if isinstance(known, Uniform) else known
    start = sum(width * step for width, step in zip(before, steps, strict=True))
    made = [convert_number(value, kept.dtype)] * count
    places = element_offsets(tuple(kept.shape), steps, start)
    for place, number in zip(places, listed, strict=True):
        made[place] = number
    return made


#: ``torch.nn.functional.pad``.
PAD = computing("pad", pad, method=False)
