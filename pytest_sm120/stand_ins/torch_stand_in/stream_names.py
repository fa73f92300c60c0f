"""The names of torch for streams, events and graphs, found on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pytest_sm120.stand_ins.execution import Execution

_STREAMS = frozenset({"Stream", "Event"})
_CURRENT = frozenset({"current_stream", "set_stream", "synchronize"})

#: The names by module.
STREAM_NAMES: dict[str, frozenset[str]] = {
    "torch": _STREAMS,
    "torch.cuda": _STREAMS
    | _CURRENT
    | {"ExternalStream", "CUDAGraph", "StreamContext", "default_stream", "stream", "graph"}
    | {"graph_pool_handle", "get_stream_from_external"},
    "torch.accelerator": _CURRENT,
    "torch._C": frozenset({"_cuda_getCurrentRawStream"}),
}


def find_stream_name(execution: Execution, name: str) -> Any:
    """Return what one of these names stands for in one test."""
    from pytest_sm120.stand_ins.torch_stand_in import cuda_graphs, streams

    classes: dict[str, type] = {
        "Stream": streams.Stream,
        "Event": streams.Event,
        "ExternalStream": streams.ExternalStream,
        "CUDAGraph": cuda_graphs.CUDAGraph,
    }
    if name in classes:
        return execution.own_class(classes[name])
    functions: dict[str, Callable[..., Any]] = {
        "StreamContext": streams.StreamContext,
        "stream": streams.StreamContext,
        "current_stream": streams.current_stream,
        "default_stream": streams.default_stream,
        "set_stream": streams.set_stream,
        "get_stream_from_external": streams.stream_from_external,
        "synchronize": streams.synchronize,
        "_cuda_getCurrentRawStream": streams.current_raw_stream,
        "graph": cuda_graphs.GraphBlock,
        "graph_pool_handle": cuda_graphs.graph_pool_handle,
    }
    return partial(functions[name], execution)
