"""Makes tensors: new ones with memory of their own, and views of existing ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pytest_sm120.recorder.records import Allocation, Fill, TensorView
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.size import Size
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.layouts import (
    Shape,
    contiguous_strides,
    element_offsets,
    extent,
    may_overlap_itself,
)
from pytest_sm120.tensors.number_formats import convert_number
from pytest_sm120.tensors.storages import (
    LARGEST_FOLLOWED,
    Elements,
    Number,
    Storage,
    Uniform,
)

#: What is known of a tensor's elements: one value for all, each value in row-major order, nothing.
Known = Uniform | Sequence[Number] | None

INFERENCE_UPDATE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed."
    "You can make a clone to get a normal tensor before doing inplace update."
    "See https://github.com/pytorch/rfcs/pull/17 for more details."
)


class View:
    """The state behind every tensor: which elements of which storage it names."""

    _execution: Execution
    _storage: Storage
    _offset: int
    _shape: Size
    _strides: Shape
    _dtype: DType
    _requires_grad: bool
    #: The leaf that an in-place write must not reach, for a view of a parameter.
    _leaf: bool

    def __sm120_view__(self) -> TensorView:
        """Return the bytes that this tensor names, as plain data."""
        size = self._dtype.itemsize
        first = self._offset * size
        last = first + extent(self._shape, self._strides) * size
        return TensorView(
            shape=tuple(self._shape),
            strides=tuple(self._strides),
            dtype=self._dtype.name,
            device=str(self._storage.device),
            storage=self._storage.serial,
            byte_range=(first, last),
            storage_bytes=self._storage.nbytes,
        )

    def __sm120_forget__(self) -> None:
        """Note that a kernel, or a call into what is not there, may have written here."""
        self._execution.note_write(self._storage)
        self._storage.forget()


def make_tensor(
    kind: type[Any],
    execution: Execution,
    storage: Storage,
    shape: Sequence[int],
    strides: Sequence[int],
    dtype: DType,
    offset: int = 0,
) -> Any:
    """Return a tensor of this class that names elements of the storage."""
    tensor = object.__new__(kind)
    # Straight into the dict: classes of users may define __setattr__.
    tensor.__dict__.update(
        _execution=execution,
        _storage=storage,
        _offset=offset,
        _shape=Size(shape),
        _strides=tuple(strides),
        _dtype=dtype,
        _requires_grad=False,
        _leaf=True,
    )
    return tensor


def allocate(
    kind: type[Any],
    execution: Execution,
    call: str,
    shape: Sequence[int],
    dtype: DType,
    device: Device,
    *,
    strides: Sequence[int] | None = None,
    known: Known = None,
    fill: Number | None = None,
    uninitialized: bool = False,
) -> Any:
    """Return a tensor with memory of its own, and record the allocation.

    ``fill`` is the value that the call itself names; it is then also what is known. What is known
    to be the same everywhere, as in a copy of zeros, is recorded like a value that was named.
    """
    steps = contiguous_strides(shape) if strides is None else tuple(strides)
    storage = Storage(
        extent(shape, steps) * dtype.itemsize,
        device,
        inference=execution.inference,
        on_free=execution.recording.note_freed,
    )
    tensor = make_tensor(kind, execution, storage, shape, steps, dtype)
    if fill is not None:
        known = Uniform(fill, dtype)
    set_contents(tensor, known)
    record_allocation(tensor, call, _number_everywhere(known, dtype), uninitialized)
    return tensor


def _number_everywhere(known: Known, dtype: DType) -> Number | None:
    if isinstance(known, Uniform) and known.dtype is dtype:
        return known.value
    # Where there is one element, its value is that of every element.
    single = convert_known(known, dtype) if isinstance(known, list) and len(known) == 1 else None
    return single[0] if isinstance(single, list) else None


def record_allocation(tensor: View, call: str, fill: Number | None, uninitialized: bool) -> None:
    """Record that this tensor got memory of its own."""
    execution, view = tensor._execution, tensor.__sm120_view__()
    execution.recording.add(
        lambda place, order: Allocation(
            place,
            order,
            call=call,
            view=view,
            fill=fill,
            uninitialized=uninitialized,
        )
    )


def known_values(tensor: View) -> Known:
    """Return what is known of a tensor's elements."""
    contents, shape = tensor._storage.contents, tensor._shape
    if contents is None:
        return None
    if isinstance(contents, Uniform):
        seen = contents.as_dtype(tensor._dtype)
        if seen is not None:
            return seen
    if prod(shape) > LARGEST_FOLLOWED:
        return None
    offsets = element_offsets(shape, tensor._strides, tensor._offset)
    return tensor._storage.read(offsets, tensor._dtype)


def set_contents(tensor: View, known: Known) -> None:
    """Set the elements of a tensor to what is known of them; its storage follows."""
    storage, dtype = tensor._storage, tensor._dtype
    if prod(tensor._shape) == 0:
        return
    tensor._execution.note_write(storage)
    converted = convert_known(known, dtype)
    if converted == storage.contents and isinstance(converted, Uniform):
        return
    if isinstance(converted, Uniform) and _covers_all(tensor):
        storage.contents = converted
    elif converted is None or prod(tensor._shape) > LARGEST_FOLLOWED:
        storage.forget()
    else:
        _set_elements(tensor, converted)


def _set_elements(tensor: View, known: Uniform | Sequence[Number]) -> None:
    storage, dtype = tensor._storage, tensor._dtype
    offsets = element_offsets(tensor._shape, tensor._strides, tensor._offset)
    values = [known.value] * len(offsets) if isinstance(known, Uniform) else list(known)
    if _covers_all(tensor) and len(values) * dtype.itemsize == storage.nbytes:
        storage.contents = Elements([0] * len(values), dtype)
    storage.write(offsets, values, dtype)


def _covers_all(tensor: View) -> bool:
    count = prod(tensor._shape)
    whole = count * tensor._dtype.itemsize == tensor._storage.nbytes
    return whole and not may_overlap_itself(tensor._shape, tensor._strides)


def convert_known(known: Known, dtype: DType) -> Known:
    """Return the values as another dtype holds them, or None where that is not followed."""
    if known is None:
        return None
    try:
        if isinstance(known, Uniform):
            return Uniform(convert_number(known.value, dtype), dtype)
        return [convert_number(value, dtype) for value in known]
    except (ArithmeticError, ValueError):
        return None


def write_in_place(tensor: View, op: str, known: Known, value: Number | None = None) -> None:
    """Set a tensor's elements from host code, and record the fill; refuses what torch refuses."""
    refuse_update(tensor)
    execution, view = tensor._execution, tensor.__sm120_view__()
    set_contents(tensor, known)
    number = _number_everywhere(known, tensor._dtype) if value is None else value
    execution.recording.add(lambda place, order: Fill(place, order, op, view, number))


def refuse_write(tensor: View) -> None:
    """Raise RuntimeError, as torch does, when a kernel of the host must not write this tensor."""
    refuse_update(tensor)
    refuse_overlap(tensor)


def refuse_overlap(tensor: View) -> None:
    """Raise RuntimeError, as torch does, when two elements of the tensor share memory."""
    if may_overlap_itself(tensor._shape, tensor._strides):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def refuse_update(tensor: View) -> None:
    """Raise RuntimeError, as torch does, when autograd or inference mode forbids a write."""
    execution = tensor._execution
    if tensor._storage.inference and not execution.inference:
        raise RuntimeError(INFERENCE_UPDATE)
    if tensor._requires_grad and execution.grad_enabled and not execution.inference:
        what = "a leaf" if tensor._leaf else "a view of a leaf"
        raise RuntimeError(
            f"{what} Variable that requires grad is being used in an in-place operation."
        )
