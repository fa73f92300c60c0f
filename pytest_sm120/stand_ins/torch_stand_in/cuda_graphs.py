"""CUDA graphs: what is captured is recorded with the graph's number, and so is each replay."""

from __future__ import annotations

from typing import Any

from pytest_sm120.recorder.graphs import GraphRecord
from pytest_sm120.stand_ins.execution import Execution, numbers
from pytest_sm120.stand_ins.torch_stand_in.streams import Stream, StreamContext, current_stream

#: What ``torch.cuda.graph_pool_handle`` returns: a name for a memory pool.
PoolHandle = tuple[int, int]


class CUDAGraph:
    """A captured graph, as ``torch.cuda.CUDAGraph``."""

    _execution: Execution

    def __init__(self, keep_graph: bool = False) -> None:
        self.number = next(numbers)
        self._pool: PoolHandle | None = None
        self._is_captured = False

    def __sm120_plain__(self) -> int:
        return self.number

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Let the current stream add to this graph; refuses what torch refuses."""
        stream = current_stream(self._execution)
        if self._is_captured:
            raise RuntimeError(
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, "
                "create a new instance."
            )
        if stream.stream_id == 0:
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. (However, after capture, "
                "it's ok to replay them on the default stream.)"
            )
        self._pool = pool or graph_pool_handle(self._execution)
        self._note("capture_begin")
        self._execution.captures = {**self._execution.captures, stream.key: self.number}

    def capture_end(self) -> None:
        """End capturing, on every stream that has joined."""
        captures = self._execution.captures
        self._execution.captures = {
            key: number for key, number in captures.items() if number != self.number
        }
        self._is_captured = True
        self._note("capture_end")

    def replay(self) -> None:
        """Record a replay, which runs no host code; what the graph writes is not known then."""
        if not self._is_captured:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        self._note("replay")
        for storage in self._execution.captured_writes.get(self.number, ()):
            storage.forget()

    def reset(self) -> None:
        """Give up what was captured."""
        self._is_captured = False
        self._note("reset")

    def instantiate(self) -> None:
        """Do nothing: there is nothing to make ready."""

    def pool(self) -> PoolHandle | None:
        """Return the handle of the graph's memory pool."""
        return self._pool

    def _note(self, op: str) -> None:
        self._execution.recording.add(
            lambda place, order: GraphRecord(place, order, op, self.number)
        )


class GraphBlock:
    """A block that is captured on a stream of its own, as ``torch.cuda.graph``."""

    def __init__(
        self,
        execution: Execution,
        cuda_graph: Any,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = "global",
        **options: Any,
    ) -> None:
        self.cuda_graph = cuda_graph
        self.capture_stream = execution.own_class(Stream)() if stream is None else stream
        self._pool = pool
        self._block = StreamContext(execution, self.capture_stream)

    def __enter__(self) -> None:
        self._block.__enter__()
        self.cuda_graph.capture_begin(pool=self._pool)

    def __exit__(self, *error: object) -> None:
        self.cuda_graph.capture_end()
        self._block.__exit__(*error)


def graph_pool_handle(execution: Execution) -> PoolHandle:
    """Return a handle of a new memory pool."""
    return (0, next(numbers))
