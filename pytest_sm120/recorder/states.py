"""What a thread had set when something was recorded: device, streams, captures and modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

#: A stream by the index of its device and its number; number 0 is the device's default stream.
StreamKey = tuple[int, int]

_NOTHING: Mapping[Any, int] = {}


class State(NamedTuple):
    """The state of one thread at one moment."""

    #: Index of the current CUDA device.
    device: int = 0
    #: Number of the current stream by device index, where it is not the default stream.
    streams: Mapping[int, int] = _NOTHING
    #: Number of the graph that each capturing stream adds to; the same for all threads.
    captures: Mapping[StreamKey, int] = _NOTHING
    #: Number of the graph that every stream adds to, as if all of them were capturing.
    graph: int | None = None
    #: Whether inference mode is on.
    inference: bool = False
    #: Whether gradients would be computed.
    grad: bool = True

    def stream_on(self, device: int) -> int:
        """Return the number of the stream that is current on a device."""
        return self.streams.get(device, 0)

    def graph_on(self, device: int) -> int | None:
        """Return the number of the graph that the current stream of a device adds to, or None."""
        return self.captures.get((device, self.stream_on(device)), self.graph)


#: A thread that has set nothing yet, as torch starts one.
AT_REST = State()
