"""The recording: what code under test did, in call order, and the queries on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_sm120.recorder.holders import Holder
from pytest_sm120.recorder.places import find_place
from pytest_sm120.recorder.reachable import plain_key
from pytest_sm120.recorder.records import (
    Allocation,
    Call,
    Fill,
    HasView,
    Launch,
    Place,
    Record,
    Store,
    TensorView,
)
from pytest_sm120.recorder.states import AT_REST, State
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import find_dtype

if TYPE_CHECKING:
    from pytest_sm120.recorder.graphs import GraphRecord, StreamRecord

R = TypeVar("R", bound=Record)


class Queries:
    """Queries that a whole recording and one step of it have in common.

    Each returns a list of frozen records in call order. An argument left at None does not filter.
    """

    def records(self) -> list[Record]:
        """Return the records of every kind."""
        return self._of(Record)

    def __repr__(self) -> str:
        kinds = Counter(type(record).__name__.lower() for record in self.records())
        counts = ", ".join(f"{number} of {kind}" for kind, number in kinds.items())
        return f"<{type(self).__name__.lower()}: {counts or 'empty'}>"

    def allocations(
        self, call: str | None = None, dtype: object = None, device: object = None
    ) -> list[Allocation]:
        """Return the tensors that got memory of their own; inputs made by the test do not count.

        ``call`` is e.g. ``"torch.zeros"`` or ``"zeros"``, ``dtype`` e.g. ``"uint8"``, ``device``
        e.g. ``"cuda:0"``.
        """
        wanted_dtype = None if dtype is None else find_dtype(dtype).name
        wanted_device = None if device is None else str(Device(device))
        return [
            record
            for record in self._of(Allocation)
            if (call is None or names_match(record.call, call))
            and wanted_dtype in (None, record.dtype)
            and wanted_device in (None, record.device)
        ]

    def launches(self, kernel: str | None = None) -> list[Launch]:
        """Return the kernel launches; ``kernel`` is the kernel function's name."""
        return [record for record in self._of(Launch) if kernel in (None, record.kernel)]

    def fills(self, op: str | None = None) -> list[Fill]:
        """Return the host code's writes into existing memory; ``op`` is e.g. ``"zero_"``."""
        return [record for record in self._of(Fill) if op in (None, record.op)]

    def calls(self, name: str | None = None) -> list[Call]:
        """Return the calls into what is not there.

        ``name`` is the callee's dotted name or its end, or the plain name of its kernel.
        """
        return [
            record
            for record in self._of(Call)
            if name in (None, record.kernel) or names_match(record.name, str(name))
        ]

    def stores(self, key: object = None) -> list[Store]:
        """Return what was kept, and under which key.

        A store that was found by looking (a module global, a SimpleNamespace) carries the line that
        allocated the tensor and the position at which it was found.
        """
        wanted = plain_key(key)
        return [record for record in self._of(Store) if wanted in (None, record.key)]

    def graph_records(self, op: str | None = None) -> list[GraphRecord]:
        """Return what was done with captured graphs; ``op`` is e.g. ``"replay"``."""
        from pytest_sm120.recorder.graphs import GraphRecord

        return [record for record in self._of(GraphRecord) if op in (None, record.op)]

    def stream_records(self, op: str | None = None) -> list[StreamRecord]:
        """Return what streams and events did to each other; ``op`` is e.g. ``"wait_stream"``."""
        from pytest_sm120.recorder.graphs import StreamRecord

        return [record for record in self._of(StreamRecord) if op in (None, record.op)]

    def _of(self, kind: type[R]) -> list[R]:
        """Return the records of one kind."""
        raise NotImplementedError


def names_match(name: str, wanted: str) -> bool:
    """Return whether a dotted name is the wanted one or ends in it."""
    return name == wanted or name.endswith(f".{wanted}")


class Step(Queries):
    """The part of a recording that one ``with`` block made."""

    def __init__(self, recording: Recording, name: str) -> None:
        self.name = name
        self._recording = recording
        self._first = recording.look_around()
        self._end: int | None = None

    def close(self) -> None:
        """End the step; what comes later does not belong to it."""
        self._end = self._recording.look_around()

    def _of(self, kind: type[R]) -> list[R]:
        return self._recording.records_between(kind, self._first, self._end)


class Recording(Queries):
    """Everything that the code under test of one test did.

    Threads of the code under test may record at the same time.
    """

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._holders: list[Holder] = []
        self._keys: dict[int, object] = {}
        self._allocated_at: dict[int, Place] = {}
        self._freed_at: dict[int, int] = {}
        #: Returns what the present thread has set; whoever runs the code puts its own here.
        self.state_now: Callable[[], State] = lambda: AT_REST
        #: Makes the error for whatever comes too late, from its ``"file.py:line"``.
        self.refuse: Callable[[str], Exception] | None = None
        # Reentrant: a store that was found is appended while looking.
        self._lock = RLock()

    def add(self, make: Callable[[Place, int], R]) -> R:
        """Append the record that ``make(place, order)`` returns; raise once ``refuse`` is set."""
        place = find_place()
        if self.refuse is not None:
            raise self.refuse(place.site)
        return self._append(make, place)

    def _append(self, make: Callable[[Place, int], R], place: Place) -> R:
        with self._lock:
            record = make(place, len(self._records))
            # Nobody has seen the record yet, and not one of those who make records need know.
            record.__dict__["state"] = self.state_now()
            self._records.append(record)
            if isinstance(record, Allocation):
                self._allocated_at[record.view.storage] = place
        return record

    def add_store(self, key: object, view: TensorView) -> None:
        """Append a Store and let the view's storage be known under the key."""
        with self._lock:
            self._keys.setdefault(view.storage, key)
        self.add(_make_store(key, view))

    def note_freed(self, storage: int) -> None:
        """Note that nothing refers to a storage any more, by its number."""
        # Without the lock: a garbage collection may come at any moment, in any thread.
        self._freed_at[storage] = len(self._records)

    def freed_at(self, memory: HasView) -> int | None:
        """Return at which position among all records a storage was freed; None while it is held.

        Records of a smaller ``order`` were made before. What hangs in a cycle of references is
        freed when Python collects it.
        """
        return self._freed_at.get(memory.__sm120_view__().storage)

    def graphs_holding(self, memory: HasView) -> list[int]:
        """Return the numbers of the graphs, captured and not reset, whose work took a storage."""
        from pytest_sm120.recorder.graphs import find_graphs_holding

        return find_graphs_holding(self._records, memory)

    def follow(self, holder: Holder) -> None:
        """Look into this holder, too, when asking where a buffer lives."""
        self._holders.append(holder)

    @property
    def holders(self) -> tuple[Holder, ...]:
        """The registries, watched objects and modules that are looked into."""
        return tuple(self._holders)

    def held_tensors(self) -> Iterator[tuple[object, TensorView]]:
        """Yield (key, view) for every tensor that a holder holds now."""
        for holder in self._holders:
            yield from holder.held_tensors()

    def look_around(self) -> int:
        """Note what the holders hold now; return how many records there are."""
        with self._lock:
            # Where every buffer has its key already there is nothing to find.
            all_known = self._allocated_at.keys() <= self._keys.keys()
            for key, view in () if all_known else self.held_tensors():
                if view.storage not in self._keys and view.storage in self._allocated_at:
                    self._keys[view.storage] = key
                    self._append(_make_store(key, view), self._allocated_at[view.storage])
            return len(self._records)

    def records_between(self, kind: type[R], first: int, end: int | None) -> list[R]:
        """Return the records of one kind from one position up to another, or to the end."""
        self.look_around()
        wanted = [record for record in self._records[first:end] if isinstance(record, kind)]
        return [self._with_key(record) for record in wanted]

    def _of(self, kind: type[R]) -> list[R]:
        return self.records_between(kind, 0, None)

    def _with_key(self, record: R) -> R:
        if isinstance(record, Allocation) and record.view.storage in self._keys:
            return replace(record, registered_as=self._keys[record.view.storage])
        return record

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Collect what happens inside the ``with`` block; the step answers the same queries."""
        step = Step(self, name)
        try:
            yield step
        finally:
            step.close()


def _make_store(key: object, view: TensorView) -> Callable[[Place, int], Store]:
    return lambda place, order: Store(place, order, key, view)


def plain_argument(value: Any) -> object:
    """Return an argument as plain data: a tensor as its view, a dtype or device as a string.

    So are the parts of a list, a tuple or a dict.
    """
    kind = type(value)
    if hasattr(kind, "__sm120_view__"):
        return value.__sm120_view__()
    if kind in (list, tuple):
        return kind(plain_argument(part) for part in value)
    if kind is dict:
        return {plain_key(key): plain_argument(part) for key, part in value.items()}
    return plain_key(value)


def plain_arguments(values: Mapping[str, object]) -> dict[str, object]:
    """Return named arguments as plain data."""
    return {name: plain_argument(value) for name, value in values.items()}
