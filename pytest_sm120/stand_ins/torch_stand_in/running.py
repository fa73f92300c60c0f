"""Running sums and products along a dimension."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, Operation, computing
from pytest_sm120.stand_ins.torch_stand_in.reductions import SUM, lines_of, reduction_dtypes
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.writes import C_NAMES
from pytest_sm120.tensors.storages import Number


def _running(name: str, step: Callable[[Any, Any], Any]) -> Callable[..., Computed]:
    def running(input: Tensor, dim: int, *, dtype: Any = None) -> Computed:
        axis = wrap_dimension(dim, input.ndim)
        compute, result = reduction_dtypes(SUM, input, dtype)
        if input.numel() and input.ndim:
            refuse_dtype(name, compute)
        lines = lines_of(input, [axis] if input.ndim else [], compute)
        known = None if lines is None else unlined(input, axis, [
            list(accumulate(line, step)) for line in lines
        ])  # fmt: skip
        return Computed(input, input.shape, result, known)

    running.__name__ = running.__qualname__ = name
    return running


def unlined(input: Tensor, axis: int, lines: Sequence[Sequence[Number]]) -> list[Number]:
    """Return elements given line by line in row-major order of the tensor's shape."""
    inner = prod(input.shape[axis + 1 :])
    size = input.shape[axis] if input.ndim else 1
    return [
        lines[(place // (size * inner)) * inner + place % inner][place // inner % size]
        for place in range(input.numel())
    ]


def _row(name: str, step: Callable[[Any, Any], Any]) -> Operation:
    running = _running(name, step)

    def in_place(input: Tensor, dim: int, *, dtype: Any = None) -> Computed:
        wrap_dimension(dim, input.ndim)
        wanted = input.dtype if dtype is None else dtype
        if wanted is not input.dtype:
            own, other = (C_NAMES.get(each.name, each.name) for each in (input.dtype, wanted))
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {own} and output tensor dtype {other} "
                "should match"
            )
        return running(input, dim, dtype=wanted)

    return computing(name, running)._replace(in_place=in_place)


#: The rows of every operation in this module.
RUNNING = (
    _row("cumsum", operator.add),
    _row("cumprod", operator.mul),
)
