"""Indexing with tensors: integer tensors and masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.given_values import read_nested
from pytest_sm120.stand_ins.torch_stand_in.memory import (
    Known,
    convert_known,
    known_values,
    make_tensor,
    refuse_update,
    set_contents,
    write_in_place,
)
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, materialize
from pytest_sm120.stand_ins.torch_stand_in.overlaps import refuse_any_overlap
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import (
    broadcast_known,
    read_values,
    refuse_foreign,
)
from pytest_sm120.tensors.dtypes import DTYPES
from pytest_sm120.tensors.layouts import (
    Shape,
    broadcast_shapes,
    broadcast_strides,
    contiguous_strides,
    element_offsets,
    result_strides,
)
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Number, Storage, Uniform


@dataclass(frozen=True, eq=False)
class Pick:
    """The indices that one dimension is read with."""

    shape: Shape
    strides: Shape
    known: Known


@dataclass(frozen=True, eq=False)
class Plan:
    """How a tensor is read with several index tensors at once."""

    source: Tensor
    #: The picked dimensions and their indices, all broadcast to one shape.
    picks: dict[int, Pick]
    #: The common shape of the indices.
    index_shape: Shape

    @property
    def adjacent(self) -> bool:
        """Whether the index dimensions stay where the picked ones were, instead of in front."""
        dimensions = sorted(self.picks)
        return dimensions == list(range(dimensions[0], dimensions[0] + len(dimensions)))

    @property
    def outer(self) -> list[int]:
        """The dimensions of the source that stay in front of the index dimensions."""
        return list(range(min(self.picks))) if self.adjacent else []

    @property
    def inner(self) -> list[int]:
        """The dimensions of the source that come after the index dimensions."""
        taken = {*self.picks, *self.outer}
        return [dimension for dimension in range(self.source.ndim) if dimension not in taken]

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        sizes = self.source.shape
        outer = tuple(sizes[dimension] for dimension in self.outer)
        return (*outer, *self.index_shape, *(sizes[dimension] for dimension in self.inner))

    def strides(self) -> Shape:
        """Return the strides that torch gives to the result."""
        steps, count = self.source.stride(), len(self.index_shape)
        own = [steps[dimension] for dimension in self.outer]
        operands = [(*own, *(0,) * count, *(steps[dimension] for dimension in self.inner))]
        for pick in self.picks.values():
            index_steps = broadcast_strides(pick.shape, pick.strides, self.index_shape)
            operands.append(((0,) * len(self.outer)) + index_steps + (0,) * len(self.inner))
        return result_strides(self.shape, operands)

    def refuse_outside(self) -> None:
        """Raise IndexError for a known index out of bounds, also where no element is known."""
        # Its message counts the picked dimensions only, as torch's does.
        for at, (dimension, pick) in enumerate(self.picks.items()):
            known, size = pick.known, self.source.shape[dimension]
            for value in [known.value] if isinstance(known, Uniform) else known or ():
                if 0 not in self.shape and not -size <= value.real < size:
                    raise IndexError(
                        f"index {value} is out of bounds for dimension {at} with size {size}"
                    )

    def offsets(self) -> list[int] | None:
        """Return the storage index of every element of the result; None when not known."""
        if any(pick.known is None for pick in self.picks.values()):
            return None
        picked = [0] * len(element_offsets(self.index_shape, (0,) * len(self.index_shape), 0))
        for dimension, pick in self.picks.items():
            step = self.source.stride(dimension)
            for at, value in enumerate(self._indices(dimension, pick, len(picked))):
                picked[at] += value * step
        outer, inner = self._steps(self.outer), self._steps(self.inner)
        start = self.source.storage_offset()
        return [start + a + b + c for a in outer for b in picked for c in inner]

    def _steps(self, dimensions: list[int]) -> list[int]:
        sizes = tuple(self.source.shape[dimension] for dimension in dimensions)
        return element_offsets(sizes, tuple(self.source.stride(at) for at in dimensions), 0)

    def _indices(self, dimension: int, pick: Pick, count: int) -> list[int]:
        known = broadcast_known(pick.known, pick.shape, self.index_shape)
        values: Sequence[Any] = [known.value] * count if isinstance(known, Uniform) else known or ()
        return [int(value) % self.source.shape[dimension] for value in values]


def read_picked(source: Tensor, tensors: dict[int, Tensor]) -> Tensor:
    """Return a new tensor of the picked elements."""
    plan = _plan(source, tensors)
    known: Known = known_values(source)
    plan.refuse_outside()
    if not isinstance(known, Uniform):
        offsets = plan.offsets() if known is not None else None
        known = None if offsets is None else source._storage.read(offsets, source.dtype)
    result = Computed(source, plan.shape, source.dtype, known=known, strides=plan.strides())
    made: Tensor = materialize("Tensor.__getitem__", result)
    return made


def write_picked(target: Tensor, tensors: dict[int, Tensor], value: Any) -> None:
    """Write a number or a tensor to the picked elements."""
    refuse_update(target)
    given = value if isinstance(value, Tensor) else _number(target, value)
    is_fill = _is_fill(target, tensors, given)
    if not is_fill:
        refuse_any_overlap(target, given)
    unknown = any(is_unknown_mask(tensor) for tensor in tensors.values())
    plan = None if unknown else _plan(target, tensors)
    if plan is not None and not target.numel():
        plan.refuse_outside()
    if is_fill:
        refuse_dtype("masked_fill", target.dtype)
        known = convert_known(known_values(given), target.dtype)
        given = _without_record(target, (), known, target.dtype.name)
    _refuse_other_dtype(target, given)
    if plan is None:
        write_in_place(target, "__setitem__", None)
        return
    _refuse_wrong_shape(given, plan.shape)
    plan.refuse_outside()
    known = broadcast_known(known_values(given), given.shape, plan.shape)
    _write(target, plan, known)


def _refuse_other_dtype(target: Tensor, given: Tensor) -> None:
    if given.dtype is not target.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{scalar_type_name(target.dtype)} for the destination and "
            f"{scalar_type_name(given.dtype)} for the source."
        )


def _is_fill(target: Tensor, tensors: dict[int, Tensor], given: Tensor) -> bool:
    """Return whether torch fills through a mask, which converts a value not on a card."""
    [first, *others] = tensors.values()
    return (
        given.numel() == 1
        and given.device.type in ("cpu", "meta")
        and not others
        and first.dtype.name in ("bool", "uint8")
        and first.device == target.device
    )


def _write(target: Tensor, plan: Plan, known: Known) -> None:
    small = target._storage.nbytes // target.element_size() <= LARGEST_FOLLOWED
    offsets = plan.offsets() if known is not None and small else None
    before = target._storage.contents
    write_in_place(target, "__setitem__", None)
    if offsets is not None and known is not None:
        target._storage.contents = before
        values = [known.value] * len(offsets) if isinstance(known, Uniform) else list(known)
        target._storage.write(offsets, values, target.dtype)


def is_unknown_mask(tensor: Tensor) -> bool:
    """Return whether this mask picks nobody knows how many elements."""
    return tensor.dtype.kind == "bool" and known_values(tensor) is None and tensor.numel() > 0


def _number(target: Tensor, value: Any) -> Tensor:
    if not isinstance(value, (bool, int, float, complex)):
        refuse_foreign(value)
        raise TypeError(
            f"can't assign a {type(value).__name__} to a "
            f"torch.{scalar_type_name(target.dtype)}Tensor"
        )
    known = convert_known(Uniform(value, target.dtype), target.dtype)
    return _without_record(target, (), known, target.dtype.name)


def tensor_of_numbers(like: Tensor, data: Any) -> Tensor:
    """Return a tensor of the numbers in a list used as an index; no allocation is recorded."""
    given = read_nested(data)
    dtype = given.dtype(DTYPES["float32"]) if given.known else DTYPES["int64"]
    return _without_record(like, given.shape, given.known, dtype.name)


def _without_record(like: Tensor, shape: Shape, known: Known, dtype_name: str) -> Tensor:
    dtype = DTYPES[dtype_name]
    strides = contiguous_strides(shape)
    count = len(element_offsets(shape, strides, 0))
    storage = Storage(count * dtype.itemsize, like.device)
    made: Tensor = make_tensor(Tensor, like._execution, storage, shape, strides, dtype)
    set_contents(made, known)
    return made


def _refuse_wrong_shape(value: Tensor, wanted: Shape) -> None:
    sizes = list(value.shape)
    while len(sizes) > len(wanted) and sizes[0] == 1:
        del sizes[0]
    if broadcast_shapes(sizes, wanted) != tuple(wanted):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to "
            f"indexing result of shape {list(wanted)}"
        )


def _plan(source: Tensor, tensors: dict[int, Tensor]) -> Plan:
    picks: dict[int, Pick] = {}
    for dimension, tensor in tensors.items():
        if tensor.dtype.kind == "bool" or tensor.dtype.name == "uint8":
            picks.update(_picks_of_mask(source, dimension, tensor))
        elif tensor.dtype.name in ("int64", "int32"):
            pick = Pick(tuple(tensor.shape), tensor.stride(), known_values(tensor))
            picks[dimension] = pick
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    shapes = [pick.shape for pick in picks.values()]
    common = broadcast_shapes(*shapes)
    if common is None:
        listed = ", ".join(str(list(shape)) for shape in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
        )
    _refuse_empty_dimensions(source, picks, common)
    return Plan(source, picks, common)


def _refuse_empty_dimensions(source: Tensor, picks: dict[int, Pick], common: Shape) -> None:
    for dimension in picks:
        if source.shape[dimension] == 0 and 0 not in common:
            raise IndexError("index is out of bounds for dimension with size 0")


def _picks_of_mask(source: Tensor, dimension: int, mask: Tensor) -> dict[int, Pick]:
    for at, size in enumerate(mask.shape):
        if size != source.shape[dimension + at]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {at} does not match the shape "
                f"of the indexed tensor {list(source.shape)} at index {dimension + at}"
            )
    values = read_values(mask, "indexing with a mask")
    chosen = _positions(tuple(mask.shape), values)
    columns: list[list[Number]] = [[place[at] for place in chosen] for at in range(mask.ndim)]
    return {
        dimension + at: Pick((len(chosen),), (mask.ndim,), column)
        for at, column in enumerate(columns)
    }


def _positions(shape: Shape, values: Sequence[Number]) -> list[Shape]:
    strides = contiguous_strides(shape)
    return [
        tuple(place // step % size for step, size in zip(strides, shape, strict=True))
        for place, value in enumerate(values)
        if value
    ]
