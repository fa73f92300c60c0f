"""Operations whose result, or its size, depends on the contents: these must be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import nan
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import known_values
from pytest_sm120.stand_ins.torch_stand_in.operands import common_device, common_shape
from pytest_sm120.stand_ins.torch_stand_in.operation import (
    Computed,
    Operation,
    computing,
    materialize,
)
from pytest_sm120.stand_ins.torch_stand_in.pieces import unbind
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import (
    broadcast_known,
    read_values,
    refuse_foreign,
    unknown_operation,
)
from pytest_sm120.tensors.dtypes import DTYPES
from pytest_sm120.tensors.layouts import contiguous_strides

# torch.unique has an argument of this name.
ascending = sorted


def equal(call: str, input: Tensor, other: Any) -> bool:
    """Return whether two tensors have one shape and the same elements."""
    if not isinstance(other, Tensor):
        refuse_foreign(other)
        raise TypeError(
            f"equal(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}"
        )
    common_device((input, other))
    if tuple(input.shape) != tuple(other.shape):
        return False
    if input is other and input.numel() and input.is_cpu:
        # torch then looks for NaN alone, with a kernel that knows fewer dtypes.
        refuse_dtype("equal", input.dtype)
    pairs = zip(read_values(input, call), read_values(other, call), strict=True)
    return all(one == two for one, two in pairs)


def nonzero(call: str, input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not zero, a row or a view for each."""
    shape = tuple(input.shape) or ((1,) if as_tuple else ())
    if input.numel() and input.is_cpu:
        refuse_dtype("nonzero", input.dtype)
    found = [at for at, value in enumerate(read_values(input, call)) if value]
    steps = contiguous_strides(shape)
    rows = [at // step % size for at in found for size, step in zip(shape, steps, strict=True)]
    result = Computed(
        input,
        (len(found), len(shape)),
        DTYPES["int64"],
        rows,
        # torch finds the indices of one dimension after the other.
        (1, len(found)),
        differentiable=False,
    )
    made: Tensor = materialize(call, result)
    return unbind(call, made, 1) if as_tuple else made


def masked_select(input: Tensor, mask: Any) -> Computed:
    """Return the elements where a mask is true, in one dimension."""
    if not isinstance(mask, Tensor) or mask.dtype.kind != "bool":
        refuse_foreign(mask)
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    common_device((input, mask))
    shape = common_shape((input, mask))
    flags = broadcast_known(read_values(mask, "torch.masked_select"), mask.shape, shape)
    taken = [at for at, flag in enumerate(flags if isinstance(flags, list) else ()) if flag]
    if taken and input.is_cpu:
        refuse_dtype("masked_select", input.dtype)
    values = broadcast_known(known_values(input), input.shape, shape)
    known = [values[at] for at in taken] if isinstance(values, Sequence) else values
    return Computed(input, (len(taken),), input.dtype, known)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    """Return the different elements in order, and where and how often each is when asked."""
    if dim is not None:
        raise unknown_operation("torch.unique(..., dim=...)")
    if input.numel() and input.is_cpu:
        refuse_dtype("unique", input.dtype)
    values: list[Any] = read_values(input, "torch.unique")
    # NaN equals nothing, itself included, and comes last.
    numbers = Counter(value for value in values if value == value)
    missing = len(values) - sum(numbers.values())
    order: list[Any] = [*ascending(numbers), *([nan] * missing)]
    counts = [numbers.get(value, 1) for value in order]
    parts = [Computed(input, (len(order),), input.dtype, order, differentiable=False)]
    int64 = DTYPES["int64"]
    if return_inverse:
        if missing:
            raise unknown_operation("torch.unique(..., return_inverse=True) of NaN")
        inverse = [order.index(value) for value in values]
        parts.append(Computed(input, input.shape, int64, inverse, differentiable=False))
    if return_counts:
        parts.append(Computed(input, (len(order),), int64, counts, differentiable=False))
    return parts[0] if len(parts) == 1 else tuple(parts)


def assert_async(call: str, input: Tensor, assert_msg: str = "") -> None:
    """Raise RuntimeError when the only element is known to be zero; a card says so later."""
    if input.numel() != 1:
        bool(input)
    if known_values(input) is not None and not input.item():
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


#: The rows of every operation in this module.
CONTENTS_NEEDED = (
    Operation("equal", equal),
    Operation("_assert_async", assert_async, method=False),
    Operation("nonzero", nonzero),
    computing("masked_select", masked_select),
    computing("unique", unique),
)
