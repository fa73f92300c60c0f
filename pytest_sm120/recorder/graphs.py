"""Records of streams, events and CUDA graphs, and what they tell about memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_sm120.recorder.records import Call, HasView, Launch, Record, TensorView
from pytest_sm120.recorder.states import StreamKey


@dataclass(frozen=True, eq=False, repr=False)
class GraphRecord(Record):
    """Something that was done with a CUDA graph."""

    #: ``"capture_begin"``, ``"capture_end"``, ``"replay"`` or ``"reset"``.
    op: str
    #: The graph's number, as ``Record.graph`` of what was captured into it.
    number: int


@dataclass(frozen=True, eq=False, repr=False)
class StreamRecord(Record):
    """Something by which streams, events and the host wait for each other."""

    #: ``"wait_stream"``, ``"wait_event"``, ``"record_event"`` or ``"synchronize"``.
    op: str
    #: The stream that waits or that the event is recorded on; None for the whole device.
    on: StreamKey | None
    #: The stream that is waited for; None for an event that was never recorded.
    awaited: StreamKey | None = None
    #: The event's number, or None where there is none.
    event: int | None = None


def find_graphs_holding(records: Iterable[Record], memory: HasView) -> list[int]:
    """Return the numbers of the graphs, captured and not reset, whose work took this storage."""
    storage = memory.__sm120_view__().storage
    found: dict[int, None] = {}
    for record in records:
        if isinstance(record, GraphRecord):
            if record.op == "reset":
                found.pop(record.number, None)
        elif record.graph is not None and storage in _storages_of(record):
            found[record.graph] = None
    return list(found)


def _storages_of(record: Record) -> set[int]:
    return {view.storage for view in _views_of(record)}


def _views_of(record: Record) -> Iterator[TensorView]:
    if isinstance(record, Launch):
        yield from record.tensors.values()
    elif isinstance(record, Call):
        yield from record.tensors
    elif isinstance(record, HasView):
        yield record.__sm120_view__()
