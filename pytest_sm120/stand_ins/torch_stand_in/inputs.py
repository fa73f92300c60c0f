"""What a test gives and asks for: input tensors, and the contents of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from pytest_sm120.errors import UsageError
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.devices import read_device
from pytest_sm120.stand_ins.torch_stand_in.given_values import GivenValues, read_nested
from pytest_sm120.stand_ins.torch_stand_in.memory import Known, make_tensor, set_contents
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import nested, read_values
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DType, find_dtype
from pytest_sm120.tensors.layouts import Shape, contiguous_strides, extent
from pytest_sm120.tensors.number_formats import FLOATS, integer_limits
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Number, Storage

Arrange = Callable[[Sequence[int]], Shape]


def input_tensor(
    execution: Execution,
    shape: int | Sequence[int],
    dtype: object = "float32",
    device: object = "cuda:0",
    strides: Sequence[int] | None = None,
    arrange: Arrange = contiguous_strides,
) -> Tensor:
    """Return a tensor whose contents nobody knows; it is not recorded as an allocation.

    ``arrange`` gives the strides of a shape where none are given.

    With strides, the storage reaches to the end of the last step of every dimension: four pages
    149760 bytes apart are a pool of four whole pages, however few bytes of each the shape names.
    Raises UsageError for a shape, strides, a dtype or a device that no tensor can have.
    """
    sizes = _read_whole_numbers("shape", (shape,) if isinstance(shape, int) else shape)
    steps = arrange(sizes) if strides is None else _read_strides(sizes, strides)
    return _make(execution, sizes, steps, find_dtype(dtype), device, None)


def input_values(
    execution: Execution,
    values: Any,
    dtype: object = None,
    device: object = "cuda:0",
    arrange: Arrange = contiguous_strides,
) -> Tensor:
    """Return a tensor with these contents; it is not recorded as an allocation.

    ``values`` is a number, nested lists or tuples of numbers, or a numpy array. Raises UsageError
    for lists of unequal lengths, for what is no number, and for numbers the dtype cannot hold.
    """
    given = _read_given(values)
    wanted = given.dtype(execution.default_dtype) if dtype is None else find_dtype(dtype)
    if len(given.known) > LARGEST_FOLLOWED:
        raise UsageError(
            f"sm120.values got {len(given.known)} numbers.",
            limit=f"The record tier follows the contents of at most {LARGEST_FOLLOWED} elements.",
            remedy="Give a smaller example, or use sm120.tensor when the contents do not matter.",
        )
    for value in given.known:
        _refuse_unfitting(value, wanted)
    return _make(execution, given.shape, arrange(given.shape), wanted, device, given.known)


def contents(tensor: object) -> Any:
    """Return the known values of a tensor as nested lists; a number for no dimensions.

    Raises UnknownValue when they are not known.
    """
    if not isinstance(tensor, Tensor):
        raise UsageError(
            f"The contents of {tensor!r} were asked for.",
            limit="Only a tensor of this test has contents.",
            remedy="Pass a tensor that sm120.tensor, sm120.values or the code under test made.",
        )
    return nested(read_values(tensor, "sm120.numpy(tensor)"), tensor.shape)


def _make(
    execution: Execution, shape: Shape, strides: Shape, dtype: DType, device: object, known: Known
) -> Tensor:
    steps = [size * stride for size, stride in zip(shape, strides, strict=True)]
    count = max(extent(shape, strides), *steps, 0) if 0 not in shape else 0
    place = _read_device(execution, device)
    storage = Storage(count * dtype.itemsize, place, on_free=execution.recording.note_freed)
    made: Tensor = make_tensor(Tensor, execution, storage, shape, strides, dtype)
    if known is not None:
        set_contents(made, known)
    return made


def _read_whole_numbers(what: str, numbers: Any) -> Shape:
    try:
        read = tuple(index(number) for number in numbers)
    except TypeError:
        read = (-1,)
    if any(number < 0 for number in read):
        raise UsageError(
            f"{numbers!r} is no {what} of a tensor.",
            limit=f"A {what} is a sequence of whole numbers that are not negative.",
            remedy=f"Write it as a tuple, e.g. {what}=(4, 128).",
        )
    return read


def _read_strides(shape: Shape, strides: Sequence[int]) -> Shape:
    steps = _read_whole_numbers("strides", strides)
    if len(steps) != len(shape):
        raise UsageError(
            f"The strides {steps!r} do not fit the shape {shape!r}.",
            limit="There is one stride, counted in elements, for each dimension.",
            remedy=f"Give {len(shape)} strides, or none for a contiguous tensor.",
        )
    return steps


def _read_device(execution: Execution, device: object) -> Device:
    try:
        return read_device(execution, device)
    except (RuntimeError, TypeError) as error:
        raise UsageError(
            f"{device!r} is not a device that a tensor can have here: {error}",
            limit="Known are cpu, meta, cuda and cuda:0 to cuda:7.",
            remedy='Name the device as a string, e.g. device="cuda:0".',
        ) from error


def _read_given(values: Any) -> GivenValues:
    try:
        return read_nested(values)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"sm120.values cannot read these values: {error}.",
            limit="Accepted are numbers, nested lists of equal lengths, and numpy arrays of "
            "numbers.",
            remedy="Write the values as nested lists, e.g. [[0, 1], [2, -1]].",
        ) from error


def _refuse_unfitting(value: Number, dtype: DType) -> None:
    if not _fits(value, dtype):
        raise UsageError(
            f"sm120.values got {value!r}, which {dtype.name} cannot hold.",
            limit=f"{dtype.name} holds {_range_of(dtype)}.",
            remedy="Give a value in that range, or another dtype=.",
        )


def _fits(value: Number, dtype: DType) -> bool:
    if dtype.kind == "complex":
        return True
    if isinstance(value, complex):
        return False
    if dtype.kind == "bool":
        return value in (0, 1)
    if dtype.kind == "float":
        limits = FLOATS.get(dtype.name)
        return limits is not None and (not math.isfinite(value) or abs(value) <= limits.max)
    limits_of = integer_limits(dtype)
    return value == value // 1 and limits_of.min <= value <= limits_of.max


def _range_of(dtype: DType) -> str:
    if dtype.kind == "bool":
        return "True and False"
    if dtype.kind == "float":
        limits = FLOATS.get(dtype.name)
        return "no single numbers" if limits is None else f"{limits.min} to {limits.max}"
    limits_of = integer_limits(dtype)
    return f"whole numbers from {limits_of.min} to {limits_of.max}"
