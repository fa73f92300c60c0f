"""CUDA streams, events and graphs: objects with an identity, without a card behind them."""

from __future__ import annotations

from itertools import count
from typing import Any

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.modes import Switch
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation
from pytest_sm120.tensors.devices import Device

# As with storages, a number that no other stream of the process has; 0 is the default stream.
_numbers = count(1)


class Stream:
    """A CUDA stream, as ``torch.cuda.Stream``; work on it is recorded in call order."""

    def __init__(self, device: Any = None, priority: int = 0, **handle: Any) -> None:
        self.device = Device("cuda", 0) if device is None else Device(device)
        self.priority = priority
        self.stream_id: int = handle.get("stream_id", handle.get("number", 0)) or next(_numbers)

    @classmethod
    def numbered(cls, number: int, index: int) -> Stream:
        """Return the stream with this number on the device with this index."""
        stream = cls.__new__(cls)
        stream.device, stream.priority, stream.stream_id = Device("cuda", index), 0, number
        return stream

    @property
    def device_index(self) -> int | None:
        """Index of its device."""
        return self.device.index

    @property
    def cuda_stream(self) -> int:
        """A handle that no other stream has; 0 for the default stream."""
        return self.stream_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.stream_id, self.device) == (
            other.stream_id,
            other.device,
        )

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.stream_id:#x}>"

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: recorded work is in call order."""

    wait_event = wait_stream

    def synchronize(self) -> None:
        """Do nothing: there is nothing to wait for."""

    def query(self) -> bool:
        """Return True: nothing is pending."""
        return True

    def record_event(self, event: Any = None) -> Any:
        """Return the event."""
        return Event() if event is None else event


class Event:
    """A CUDA event, as ``torch.cuda.Event``."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False,
        external: bool = False,
    ) -> None:  # fmt: skip
        self.enable_timing = enable_timing

    def record(self, stream: Any = None) -> None:
        """Do nothing: there is nothing to measure."""

    wait = record

    def synchronize(self) -> None:
        """Do nothing: there is nothing to wait for."""

    def query(self) -> bool:
        """Return True: nothing is pending."""
        return True

    def elapsed_time(self, end_event: Any) -> float:
        """Refuse: no time passes here."""
        raise unknown_operation("torch.cuda.Event.elapsed_time")


class CUDAGraph:
    """A captured graph; what is captured is recorded, with ``capturing`` set."""

    _execution: Execution

    def __init__(self, keep_graph: bool = False) -> None:
        self._execution = type(self)._execution

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Begin capturing."""
        self._execution.capturing = True

    def capture_end(self) -> None:
        """End capturing."""
        self._execution.capturing = False

    def replay(self) -> None:
        """Do nothing: a replay runs no host code."""

    reset = replay

    def pool(self) -> tuple[int, int]:
        """Return a handle of the graph's memory pool."""
        return (0, id(self))


def graph_class(execution: Execution) -> type[CUDAGraph]:
    """Return ``torch.cuda.CUDAGraph`` for one execution."""
    return type("CUDAGraph", (CUDAGraph,), {"_execution": execution})


def graph(
    execution: Execution, cuda_graph: Any, pool: Any = None, stream: Any = None, **kwargs: Any
) -> Any:
    """Return what ``torch.cuda.graph`` does: a block that is captured."""
    return Switch(execution, capturing=True)


def graph_pool_handle(execution: Execution) -> tuple[int, int]:
    """Return a handle of a new memory pool."""
    return (0, next(_numbers))


def current_stream(execution: Execution, device: Any = None) -> Stream:
    """Return the current stream of the current device."""
    return Stream.numbered(execution.stream, execution.device_index)


def default_stream(execution: Execution, device: Any = None) -> Stream:
    """Return the default stream of the current device."""
    return Stream.numbered(0, execution.device_index)


def stream(execution: Execution, stream: Any) -> Any:
    """Return what ``torch.cuda.stream`` does: a block on another stream; None changes nothing."""
    if stream is None:
        return Switch(execution)
    index = stream.device.index
    return Switch(execution, stream=stream.stream_id, device_index=index)


def set_stream(execution: Execution, stream: Any) -> None:
    """Make a stream the current one."""
    execution.stream = stream.stream_id
