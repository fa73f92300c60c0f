"""torch.softmax and torch.log_softmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, isfinite, log
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import Known
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.reductions import lines_of
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.running import unlined
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.tensors.storages import Number


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Computed:
    """Return the softmax along a dimension."""
    return _softmax(input, dim, dtype, _shares)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Computed:
    """Return the logarithm of the softmax along a dimension."""
    return _softmax(input, dim, dtype, _logarithms_of_shares)


def _softmax(
    input: Tensor, dim: int, dtype: Any, compute: Callable[[Sequence[Any]], list[Number]]
) -> Computed:
    axis = wrap_dimension(dim, input.ndim)
    wanted = dtype or input.dtype
    if input.numel():
        refuse_dtype("softmax_last" if axis == max(input.ndim - 1, 0) else "softmax", wanted)
    lines = lines_of(input, [axis] if input.ndim else [], wanted)
    known: Known = None
    if (
        lines is not None
        and input.numel()
        and all(isfinite(value) for line in lines for value in line)
    ):
        known = unlined(input, axis, [compute(line) for line in lines])
    return Computed(input, input.shape, wanted, known)


def _logarithms_of_shares(line: Sequence[Any]) -> list[Number]:
    largest = max(line)
    total = log(sum(exp(value - largest) for value in line))
    return [value - largest - total for value in line]


def _shares(line: Sequence[Any]) -> list[Number]:
    return [exp(value.real) for value in _logarithms_of_shares(line)]


#: The rows of every operation in this module.
SOFTMAX = (
    computing("softmax", softmax),
    computing("log_softmax", log_softmax),
)
