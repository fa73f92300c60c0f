"""What the driven calls show of one buffer: where it was allocated, kept, set and used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pytest_sm120.contracts.keys import show_key
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.contracts.steps import PlannedStep
from pytest_sm120.recorder.records import (
    Allocation,
    Call,
    Fill,
    Launch,
    Record,
    TensorView,
)
from pytest_sm120.tensors.storages import offset_of_address


class Buffer(NamedTuple):
    """One allocation that the target kept, and the key under which it was found."""

    allocation: Allocation
    key: object
    #: The tensor that was kept there: the allocated one, or a view of it.
    kept: TensorView

    @property
    def bytes(self) -> int:
        """Size of its storage in bytes."""
        return self.allocation.bytes

    @property
    def text(self) -> str:
        """``file.py:line: function allocates "key" with torch.empty``, less the place."""
        made = self.allocation
        return f"{made.function} allocates {show_key(self.key)} with {made.call}"


class Use(NamedTuple):
    """The launch or call of a step that is the first to be given the buffer."""

    record: Launch | Call
    view: TensorView

    @property
    def text(self) -> str:
        """``launches _kernel`` or ``calls name``."""
        record = self.record
        return f"launches {record.kernel}" if isinstance(record, Launch) else f"calls {record.name}"

    @property
    def input_devices(self) -> list[str]:
        """The devices of the tensors that it is given besides the buffer, each once."""
        given = self.record.tensors
        views = given.values() if isinstance(given, dict) else given
        inputs = [view for view in views if view.storage != self.view.storage]
        return list(dict.fromkeys(view.device for view in inputs))


class SeenStep(NamedTuple):
    """One driven call, seen from the buffer."""

    plan: PlannedStep
    records: tuple[Record, ...]
    #: The buffer that the call allocated and kept, else None.
    new: Buffer | None
    #: The buffer that the same device had when the call began, else None.
    before: Buffer | None
    #: Whether the new buffer took the place of the other device's, under the same key.
    took_other_key: bool = False
    #: Where there is no new buffer: those that are like it, but kept under keys of another kind.
    lookalikes: tuple[Buffer, ...] = ()
    #: The tensors that the call returned.
    returned: tuple[TensorView, ...] = ()
    #: Whether the code under test refused the call.
    refused: bool = False
    #: Whether a captured graph took the buffer that was there before.
    in_graph: bool = False
    #: Whether the memory of the buffer that was there before is free by now.
    freed: bool = False

    @property
    def name(self) -> str:
        """The step's name."""
        return self.plan.name

    @property
    def current(self) -> Buffer | None:
        """The buffer that the device has when the call ends."""
        return self.new or self.before

    @property
    def allocations(self) -> list[Allocation]:
        """Everything that the call allocated."""
        return [record for record in self.records if isinstance(record, Allocation)]

    def fills_before(self, storage: int, order: int) -> list[Fill]:
        """Return the writes of host code into a storage before one record of this step."""
        return [
            record
            for record in self.records
            if isinstance(record, Fill) and record.view.storage == storage and record.order < order
        ]

    def uses(self, storage: int) -> list[Use]:
        """Return the launches and calls that are given the storage, with the view they are given.

        A record that is given several views of it is given the bytes that span them.
        """
        whole = self._whole(storage)
        found = [
            (record, [*_given(record, storage), *_given_by_address(record, whole)])
            for record in self.records
        ]
        return [
            Use(record, hull_of(views))
            for record, views in found
            if views and isinstance(record, (Launch, Call))
        ]

    def _whole(self, storage: int) -> TensorView | None:
        kept = [buffer.allocation for buffer in (self.new, self.before) if buffer is not None]
        made = (each.view for each in [*kept, *self.allocations])
        return next((view for view in made if view.storage == storage), None)

    def first_use(self, storage: int) -> Use | None:
        """Return the first launch or call that is given the storage, with the view it is given."""
        return next(iter(self.uses(storage)), None)


def _given(record: Record, storage: int) -> list[TensorView]:
    return [view for view in views_given(record) if view.storage == storage]


def _given_by_address(record: Record, whole: TensorView | None) -> list[TensorView]:
    """Return what follows each address in a storage that a launch or a call is given."""
    if whole is None:
        return []
    numbers = [value for value in _values_given(record) if type(value) is int]
    offsets = [offset_of_address(number, whole.storage) for number in numbers]
    end = whole.storage_bytes
    return [whole._replace(byte_range=(low, end)) for low in offsets if 0 <= low < end]


def views_given(record: Record) -> list[TensorView]:
    """Return every tensor that a launch or a call is given, those in lists and dicts included.

    A launch of no programs is given nothing.
    """
    return [value for value in _values_given(record) if isinstance(value, TensorView)]


def _values_given(record: Record) -> Iterator[object]:
    if isinstance(record, Launch) and not record.empty:
        yield from _flat(list(record.args.values()))
    elif isinstance(record, Call):
        yield from _flat([*record.args, *record.kwargs.values()])


def views_written(record: Record) -> list[TensorView]:
    """Return every tensor that a launch or a call may write.

    What a callee does that is not there is not known.
    """
    if isinstance(record, Launch):
        written = _flat([record.args[name] for name in record.written])
        return [value for value in written if isinstance(value, TensorView)]
    return views_given(record)


class Seen(NamedTuple):
    """Everything that the clauses judge."""

    contract: Scratch
    steps: tuple[SeenStep, ...]
    #: Every key under which the first call kept a buffer, with the buffer.
    kept_first: tuple[Buffer, ...] = ()
    #: Why steps are missing, by the step's name.
    missing: Mapping[str, str] = MappingProxyType({})

    def step(self, name: str) -> SeenStep | None:
        """Return the step of this name, or None when it was not driven."""
        return next((step for step in self.steps if step.name == name), None)

    def why_missing(self, name: str) -> str:
        """Return why there is no step of this name."""
        return self.missing[name]

    @property
    def first(self) -> Buffer | None:
        """The buffer of the first call."""
        return self.steps[0].new if self.steps else None

    @property
    def has_one_key(self) -> bool:
        """Whether the contract's key is the same on all devices that were driven."""
        keys = [self.contract.key_on(step.plan.device) for step in self.steps]
        return any(step.name == "second device" for step in self.steps) and all(
            key == keys[0] for key in keys
        )

    @property
    def firsts(self) -> list[SeenStep]:
        """The steps that allocated a device's first buffer."""
        return [step for step in self.steps if step.new and not step.before]


def hull_of(views: Sequence[TensorView]) -> TensorView:
    """Return a view of bytes that spans all the given views of one storage."""
    low = min(view.byte_range[0] for view in views)
    high = max(view.byte_range[1] for view in views)
    one = views[0]
    return TensorView(
        (high - low,), (1,), "uint8", one.device, one.storage, (low, high), one.storage_bytes
    )


def _flat(values: Sequence[object]) -> Iterator[object]:
    for value in values:
        # A view is a tuple, too.
        if isinstance(value, (list, tuple)) and not isinstance(value, TensorView):
            yield from _flat(value)
        elif isinstance(value, Mapping):
            yield from _flat(list(value.values()))
        else:
            yield value
