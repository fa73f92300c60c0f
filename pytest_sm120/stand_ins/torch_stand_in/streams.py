"""CUDA streams and events: who waits for whom is recorded, nothing ever runs."""

from __future__ import annotations

from typing import Any

from pytest_sm120.recorder.graphs import StreamRecord
from pytest_sm120.recorder.states import StreamKey
from pytest_sm120.stand_ins.execution import Execution, numbers
from pytest_sm120.stand_ins.torch_stand_in.devices import cuda_index
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation
from pytest_sm120.tensors.devices import Device


class Stream:
    """A CUDA stream, as ``torch.cuda.Stream``; work on it is recorded in call order."""

    _execution: Execution

    def __init__(self, device: Any = None, priority: int = 0, **handle: Any) -> None:
        self.device = Device("cuda", cuda_index(self._execution, device))
        self.priority = priority
        self.stream_id: int = handle.get("stream_id") or next(numbers)

    @property
    def device_index(self) -> int:
        """Index of its device."""
        return self.device.index or 0

    @property
    def key(self) -> StreamKey:
        """Index of its device, and its number."""
        return self.device_index, self.stream_id

    @property
    def cuda_stream(self) -> int:
        """A handle that no other stream has; 0 for the default stream."""
        return self.stream_id

    native_handle = cuda_stream

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __sm120_plain__(self) -> StreamKey:
        return self.key

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.stream_id:#x}>"

    def __enter__(self) -> Stream:
        self._block = StreamContext(self._execution, self)
        self._block.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._block.__exit__(*error)

    def wait_stream(self, stream: Any) -> None:
        """Record that later work here waits for the work that the other stream has now."""
        _note(self._execution, "wait_stream", self.key, stream.key)
        _join(self._execution, self.key, self._execution.captures.get(stream.key))

    def wait_event(self, event: Any) -> None:
        """Record that later work here waits for the event."""
        _note(self._execution, "wait_event", self.key, event.recorded_on, event.number)
        _join(self._execution, self.key, event.graph)

    def record_event(self, event: Any = None) -> Any:
        """Return the event, recorded on this stream."""
        recorded = self._execution.own_class(Event)() if event is None else event
        recorded.record(self)
        return recorded

    def synchronize(self) -> None:
        """Record that the host waits for the stream."""
        _note(self._execution, "synchronize", None, self.key)

    def query(self) -> bool:
        """Return True: nothing is pending."""
        return True


class ExternalStream(Stream):
    """A stream made from a handle, as ``torch.cuda.ExternalStream``."""

    def __init__(self, stream_ptr: int, device: Any = None, **options: Any) -> None:
        super().__init__(device)
        self.stream_id = int(stream_ptr)


class Event:
    """A CUDA event, as ``torch.cuda.Event``."""

    _execution: Execution

    def __init__(self, enable_timing: bool = False, blocking: bool = False, **options: Any) -> None:
        self.enable_timing = enable_timing
        self.number = next(numbers)
        self.recorded_on: StreamKey | None = None
        self.graph: int | None = None

    def __sm120_plain__(self) -> int:
        return self.number

    @property
    def cuda_event(self) -> int:
        """A handle that no other event has."""
        return self.number

    def record(self, stream: Any = None) -> None:
        """Record the event on a stream, on the current one when none is given."""
        self.recorded_on = (stream or current_stream(self._execution)).key
        self.graph = self._execution.captures.get(self.recorded_on)
        _note(self._execution, "record_event", self.recorded_on, None, self.number)

    def wait(self, stream: Any = None) -> None:
        """Let a stream wait for the event, the current one when none is given."""
        (stream or current_stream(self._execution)).wait_event(self)

    def synchronize(self) -> None:
        """Record that the host waits for the event."""
        _note(self._execution, "synchronize", None, self.recorded_on, self.number)

    def query(self) -> bool:
        """Return True: nothing is pending."""
        return True

    def elapsed_time(self, end_event: Any) -> float:
        """Refuse: no time passes here."""
        raise unknown_operation("torch.cuda.Event.elapsed_time")


def _note(
    execution: Execution,
    op: str,
    on: StreamKey | None,
    awaited: StreamKey | None,
    event: int | None = None,
) -> None:
    execution.recording.add(lambda place, order: StreamRecord(place, order, op, on, awaited, event))


def _join(execution: Execution, waiting: StreamKey, graph: int | None) -> None:
    """Let a stream that waits for captured work be captured, too, as CUDA does."""
    if graph in execution.captures.values():
        execution.captures = {**execution.captures, waiting: graph}  # type: ignore[dict-item]  # none of them is None


class StreamContext:
    """A block on another stream, as ``torch.cuda.stream``; None changes nothing."""

    def __init__(self, execution: Execution, stream: Any) -> None:
        self._execution = execution
        self.stream = stream
        self._before: list[tuple[Stream, Stream]] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            own, its = (current_stream(self._execution, at) for at in (None, self.stream.device))
            self._before.append((its, own))
            set_stream(self._execution, self.stream)

    def __exit__(self, *error: object) -> None:
        for stream in self._before.pop() if self.stream is not None else ():
            set_stream(self._execution, stream)


def _numbered(execution: Execution, index: int, number: int) -> Stream:
    stream = object.__new__(execution.own_class(Stream))
    stream.device, stream.priority, stream.stream_id = Device("cuda", index), 0, number
    return stream


def current_stream(execution: Execution, device: Any = None) -> Stream:
    """Return the current stream of a device, of the current one when none is given."""
    index = cuda_index(execution, device)
    return _numbered(execution, index, execution.state_now().stream_on(index))


def default_stream(execution: Execution, device: Any = None) -> Stream:
    """Return the default stream of a device."""
    return _numbered(execution, cuda_index(execution, device), 0)


def stream_from_external(execution: Execution, data_ptr: int, device: Any = None) -> Stream:
    """Return the stream with this handle."""
    return _numbered(execution, cuda_index(execution, device), int(data_ptr))


def current_raw_stream(execution: Execution, device: int) -> int:
    """Return the handle of the current stream of a device."""
    return current_stream(execution, device).cuda_stream


def set_stream(execution: Execution, stream: Any) -> None:
    """Make a stream, and with it its device, the current one; None changes nothing."""
    if stream is not None:
        streams = execution.state_now().streams
        execution.change(
            device=stream.device_index,
            streams={**streams, stream.device_index: stream.stream_id},
        )


def synchronize(execution: Execution, device: Any = None) -> None:
    """Record that the host waits for the device."""
    _note(execution, "synchronize", None, None)
