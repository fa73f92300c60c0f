"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.contractions import contract
from pytest_sm120.stand_ins.torch_stand_in.memory import Known
from pytest_sm120.stand_ins.torch_stand_in.operands import broadcast_sizes, common_device
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.pieces import transposed_matrices
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import (
    listed_values,
    refuse_foreign,
    unknown_operation,
)
from pytest_sm120.tensors.layouts import Shape

# How torch's messages spell these dtypes in products of matrices.
_C_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half",
    "bfloat16": "c10::BFloat16", "int32": "int", "int64": "long int", "int8": "signed char",
    "uint8": "unsigned char", "int16": "short", "bool": "bool",
}  # fmt: skip


def _check_kinds(name: str, **operands: Any) -> None:
    for position, (argument, operand) in enumerate(operands.items(), 1):
        if not isinstance(operand, Tensor):
            refuse_foreign(operand)
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, not "
                f"{type(operand).__name__}"
            )


def check_operands(first: Tensor, second: Tensor) -> None:
    """Raise torch's error for operands of two devices or dtypes."""
    common_device((first, second))
    if first.dtype is not second.dtype:
        left, right = (_C_NAMES.get(t.dtype.name, t.dtype.name) for t in (first, second))
        if second.ndim > 2:
            names = [scalar_type_name(operand.dtype) for operand in (first, second)]
            raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {left} != {right}")


def mm(input: Tensor, mat2: Tensor) -> Computed:
    """Return the product of two matrices."""
    _check_kinds("mm", input=input, mat2=mat2)
    for name, matrix in (("self", input), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix")
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError(_wrong_inner(input, mat2))
    check_operands(input, mat2)
    known = contract((input, mat2), ("ab", "bc"), "ac", input.dtype)
    return Computed(input, (input.shape[0], mat2.shape[1]), input.dtype, known)


def _wrong_inner(first: Tensor, second: Tensor) -> str:
    left = f"{first.shape[:-1].numel()}x{first.shape[-1]}"
    return (
        f"mat1 and mat2 shapes cannot be multiplied ({left} and "
        f"{second.shape[0]}x{second.shape[1]})"
    )


def bmm(input: Tensor, mat2: Tensor) -> Computed:
    """Return the products of two batches of matrices."""
    _check_kinds("bmm", input=input, mat2=mat2)
    for name, batch in (("batch1", input), ("batch2", mat2)):
        if batch.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{input.shape[0]}, {input.shape[2]}] but got: [{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    if not (input.numel() and mat2.numel()):
        # torch returns before it looks at the first dtype.
        return Computed(input, (*input.shape[:2], mat2.shape[2]), mat2.dtype)
    refuse_dtype("bmm", input.dtype)
    check_operands(input, mat2)
    known = contract((input, mat2), ("zab", "zbc"), "zac", input.dtype)
    return Computed(input, (*input.shape[:2], mat2.shape[2]), input.dtype, known)


def matmul(input: Any, other: Any) -> Computed:
    """Return the product: of vectors, matrices or batches of matrices."""
    _check_kinds("matmul", input=input, other=other)
    if not input.ndim or not other.ndim:
        raise RuntimeError(
            "both arguments to matmul need to be at least 1D, but they are "
            f"{input.ndim}D and {other.ndim}D"
        )
    rows = input.shape[:-1][-1:]
    columns = other.shape[-1:] if other.ndim > 1 else ()
    inner = other.shape[-2] if other.ndim > 1 else other.shape[0]
    if input.shape[-1] != inner:
        raise RuntimeError(_wrong_inner_of_matmul(input, other))
    batch = _common_batch(input, other)
    kernel = _kernel_of_product(input, other)
    if kernel == "bmm":
        if input.numel():
            refuse_dtype(kernel, input.dtype)
        if not (input.numel() and other.numel()):
            return Computed(input, (*batch, *rows, *columns), other.dtype)
    check_operands(input, other)
    if kernel and input.numel() and other.numel():
        refuse_dtype(kernel, input.dtype)
    known = _known_product(input, other)
    return Computed(input, (*batch, *rows, *columns), input.dtype, known)


def _known_product(input: Tensor, other: Tensor) -> Known:
    batch = [str(at) for at in range(max(input.ndim, other.ndim) - 2)]
    leading = [batch[max(len(batch) + 2 - each.ndim, 0) :] for each in (input, other)]
    rows, columns = ["row"][: input.ndim - 1], ["column"][: other.ndim - 1]
    names = ([*leading[0], *rows, "inner"], [*leading[1], "inner", *columns])
    return contract((input, other), names, [*batch, *rows, *columns], input.dtype)


def _kernel_of_product(first: Tensor, second: Tensor) -> str:
    """Return which refusals hold; none where torch multiplies with what knows every dtype."""
    ranks = (first.ndim, second.ndim)
    if max(ranks) > 2 and not (min(ranks) <= 2 and _folds(first, second)):
        return "bmm"
    if ranks[1] == 1:
        return "dot" if ranks == (1, 1) else "mv"
    return ""


def _folds(first: Tensor, second: Tensor) -> bool:
    """Return whether torch takes the batch for the rows of one matrix."""
    if second.ndim > first.ndim and first.ndim == 2 and not second.numel():
        # torch asks after elements before it exchanges the operands.
        return False
    batch = first if first.ndim > second.ndim else transposed_matrices(second)
    shape, strides = batch.shape, batch.stride()
    steps = range(batch.ndim - 2)
    return not batch.numel() or all(strides[at] == strides[at + 1] * shape[at + 1] for at in steps)


def _wrong_inner_of_matmul(first: Tensor, second: Tensor) -> str:
    if first.ndim == 1 and second.ndim == 1:
        return (
            "inconsistent tensor size, expected tensor "
            f"[{first.shape[0]}] and src [{second.shape[0]}] to have the same number of elements, "
            f"but got {first.shape[0]} and {second.shape[0]} elements respectively"
        )
    rows, columns = first.shape[:-1].numel(), first.shape[-1]
    if second.ndim == 1:
        return f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({len(second)})"
    if second.ndim == 2:
        return _wrong_inner(first, second)
    count = prod(_common_batch(first, second))
    return (
        "Expected size for first two dimensions of batch2 tensor to be: "
        f"[{count}, {columns}] but got: [{count}, {second.shape[-2]}]."
    )


def _common_batch(first: Tensor, second: Tensor) -> Shape:
    return broadcast_sizes(tuple(first.shape[:-2]), tuple(second.shape[:-2]))


def linear(input: Tensor, weight: Tensor, bias: Any = None) -> Computed:
    """Return input times the transposed weight, plus the bias."""
    _check_kinds("linear", input=input, weight=weight)
    if not input.ndim:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{input.ndim}D and {weight.ndim}D"
        )
    as_batch = input.ndim > 2 and weight.ndim == 2 and not _folds(input, weight)
    if as_batch and input.numel() and weight.numel():
        refuse_dtype("bmm", input.dtype)
    check_operands(input, weight)
    if weight.ndim != 2:
        raise unknown_operation("torch.nn.functional.linear with a weight that is no matrix")
    if input.shape[-1:] != weight.shape[1:]:
        rows = f"{input.shape[:-1].numel()}x{input.shape[-1]}"
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows} and "
            f"{weight.shape[1]}x{weight.shape[0]})"
        )
    if prod(input.shape) and prod(weight.shape):
        refuse_dtype("linear", input.dtype)
    known = _known_product(input, transposed_matrices(weight))
    if bias is not None:
        known = _with_bias(known, bias)
    return Computed(input, (*input.shape[:-1], weight.shape[0]), input.dtype, known)


def _with_bias(known: Known, bias: Tensor) -> Known:
    added = listed_values(bias)
    if added is None or not isinstance(known, Sequence):
        return None
    return [value + added[at % len(added)] for at, value in enumerate(known)]


#: The rows of every operation in this module.
MATRICES = (
    computing("mm", mm, refusals="mm"),
    computing("bmm", bmm),
    computing("matmul", matmul, refusals="matmul"),
)

#: ``torch.nn.functional.linear``.
LINEAR = computing("linear", linear, method=False)
