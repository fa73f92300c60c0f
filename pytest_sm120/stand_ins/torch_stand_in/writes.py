"""Operations that write into memory that is there: zero_, fill_, copy_ and resizing."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import (
    Known,
    known_values,
    record_allocation,
    refuse_overlap,
    refuse_update,
    write_in_place,
)
from pytest_sm120.stand_ins.torch_stand_in.overlaps import refuse_partial_overlap
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_overflow
from pytest_sm120.stand_ins.torch_stand_in.size import Size, read_sizes, refuse_negative
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import broadcast_known, refuse_foreign
from pytest_sm120.tensors.dtypes import DTYPES
from pytest_sm120.tensors.layouts import broadcast_shapes, contiguous_strides, extent
from pytest_sm120.tensors.storages import Number, Uniform

#: How torch names the C++ type of a dtype.
C_NAMES = {
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "int32": "int",
    **{name: f"{name}_t" for name in ("int8", "int16", "int64")},
    **{name: f"{name}_t" for name in ("uint8", "uint16", "uint32", "uint64")},
    **{name: f"c10::{name.capitalize()}" for name in DTYPES if name.startswith("float8")},
}  # fmt: skip


def zero_(call: str, input: Tensor) -> Tensor:
    """Set every element to 0 and return the tensor."""
    write_in_place(input, "zero_", Uniform(0, input.dtype), 0)
    return input


def fill_(call: str, input: Tensor, value: Any) -> Tensor:
    """Set every element to one value and return the tensor."""
    write_number(input, "fill_", value)
    return input


def write_number(input: Tensor, op: str, value: Any) -> None:
    """Set every element to a number, or to the value of a tensor with one element."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value.ndim} dimensions."
            )
        refuse_overlap(input)
        known = known_values(value)
        uniform = known if known is None or isinstance(known, Uniform) else one_value(value)
        write_in_place(input, op, uniform)
        return
    if not isinstance(value, (bool, int, float, complex)):
        refuse_foreign(value)
        raise TypeError(
            f"{op}() received an invalid combination of arguments - got ({type(value).__name__}), "
            "but expected one of:\n * (Tensor value)\n * (Number value)\n"
        )
    refuse_overflow(value, input.dtype)
    if isinstance(value, complex) and input.dtype.kind not in ("bool", "complex"):
        raise RuntimeError(
            f"value cannot be converted to type {C_NAMES[input.dtype.name]} without overflow"
        )
    write_in_place(input, op, Uniform(value, input.dtype), value)


def one_value(value: Tensor) -> Uniform:
    """Return the known value of a tensor with one element as that of all elements."""
    number: Number = value.item()
    return Uniform(number, value.dtype)


def copy_(call: str, input: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Copy another tensor's elements, broadcast and converted, and return the tensor."""
    if isinstance(other, (bool, int, float, complex)):
        write_number(input, "copy_", other)
        return input
    if not isinstance(other, Tensor):
        refuse_foreign(other)
        raise TypeError(
            f"copy_(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}"
        )
    refuse_overlap(input)
    refuse_partial_overlap(input, other)
    write_in_place(input, "copy_", broadcast_into(input, other))
    return input


def broadcast_into(target: Tensor, source: Tensor) -> Known:
    """Return what is known of the source, repeated to the target's shape; refuse other shapes."""
    missing = target.ndim - source.ndim
    if missing < 0:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(broadcast_shapes(target.shape, source.shape) or source.shape)}"
        )
    own = source.shape
    for position, size in enumerate(own, start=missing):
        if size not in (1, target.shape[position]):
            raise RuntimeError(
                f"The size of tensor a ({target.shape[position]}) must match the size of tensor b "
                f"({size}) at non-singleton dimension {position}"
            )
    return broadcast_known(known_values(source), own, target.shape)


def resize_(call: str, input: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give the tensor another shape, and its storage more memory when it needs that."""
    shape = read_sizes("resize_", sizes)
    refuse_negative(shape)
    refuse_update(input)
    if shape == tuple(input.shape):
        return input
    strides = contiguous_strides(shape)
    input.__dict__.update(_shape=Size(shape), _strides=strides)
    needed = (extent(shape, strides) + input.storage_offset()) * input.element_size()
    storage = input._storage
    if needed > storage.nbytes:
        storage.move(needed)
        record_allocation(input, call, None, uninitialized=True)
    return input


def set_data(call: str, input: Tensor, source: Tensor) -> Tensor:
    """Let the tensor name the source's memory and return it, as ``Tensor.set_``."""
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {C_NAMES.get(source.dtype.name, source.dtype.name)} to "
            f"a tensor of type {C_NAMES.get(input.dtype.name, input.dtype.name)}"
        )
    input.data = source
    return input


def share_nothing(call: str, input: Tensor, *args: Any) -> Any:
    """Return the tensor: pinning, sharing and stream notes change nothing that is recorded."""
    return input


def record_stream(call: str, input: Tensor, stream: Any) -> None:
    """Do nothing: the allocator of the card is not modelled."""
