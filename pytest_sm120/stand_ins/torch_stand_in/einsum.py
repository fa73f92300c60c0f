"""torch.einsum for single letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.contractions import contract
from pytest_sm120.stand_ins.torch_stand_in.matrices import check_operands
from pytest_sm120.stand_ins.torch_stand_in.operands import strides_of_layouts
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.promotion import promote_types
from pytest_sm120.stand_ins.torch_stand_in.reductions import SUM, reduction_dtypes, sum_
from pytest_sm120.stand_ins.torch_stand_in.refusals import find_refusal
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation
from pytest_sm120.stand_ins.torch_stand_in.views import reorder, unsqueeze
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.layouts import Shape, contiguous_strides


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
    if any(len({*name}) < len(name) for name in (*names, right)):
        raise unknown_operation("torch.einsum with a letter twice")
    source: Tensor = operands[0]
    if len(operands) == 1:
        return _rearranged(source, left, right)
    shape = tuple(sizes[letter] for letter in right)
    if len(operands) > 2:
        known = contract(operands, names, right, source.dtype)
        return Computed(source, shape, source.dtype, known)
    pair = _Pair(names, operands, right)
    known = contract(operands, names, right, pair.dtype)
    strides = None if 0 in shape else pair.strides(shape)
    return Computed(source, shape, pair.dtype, known, strides, refusal=pair.refusal)


class _Pair:
    """How torch multiplies two operands.

    What is summed and is not wide in both of them is summed before. Then it multiplies elementwise
    where nothing is left to sum, else as a batch of matrices.
    """

    def __init__(self, names: list[str], operands: tuple[Any, ...], right: str) -> None:
        self._names, self._operands, self._right = names, operands, right
        self._wide = [_wide_letters(*pair) for pair in zip(names, operands, strict=True)]
        summed = {*names[0], *names[1]} - {*right}
        in_both = self._wide[0] & self._wide[1]
        self._summed_before = [bool(summed & own - in_both) for own in self._wide]
        self._multiplies = not summed & in_both
        self.dtype = self._find_dtype()
        self.refusal = self._find_refusal()

    def _find_dtype(self) -> DType:
        dtypes = [
            reduction_dtypes(SUM, operand, None)[1] if summed else operand.dtype
            for operand, summed in zip(self._operands, self._summed_before, strict=True)
        ]
        if dtypes[0] is not dtypes[1] and not self._multiplies:
            names = [scalar_type_name(dtype) for dtype in dtypes]
            raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
        return promote_types(*dtypes)

    def _find_refusal(self) -> Exception | None:
        for operand, summed in zip(self._operands, self._summed_before, strict=True):
            if summed and operand.numel() and find_refusal("sum", operand.dtype) is not None:
                return find_refusal("sum", operand.dtype)
        if self._multiplies or not all(operand.numel() for operand in self._operands):
            return None
        return find_refusal("bmm", self.dtype)

    def strides(self, shape: Shape) -> Sequence[int]:
        """Return the strides of the product, which has elements."""
        if self._multiplies:
            # What is not in the result is one element long by then, but has its place.
            others = "".join(sorted({*self._names[0], *self._names[1]} - {*self._right}))
            layouts = [self._layout(at, self._right + others) for at in range(2)]
            return strides_of_layouts(layouts, (*shape, *[1] * len(others)))[: len(shape)]
        strides, step = [0] * len(shape), 1
        for at in reversed(self._order()):
            strides[at] = step
            step *= shape[at]
        return strides

    def _layout(self, at: int, order: str) -> tuple[Shape, Shape]:
        letters, operand = self._names[at], self._operands[at]
        for letter in order:
            if letter not in letters:
                operand, letters = (
                    unsqueeze("torch.einsum", operand, operand.ndim),
                    letters + letter,
                )
        view = reorder(operand, [letters.index(letter) for letter in order])
        if not self._summed_before[at]:
            return tuple(view.shape), tuple(view.stride())
        kept = len(self._right)
        shape = (*view.shape[:kept], *[1] * (len(order) - kept))
        return shape, contiguous_strides(shape)

    def _order(self) -> list[int]:
        """Return the dimensions from the outermost: of both, of the first, the others."""
        wide, places = self._wide, range(len(self._right))
        both = [at for at in places if all(self._right[at] in each for each in wide)]
        first = [at for at in places if self._right[at] in wide[0] and at not in both]
        others = [at for at in places if at not in (*both, *first)]
        # torch exchanges the two where the result then needs no other order. What is summed before
        # stands behind all others.
        rest = {*self._names[0], *self._names[1]} - {*self._right} - (wide[0] & wide[1])
        exchanged = bool(first and others) and not rest and max(others) < min(first)
        return [*both, *(others + first if exchanged else first + others)]


def _wide_letters(letters: str, operand: Tensor) -> set[str]:
    return {letter for letter, size in zip(letters, operand.shape, strict=True) if size != 1}


def _rearranged(input: Tensor, left: str, right: str) -> Any:
    """Return a view with the dimensions in another order, or the sums over those left out."""
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
