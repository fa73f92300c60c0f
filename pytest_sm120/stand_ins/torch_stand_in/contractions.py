"""What is known of sums of products: of matrices, and of what torch.einsum names."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from pytest_sm120.stand_ins.torch_stand_in.memory import Known, convert_known
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import listed_values
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.layouts import contiguous_strides, element_offsets
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED

#: The letter of each dimension, as in an equation of torch.einsum.
Letters = Sequence[str]


def contract(
    operands: Sequence[Tensor], names: Sequence[Letters], result: Letters, dtype: DType
) -> Known:
    """Return the sums of products over the letters that the result leaves out.

    A dimension of size 1 goes with any size of its letter. None where an operand is not known, or
    where there are more products than are followed.
    """
    sizes = _sizes_of(operands, names)
    summed = [letter for letter in sizes if letter not in result]
    shape = tuple(sizes[letter] for letter in (*result, *summed))
    if prod(shape) > LARGEST_FOLLOWED:
        return None
    columns = []
    for operand, letters in zip(operands, names, strict=True):
        values = listed_values(operand)
        if values is None:
            return None
        offsets = _offsets(operand, letters, (*result, *summed), shape)
        columns.append([values[offset] for offset in offsets])
    step = prod(sizes[letter] for letter in summed)
    count = prod(sizes[letter] for letter in result)
    products = [prod(row) for row in zip(*columns, strict=True)]
    sums = [sum(products[at * step : (at + 1) * step]) for at in range(count)]
    return convert_known(sums, dtype)


def _sizes_of(operands: Sequence[Tensor], names: Sequence[Letters]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for operand, letters in zip(operands, names, strict=True):
        for letter, size in zip(letters, operand.shape, strict=True):
            sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
    return sizes


def _offsets(
    operand: Tensor, letters: Letters, order: Letters, shape: tuple[int, ...]
) -> Sequence[int]:
    """Return which element of the operand is the factor of each product."""
    steps = dict.fromkeys(order, 0)
    own = contiguous_strides(operand.shape)
    for letter, size, step in zip(letters, operand.shape, own, strict=True):
        steps[letter] += step if size > 1 else 0
    return element_offsets(shape, tuple(steps.values()), 0)
