"""CUDA graphs: what belongs to which graph, and what a replay does."""

from __future__ import annotations

import pytest

from pytest_sm120.errors import UnknownValue

NOT_ON_THE_DEFAULT_STREAM = (
    "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to "
    "replay them on the default stream.)"
)


@pytest.fixture
def graph(torch):
    return torch.cuda.CUDAGraph()


def graphs_of(execution):
    return [one.graph for one in execution.recording.allocations()]


def test_block_is_captured_on_a_stream_of_its_own(torch, execution, graph):
    with torch.cuda.graph(graph, pool=torch.cuda.graph_pool_handle()):
        assert torch.cuda.is_current_stream_capturing()
        torch.empty(1, device="cuda")
        assert torch.cuda.current_stream() != torch.cuda.default_stream()
    assert not torch.cuda.is_current_stream_capturing()
    torch.empty(1, device="cuda")
    assert graphs_of(execution) == [graph.number, None]
    inside, outside = execution.recording.allocations()
    assert (inside.capturing, outside.capturing) == (True, False)
    assert inside.stream != outside.stream == 0


def test_block_is_captured_on_the_stream_that_is_given(torch, graph):
    stream = torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=stream):
        assert torch.cuda.current_stream() == stream


def test_capture_begins_and_ends_by_hand(torch, execution, graph):
    with torch.cuda.stream(torch.cuda.Stream()):
        graph.capture_begin()
        assert torch.cuda.is_current_stream_capturing()
        graph.capture_end()
        assert not torch.cuda.is_current_stream_capturing()
    assert [one.op for one in execution.recording.graph_records()] == [
        "capture_begin",
        "capture_end",
    ]


def test_capture_on_the_default_stream_is_refused(graph):
    with pytest.raises(RuntimeError) as raised:
        graph.capture_begin()
    assert str(raised.value) == NOT_ON_THE_DEFAULT_STREAM


def test_graph_is_captured_once_until_it_is_reset(torch, graph):
    with torch.cuda.graph(graph):
        pass
    with pytest.raises(RuntimeError) as raised, torch.cuda.graph(graph):
        pass
    assert str(raised.value) == (
        "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a "
        "new instance."
    )
    graph.reset()
    torch.cuda.set_stream(torch.cuda.default_stream())
    with torch.cuda.graph(graph):
        pass


def test_replay_without_a_capture_is_refused(graph):
    with pytest.raises(RuntimeError) as raised:
        graph.replay()
    assert str(raised.value) == ("Called CUDAGraph::replay without a preceding successful capture.")


def test_replay_is_recorded(torch, execution, graph):
    with torch.cuda.graph(graph):
        pass
    graph.instantiate()
    graph.replay()
    [replay] = execution.recording.graph_records("replay")
    assert (replay.number, replay.graph) == (graph.number, None)


def test_pool_is_the_one_that_was_given(torch, graph):
    assert graph.pool() is None
    pool = torch.cuda.graph_pool_handle()
    with torch.cuda.graph(graph, pool=pool):
        pass
    other = torch.cuda.CUDAGraph()
    with torch.cuda.graph(other):
        pass
    assert graph.pool() == pool != other.pool() != torch.cuda.graph_pool_handle()


def test_stream_that_waits_for_captured_work_is_captured(torch, execution, graph):
    side, event = torch.cuda.Stream(), torch.cuda.Event()
    with torch.cuda.graph(graph):
        with torch.cuda.stream(side):
            torch.empty(1, device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.empty(1, device="cuda")
    with torch.cuda.stream(side):
        torch.empty(1, device="cuda")
    assert graphs_of(execution) == [None, graph.number, None]
    assert event.graph is None


def test_stream_that_waits_for_a_captured_event_is_captured(torch, execution, graph):
    event, far = torch.cuda.Event(), torch.cuda.Stream("cuda:1")
    with torch.cuda.graph(graph):
        event.record()
        far.wait_event(event)
        with torch.cuda.stream(far):
            torch.empty(1, device="cuda")
    far.wait_event(event)
    with torch.cuda.stream(far):
        torch.empty(1, device="cuda")
    assert graphs_of(execution) == [graph.number, None]


def test_two_graphs_are_told_apart(torch, execution):
    graphs = [torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()]
    for graph in graphs:
        with torch.cuda.graph(graph):
            torch.empty(1, device="cuda")
    assert graphs_of(execution) == [graph.number for graph in graphs]


# -- memory ----------------------------------------------------------------------------------------


def test_graph_holds_what_its_work_took_until_it_is_reset(torch, execution, graph):
    taken, left = torch.empty(4, device="cuda"), torch.empty(4, device="cuda")
    with torch.cuda.graph(graph):
        taken[1:].zero_()
    left.zero_()
    holding = execution.recording.graphs_holding
    assert (holding(taken), holding(left)) == ([graph.number], [])
    graph.reset()
    assert holding(taken) == []


def test_replay_writes_again_what_was_captured(torch, graph):
    written, read = torch.zeros(2, device="cuda"), torch.zeros(2, device="cuda")
    with torch.cuda.graph(graph):
        written.fill_(1)
        born = torch.zeros(2, device="cuda")
    host = torch.zeros(2)
    for tensor in (written, born, host):
        tensor.fill_(5)
    assert written.tolist() == [5.0, 5.0]
    graph.replay()
    for tensor in (written, born):
        with pytest.raises(UnknownValue):
            tensor.tolist()
    assert (read.tolist(), host.tolist()) == ([0.0, 0.0], [5.0, 5.0])


def test_write_on_a_stream_that_is_not_captured_is_not_replayed(torch, graph):
    written = torch.zeros(2, device="cuda:1")
    with torch.cuda.graph(graph):
        written.fill_(1)
        torch.zeros(2).fill_(1)
    graph.replay()
    assert written.tolist() == [1.0, 1.0]
