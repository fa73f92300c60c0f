"""Operations that put tensors together or choose between them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import Known, known_values
from pytest_sm120.stand_ins.torch_stand_in.operands import (
    check_operand,
    common_device,
    common_shape,
    compute_elements,
    is_operand,
    refuse_arguments,
    strides_of_result,
)
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, Operation, computing
from pytest_sm120.stand_ins.torch_stand_in.promotion import result_type
from pytest_sm120.stand_ins.torch_stand_in.refusals import find_refusal, refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import (
    refuse_foreign,
    unknown_operation,
)
from pytest_sm120.stand_ins.torch_stand_in.views import unsqueeze
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Number, Uniform


def _check_tensors(name: str, tensors: Any) -> list[Tensor]:
    if not isinstance(tensors, (tuple, list)):
        refuse_foreign(tensors)
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            refuse_foreign(tensor)
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got "
                f"{type(tensor).__name__}"
            )
    return list(tensors)


def cat(tensors: Any, dim: int = 0) -> Computed:
    """Return the tensors one after the other along a dimension."""
    given = _check_tensors("cat", tensors)
    if not given:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for position, tensor in enumerate(given):
        if not tensor.ndim:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            )
    # For the sake of old code, torch leaves out tensors of shape (0,).
    kept = [tensor for tensor in given if tuple(tensor.shape) != (0,)] or given[:1]
    nothing = tuple(kept[0].shape) == (0,)
    axis = 0 if nothing else wrap_dimension(dim, kept[0].ndim)
    for position, tensor in enumerate(kept):
        _refuse_other_sizes(kept[0], tensor, axis, position)
    source, device = common_device(given)
    dtype = result_type(given, source._execution.default_dtype)
    shape = list(kept[0].shape)
    shape[axis] = sum(tensor.shape[axis] for tensor in kept)
    known = _joined(kept, axis, prod(shape))
    return Computed(source, shape, dtype, known, device=device)


def _refuse_other_sizes(first: Tensor, tensor: Tensor, axis: int, position: int) -> None:
    if tensor.ndim != first.ndim:
        raise RuntimeError(
            f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim}"
        )
    for dimension, (size, wanted) in enumerate(zip(tensor.shape, first.shape, strict=True)):
        if dimension != axis and size != wanted:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {axis}. Expected size {wanted} "
                f"but got size {size} for tensor number {position} in the list."
            )


def _joined(tensors: Sequence[Tensor], axis: int, count: int) -> Known:
    known = [known_values(tensor) for tensor in tensors]
    if any(values is None for values in known) or count > LARGEST_FOLLOWED:
        return _same_everywhere(known)
    rows = prod(tensors[0].shape[:axis])
    blocks = [list(_listed(values, tensor)) for values, tensor in zip(known, tensors, strict=True)]
    widths = [len(block) // rows if rows else 0 for block in blocks]
    joined: list[Number] = []
    for row in range(rows):
        for block, width in zip(blocks, widths, strict=True):
            joined += block[row * width : (row + 1) * width]
    return joined


def _listed(known: Known, tensor: Tensor) -> Sequence[Number]:
    return [known.value] * tensor.numel() if isinstance(known, Uniform) else known or ()


def _same_everywhere(known: Sequence[Known]) -> Known:
    uniform = [values for values in known if isinstance(values, Uniform)]
    same = len(uniform) == len(known) and len({(one.value, one.dtype.name) for one in uniform}) == 1
    return uniform[0] if same else None


def stack(tensors: Any, dim: int = 0) -> Computed:
    """Return the tensors side by side along a new dimension."""
    given = _check_tensors("stack", tensors)
    if not given:
        raise RuntimeError("stack expects a non-empty TensorList")
    for position, tensor in enumerate(given):
        if tuple(tensor.shape) != tuple(given[0].shape):
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(given[0].shape)} at "
                f"entry 0 and {list(tensor.shape)} at entry {position}"
            )
    axis = wrap_dimension(dim, given[0].ndim + 1)
    return cat([unsqueeze("torch.stack", tensor, axis) for tensor in given], axis)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Return elements of one tensor where the condition holds, of the other elsewhere."""
    if input is None or other is None:
        raise unknown_operation("torch.where with a condition only, whose result has a size that "
                                "depends on the contents,")  # fmt: skip
    if not (isinstance(condition, Tensor) and is_operand(input) and is_operand(other)):
        refuse_arguments("where", condition, input, other)
    if condition.dtype.name not in ("bool", "uint8"):
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{scalar_type_name(condition.dtype)}"
        )
    operands = (condition, input, other)
    source, device = common_device(operands)
    dtype = result_type((input, other), source._execution.default_dtype)
    refuse_dtype("where", dtype)
    shape = common_shape(operands)
    known = compute_elements(lambda c, a, b: a if c else b, operands, shape, None, dtype)
    return Computed(source, shape, dtype, known, strides_of_result(operands, shape), device=device)


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Computed:
    """Return the tensor with one value where the mask holds."""
    if not (isinstance(mask, Tensor) and is_operand(value)):
        refuse_arguments("masked_fill", mask, value)
    if mask.dtype.kind != "bool":
        kind = mask.dtype.name
        named = {"float32": "float", "float64": "double", "int32": "int", "int64": "long int"}
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{named.get(kind, kind)}"
        )
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    common_device((input, mask))
    shape = common_shape((mask, input))
    refuse_dtype("masked_fill", input.dtype)
    operands = (input, mask, value)
    known = compute_elements(lambda a, m, v: v if m else a, operands, shape, None, input.dtype)
    # torch fills a row-major copy.
    return Computed(input, shape, input.dtype, known)


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Computed:
    """Return the elements, none below ``min`` or above ``max``."""
    bounds = [bound for bound in (min, max) if bound is not None]
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    for bound in bounds:
        check_operand("clamp", bound)
    operands = (input, *bounds)
    source, device = common_device(operands)
    dtype = result_type(operands, source._execution.default_dtype)
    named = "clamp" if len(bounds) == 2 else "clamp_min" if max is None else "clamp_max"
    # torch has another kernel where a bound is a tensor and there is one bound.
    numbers = not isinstance(bounds[0], Tensor)
    refusal = _refusal_of_clamp(named, dtype, numbers)
    if dtype.kind == "bool" and (numbers or len(bounds) == 2):
        refusal = NotImplementedError(f"\"{named}_scalar_cpu\" not implemented for 'Bool'")
    shape = common_shape(operands)

    def clamped(value: Any, *limits: Any) -> Any:
        limit = dict(zip([name for name, b in (("min", min), ("max", max)) if b is not None],
                         limits, strict=True))  # fmt: skip
        if "min" in limit and value < limit["min"]:
            value = limit["min"]
        return limit["max"] if "max" in limit and value > limit["max"] else value

    known = None
    if refusal is None:
        known = compute_elements(clamped, operands, shape, dtype, dtype)
    read = [operand for operand in operands if isinstance(operand, Tensor)]
    strides = strides_of_result(read, shape)
    return Computed(source, shape, dtype, known, strides, device=device, refusal=refusal)


def _refusal_of_clamp(named: str, dtype: DType, numbers: bool) -> Exception | None:
    try:
        return find_refusal(named, dtype)
    except NotImplementedError as error:
        if numbers:
            raise
        # Where a bound is a tensor, torch looks at the geometry first.
        return error


def clamp_min(input: Tensor, min: Any) -> Computed:
    """Return the elements, none below ``min``."""
    return clamp(input, min=min)


def clamp_max(input: Tensor, max: Any) -> Computed:
    """Return the elements, none above ``max``."""
    return clamp(input, max=max)


#: The rows of every operation in this module.
JOINING = (
    computing("cat", cat, method=False, takes_list=True),
    computing("concat", cat, method=False, takes_list=True),
    computing("concatenate", cat, method=False, takes_list=True),
    computing("stack", stack, method=False, takes_list=True),
    computing("where", where, method=False, takes_list=True),
    Operation("where", lambda call, input, condition, other: computing("where", where).run(
        call, condition, input, other), function=False),
    computing("masked_fill", masked_fill, in_place=True),
    computing("clamp", clamp, in_place=True),
    computing("clip", clamp, in_place=True),
    computing("clamp_min", clamp_min, in_place=True),
    computing("clamp_max", clamp_max, in_place=True),
)  # fmt: skip
