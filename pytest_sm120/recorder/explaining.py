"""Says in words what was recorded, for failure reports."""

from __future__ import annotations

from functools import singledispatch

from pytest_sm120.recorder.graphs import GraphRecord, StreamRecord
from pytest_sm120.recorder.recording import Queries
from pytest_sm120.recorder.records import (
    Allocation,
    Call,
    Fill,
    Launch,
    Opaque,
    Record,
    Store,
    TensorView,
)
from pytest_sm120.recorder.states import StreamKey

# Enough for what a test usually does; more would push the assertion off the screen.
_MOST_LINES = 30
_LONGEST_LINE = 160


def explain_recording(recording: Queries) -> str:
    """Return one line for each record, in call order; the first 30 when there are more.

    A line is cut after 160 characters.
    """
    records = recording.records()
    lines = [_cut(explain_record(record)) for record in records[:_MOST_LINES]]
    if len(records) > _MOST_LINES:
        lines.append(f"... and {len(records) - _MOST_LINES} more")
    return "\n".join(lines) or "nothing: no allocation, launch, fill, call or store was made"


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."


def explain_record(record: Record) -> str:
    """Return one record in words, with the user's line in front."""
    return f"{record.site} {record.function}: {_what(record)}"


@singledispatch
def _what(record: Record) -> str:
    raise TypeError(f"no words for {type(record).__name__}")


@_what.register
def _(record: Allocation) -> str:
    kept = "" if record.registered_as is None else f", kept as {record.registered_as!r}"
    return f"{record.call} -> {record.view}, {record.bytes} bytes{kept}"


@_what.register
def _(record: Launch) -> str:
    return f"launch {record.kernel}[{_grid(record)}]({_named(dict(record.args))})"


@_what.register
def _(record: Fill) -> str:
    value = "" if record.value is None else f" with {record.value!r}"
    return f"{record.op} on {record.view}{value}"


@_what.register
def _(record: Call) -> str:
    positional = [_argument(value) for value in record.args]
    named = [_named(dict(record.kwargs))] if record.kwargs else []
    kernel = "" if record.kernel is None else f" for the kernel {record.kernel}"
    return f"call {record.name}({', '.join([*positional, *named])}){kernel}"


@_what.register
def _(record: Store) -> str:
    return f"store {record.view} as {record.key!r}"


@_what.register
def _(record: GraphRecord) -> str:
    return f"{record.op} of graph {record.number}"


@_what.register
def _(record: StreamRecord) -> str:
    on = "the device" if record.on is None else _stream(record.on)
    awaited = "" if record.awaited is None else f" for {_stream(record.awaited)}"
    event = "" if record.event is None else f", event {record.event}"
    return f"{record.op} on {on}{awaited}{event}"


def _stream(key: StreamKey) -> str:
    device, number = key
    return f"stream {number} of cuda:{device}" if number else f"the default stream of cuda:{device}"


def _grid(launch: Launch) -> str:
    return ", ".join(str(size) for size in launch.grid)


def _named(arguments: dict[str, object]) -> str:
    return ", ".join(f"{name}={_argument(value)}" for name, value in arguments.items())


def _argument(value: object) -> str:
    if isinstance(value, TensorView):
        return str(value)
    return value.name if isinstance(value, Opaque) else repr(value)
