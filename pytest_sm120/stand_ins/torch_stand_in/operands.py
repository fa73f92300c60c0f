"""What the operands of one computation have in common: execution, device, shape, geometry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import Known, convert_known, known_values
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import broadcast_known, refuse_foreign
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.layouts import (
    Shape,
    broadcast_strides,
    channels_last_strides,
    contiguous_strides,
    is_channels_last,
    is_contiguous,
    is_dense,
    result_strides,
)
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Number, Uniform

_NUMBERS = (bool, int, float, complex)


def is_operand(value: object) -> bool:
    """Return whether it is a tensor or a Python number."""
    return isinstance(value, (Tensor, *_NUMBERS))


def refuse_arguments(name: str, *given: object) -> None:
    """Raise torch's TypeError for arguments of which one is of no type that it takes."""
    for value in given:
        refuse_foreign(value)
    kinds = ", ".join(type(value).__name__ for value in given)
    raise TypeError(
        f"{name}() received an invalid combination of arguments - got ({kinds}), "
        "but expected one of:"
    )


def check_operand(name: str, value: Any, position: int = 2, tensors_only: bool = False) -> Any:
    """Return a tensor or a Python number; TypeError for anything else, as torch's."""
    if not isinstance(value, Tensor) and (tensors_only or not isinstance(value, _NUMBERS)):
        refuse_foreign(value)
        raise TypeError(
            f"{name}(): argument 'other' (position {position}) must be Tensor, not "
            f"{type(value).__name__}"
        )
    return value


def common_device(operands: Sequence[Any]) -> tuple[Tensor, Device]:
    """Return the tensor and the device that the result belongs to.

    RuntimeError for tensors on two devices; a CPU tensor without dimensions goes with any.
    """
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    placed = [tensor for tensor in tensors if tensor.ndim or not tensor.is_cpu] or tensors
    devices = list(dict.fromkeys(tensor.device for tensor in placed))
    if len(devices) > 1:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{devices[0]} and {devices[1]}!"
        )
    source = next((tensor for tensor in tensors if tensor.requires_grad), placed[0])
    return source, devices[0]


def common_shape(operands: Sequence[Any]) -> Shape:
    """Return the broadcast shape; RuntimeError in torch's words when there is none."""
    shape: Shape = ()
    for operand in operands:
        if isinstance(operand, Tensor):
            shape = broadcast_sizes(shape, tuple(operand.shape))
    return shape


def broadcast_sizes(first: Shape, second: Shape) -> Shape:
    """Return what two shapes broadcast to; RuntimeError in torch's words when they do not."""
    rank = max(len(first), len(second))
    left, right = (1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second
    for position in reversed(range(rank)):
        a, b = left[position], right[position]
        if a != b and 1 not in (a, b):
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {position}"
            )
    return tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))


def strides_of_result(operands: Sequence[Any], shape: Shape) -> Shape:
    """Return the strides that torch gives to an elementwise result.

    A Python number among the operands counts as a tensor without dimensions.
    """
    return strides_of_layouts([_layout_of(operand) for operand in operands], shape)


def strides_of_layouts(layouts: Sequence[tuple[Shape, Shape]], shape: Shape) -> Shape:
    """Return the strides of an elementwise result from the operands' shapes and strides."""
    if all(own == shape for own, _ in layouts):
        if all(is_contiguous(own, strides) for own, strides in layouts):
            return contiguous_strides(shape)
        if len(shape) == 4 and all(is_channels_last(*layout) for layout in layouts):
            return channels_last_strides(shape)
        if len({strides for _, strides in layouts}) == 1 and is_dense(*layouts[0]):
            return layouts[0][1]
    return result_strides(shape, [broadcast_strides(*layout, shape) for layout in layouts])


def _layout_of(operand: Any) -> tuple[Shape, Shape]:
    return (tuple(operand.shape), operand.stride()) if isinstance(operand, Tensor) else ((), ())


def compute_elements(
    function: Callable[..., Number],
    operands: Sequence[Any],
    shape: Shape,
    compute_dtype: DType | None,
    dtype: DType,
) -> Known:
    """Return what is known of an elementwise result.

    Operands are converted to ``compute_dtype`` first, unless that is None; None is returned when
    an operand is not known, or when the function or a conversion is not followed.
    """
    known = [_known_operand(operand, shape, compute_dtype) for operand in operands]
    if any(values is None for values in known):
        return None
    try:
        if all(isinstance(values, Uniform) for values in known):
            value = function(*(values.value for values in known if isinstance(values, Uniform)))
            return convert_known(Uniform(value, dtype), dtype)
        columns = [_as_list(values, prod(shape)) for values in known]
        return convert_known([function(*row) for row in zip(*columns, strict=True)], dtype)
    except (ArithmeticError, ValueError):
        return None


def _known_operand(operand: Any, shape: Shape, dtype: DType | None) -> Known:
    if not isinstance(operand, Tensor):
        # The dtype of a Uniform matters only where bytes are reinterpreted, which is not here.
        number = Uniform(operand, dtype) if dtype is not None else Uniform(operand, _ANY)
        return number if dtype is None else convert_known(number, dtype)
    known = known_values(operand)
    if dtype is not None and dtype is not operand.dtype:
        known = convert_known(known, dtype)
    if not isinstance(known, Uniform) and prod(shape) > LARGEST_FOLLOWED:
        return None
    return broadcast_known(known, operand.shape, shape)


_ANY = DType("any", 1, "any")


def _as_list(known: Known, count: int) -> Sequence[Number]:
    return [known.value] * count if isinstance(known, Uniform) else known or ()
