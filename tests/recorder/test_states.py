"""What records say about streams, graphs and modes, and which graph holds which memory."""

from __future__ import annotations

import pytest

from pytest_sm120.recorder.graphs import GraphRecord, StreamRecord
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.records import Fill, Place, Store
from pytest_sm120.recorder.states import AT_REST, State
from tests.recorder.samples import call, fill, launch, tensor, view

PLACE = Place("/repo/target.py", 3, "run")


def recording_under(state: State) -> Recording:
    recording = Recording()
    recording.state_now = lambda: state
    return recording


def test_recording_without_an_owner_is_at_rest() -> None:
    record = call(Recording(), "lib.f")
    assert (record.state, record.stream, record.graph) == (AT_REST, 0, None)
    assert (record.capturing, record.inference, record.grad) == (False, False, True)


def test_launch_and_call_are_on_the_stream_of_the_current_device() -> None:
    recording = recording_under(State(device=1, streams={0: 7, 1: 8}))
    assert (launch(recording).stream, call(recording, "lib.f").stream) == (8, 8)


@pytest.mark.parametrize(
    ("device", "stream"), [("cuda:0", 7), ("cuda:1", 8), ("cuda:2", 0), ("cuda", 7), ("cpu", None)]
)
def test_write_is_on_the_stream_of_the_device_that_is_written(
    device: str, stream: int | None
) -> None:
    recording = recording_under(State(device=1, streams={0: 7, 1: 8}))
    assert fill(recording, tensor(device=device)).stream == stream


def test_graph_is_the_one_of_the_stream_or_else_of_everything() -> None:
    captures = {(0, 7): 40}
    one = State(streams={0: 7}, captures=captures)
    assert (one.graph_on(0), one.graph_on(1)) == (40, None)
    assert State(captures=captures).graph_on(0) is None
    assert State(captures=captures, graph=50).graph_on(1) == 50


def test_write_to_host_memory_is_captured_when_the_current_device_is() -> None:
    recording = recording_under(State(graph=50))
    written = fill(recording, tensor(device="cpu"))
    assert (written.graph, written.capturing) == (50, True)


def test_state_is_told_only_where_it_says_something() -> None:
    at_rest = Store(PLACE, 5, "ws", view(3))
    assert "state" not in repr(at_rest)
    under_way = Fill(PLACE, 5, "zero_", view(3), 0, state=State(inference=True))
    assert (
        "state=State(device=0, streams={}, captures={}, graph=None, inference=True, grad=True), "
        "op='zero_'"
    ) in repr(under_way)


def test_records_in_different_states_differ() -> None:
    zero = Fill(PLACE, 0, "zero_", view(3), 0)
    assert zero != Fill(PLACE, 0, "zero_", view(3), 0, state=State(grad=False))


def test_graphs_holding_a_storage_are_those_whose_work_took_it() -> None:
    recording, state = Recording(), State()
    recording.state_now = lambda: state
    other = tensor()
    buffer = view()
    launch(recording, x=buffer)
    for number in (1, 2, 3):
        state = State(graph=number)
        launch(recording, x=buffer) if number == 1 else call(recording, "lib.f", [1], buffer)
    fill(recording, other)
    recording.add(lambda place, order: StreamRecord(place, order, "synchronize", None))
    state = State()
    assert recording.graphs_holding(buffer) == [1, 2, 3]
    for number in (2, 9):
        recording.add(lambda place, order, n=number: GraphRecord(place, order, "reset", n))  # type: ignore[misc]  # bound now
    assert recording.graphs_holding(buffer) == [1, 3]
    assert recording.graphs_holding(other) == [3]
    assert recording.graphs_holding(tensor()) == []


def test_storage_is_freed_at_the_position_of_the_next_record() -> None:
    recording, buffer = Recording(), tensor()
    fill(recording, buffer)
    assert recording.freed_at(buffer) is None
    recording.note_freed(buffer.__sm120_view__().storage)
    fill(recording, tensor())
    assert recording.freed_at(buffer) == 1
