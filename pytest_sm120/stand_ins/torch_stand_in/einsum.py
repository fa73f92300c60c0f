"""torch.einsum for single letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.contractions import contract
from pytest_sm120.stand_ins.torch_stand_in.matrices import check_operands
from pytest_sm120.stand_ins.torch_stand_in.operands import strides_of_layouts
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.reductions import sum_
from pytest_sm120.stand_ins.torch_stand_in.refusals import find_refusal
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation
from pytest_sm120.stand_ins.torch_stand_in.views import reorder, unsqueeze
from pytest_sm120.tensors.layouts import Shape


def einsum(equation: str, *operands: Any) -> Any:
    """Return what an Einstein summation of single letters makes of the operands' shapes."""
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    text = equation.replace(" ", "")
    if "..." in text or not isinstance(equation, str):
        raise unknown_operation("torch.einsum with an ellipsis or sublists")
    left, arrow, right = text.partition("->")
    names = left.split(",")
    if len(names) != len(operands):
        raise RuntimeError(
            "einsum(): fewer operands were provided than specified in the equation"
            if len(names) > len(operands)
            else "einsum(): more operands were provided than specified in the equation"
        )
    for operand in operands[1:]:
        check_operands(operands[0], operand)
    sizes = _letter_sizes(names, operands)
    if not arrow:
        letters = left.replace(",", "")
        right = "".join(sorted(letter for letter in sizes if letters.count(letter) == 1))
    for letter in right:
        if letter not in sizes:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any "
                "input operand"
            )
    source: Tensor = operands[0]
    if len(operands) == 1:
        return _rearranged(source, left, right)
    shape = tuple(sizes[letter] for letter in right)
    strides = None
    if len(operands) == 2 and 0 not in shape:
        strides = _strides_of_pair(names, operands, right, shape)
    known = contract(operands, names, right, source.dtype)
    refusal = _find_refusal(names, operands, right)
    return Computed(source, shape, source.dtype, known, strides, refusal=refusal)


def _find_refusal(names: list[str], operands: tuple[Any, ...], right: str) -> Exception | None:
    """Return what the product of matrices raises; torch needs one where a letter is summed."""
    wide = [_wide_letters(*pair) for pair in zip(names, operands, strict=True)]
    summed = set.intersection(*wide) - {*right}
    if not summed or not all(operand.numel() for operand in operands):
        return None
    return find_refusal("bmm", operands[0].dtype)


def _strides_of_pair(
    names: list[str], operands: tuple[Any, ...], right: str, shape: Shape
) -> Sequence[int]:
    """Return the strides of the product of two operands.

    torch multiplies elementwise where nothing is summed, else as a batch of matrices: dimensions
    of both operands, then those of the operand that the result names first, then the others.
    """
    wide = [_wide_letters(*pair) for pair in zip(names, operands, strict=True)]
    if not set.intersection(*wide) - {*right}:
        layouts = [_layout_in_order(*pair, right) for pair in zip(names, operands, strict=True)]
        return strides_of_layouts(layouts, shape)
    own = [letter for letter in right if (letter in wide[0]) != (letter in wide[1])]
    rows = wide[0] if not own or own[0] in wide[0] else wide[1]

    def place(letter: str) -> int:
        return 0 if all(letter in each for each in wide) else 1 if letter in rows else 2

    order = sorted(range(len(right)), key=lambda at: place(right[at]))
    strides, step = [0] * len(right), 1
    for at in reversed(order):
        strides[at] = step
        step *= shape[at]
    return strides


def _wide_letters(letters: str, operand: Tensor) -> set[str]:
    return {letter for letter, size in zip(letters, operand.shape, strict=True) if size != 1}


def _layout_in_order(letters: str, operand: Tensor, right: str) -> tuple[Shape, Shape]:
    """Return shape and strides with what the operand has not as dimensions of size 1."""
    view, order = operand, letters
    for letter in right:
        if letter not in letters:
            view = unsqueeze("torch.einsum", view, view.ndim)
            order += letter
    view = reorder(view, [order.index(letter) for letter in right])
    return tuple(view.shape), tuple(view.stride())


def _rearranged(input: Tensor, left: str, right: str) -> Any:
    """Return a view with the dimensions in another order, or the sums over those left out."""
    if len({*left}) < len(left) or len({*right}) < len(right):
        raise unknown_operation("torch.einsum with a letter twice")
    order = [left.index(letter) for letter in right]
    summed = [place for place in range(len(left)) if place not in order]
    rearranged = reorder(input, [*order, *summed])
    if not summed:
        return rearranged
    return sum_(rearranged, tuple(range(len(order), len(left))))


def _letter_sizes(names: list[str], operands: tuple[Any, ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for position, (letters, operand) in enumerate(zip(names, operands, strict=True)):
        if len(letters) != operand.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(letters)}) does not "
                f"match the number of dimensions ({operand.ndim}) for operand {position} and no "
                "ellipsis was given"
            )
        for letter, size in zip(letters, operand.shape, strict=True):
            seen = sizes.setdefault(letter, size)
            if seen != size and 1 not in (seen, size):
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {size} for operand {position} which "
                    f"does not broadcast with previously seen size {seen}"
                )
            sizes[letter] = max(seen, size) if 0 not in (seen, size) else 0
    return sizes


#: The row of the operation in this module.
EINSUM = (computing("einsum", einsum, method=False, takes_list=True),)
