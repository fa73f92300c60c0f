"""Streams and events: which one is current, who waits for whom, and what is recorded of it."""

from __future__ import annotations

import threading

import pytest

from pytest_sm120.errors import UnknownOperation
from pytest_sm120.recorder.graphs import StreamRecord


def told(execution):
    """What was recorded of streams, without places."""
    return [
        (one.op, one.on, one.awaited, one.event) for one in execution.recording.stream_records()
    ]


def test_current_stream_changes_inside_a_block(torch):
    default = torch.cuda.current_stream()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream != default
    assert torch.cuda.current_stream() == default == torch.cuda.default_stream()
    with torch.cuda.stream(None):
        assert torch.cuda.current_stream() == default
    with stream as entered:
        assert entered is stream
        assert torch.accelerator.current_stream() == stream
    assert torch.cuda.current_stream() == default


def test_stream_that_is_set_stays_current(torch):
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    torch.cuda.set_stream(None)
    assert torch.cuda.current_stream().cuda_stream == stream.cuda_stream
    assert len({stream, torch.cuda.current_stream()}) == 1


def test_stream_says_what_it_is(torch):
    default = torch.cuda.default_stream("cuda:1")
    assert repr(default) == "<torch.cuda.Stream device=cuda:1 cuda_stream=0x0>"
    assert (default.device_index, default.cuda_stream, default.native_handle) == (1, 0, 0)
    assert isinstance(default, torch.cuda.Stream) and torch.cuda.Stream is torch.Stream
    assert default != torch.cuda.default_stream("cuda:0") and default != "default"
    assert torch.cuda.Stream().cuda_stream != torch.cuda.Stream().cuda_stream
    assert torch.cuda.Stream(priority=-1).priority == -1
    assert torch.cuda.Stream(stream_id=5).stream_id == 5


def test_stream_lies_on_the_device_that_is_current_when_it_is_made(torch):
    with torch.cuda.device(2):
        stream = torch.cuda.Stream()
    assert (stream.device_index, torch.cuda.Stream(device="cuda:3").device_index) == (2, 3)


def test_each_device_has_a_current_stream_of_its_own(torch):
    first, second = torch.cuda.Stream("cuda:0"), torch.cuda.Stream("cuda:1")
    torch.cuda.set_stream(first)
    with torch.cuda.stream(second):
        assert torch.cuda.current_device() == 1
        assert torch.cuda.current_stream() == torch.cuda.current_stream("cuda:1") == second
        assert torch.cuda.current_stream("cuda:0") == first
    assert torch.cuda.current_device() == 0
    assert torch.cuda.current_stream(1) == torch.cuda.default_stream(1)


def test_raw_handle_leads_back_to_the_stream(torch):
    stream = torch.cuda.Stream("cuda:1")
    with torch.cuda.stream(stream):
        handle = torch._C._cuda_getCurrentRawStream(1)
        assert torch._C._cuda_getCurrentRawStream(0) == 0
    assert handle == stream.cuda_stream
    assert torch.cuda.ExternalStream(handle, device="cuda:1") == stream
    assert torch.cuda.get_stream_from_external(handle, 1) == stream
    assert isinstance(torch.cuda.ExternalStream(handle), torch.cuda.ExternalStream)


def test_private_names_of_torch_that_are_not_modelled_are_ghosts(torch):
    assert torch._C._anything.name == "torch._C._anything"
    assert not hasattr(torch._C, "__file__")


def test_streams_are_found_in_their_own_module_too(torch):
    assert torch.cuda.streams.Stream is torch.cuda.Stream
    assert torch.cuda.graphs.CUDAGraph is torch.cuda.CUDAGraph
    assert {"Stream", "CUDAGraph", "graph", "current_stream"} <= {*dir(torch.cuda)}


def test_threads_have_streams_devices_and_modes_of_their_own(torch):
    torch.cuda.set_stream(torch.cuda.Stream("cuda:1"))
    torch.set_grad_enabled(False)
    seen = []

    def look():
        seen.append(torch.cuda.current_device())
        seen.append(torch.cuda.current_stream().cuda_stream)
        seen.append(torch.is_grad_enabled())
        seen.append(torch.is_inference_mode_enabled())

    with torch.inference_mode():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [0, 0, True, False]
    assert torch.cuda.current_device() == 1


def test_records_carry_the_stream_of_their_device(torch, execution):
    own, other = torch.cuda.Stream("cuda:0"), torch.cuda.Stream("cuda:1")
    torch.cuda.set_stream(other)
    torch.cuda.set_stream(own)
    made = [torch.empty(2, device=device) for device in ("cuda", "cuda:1", "cuda:2", "cpu")]
    made[1].zero_()
    streams = [own.cuda_stream, other.cuda_stream, 0, None]
    assert [one.stream for one in execution.recording.allocations()] == streams
    [fill] = execution.recording.fills()
    assert (fill.stream, fill.device_index, fill.state.device) == (other.cuda_stream, 1, 0)


def test_records_carry_the_modes(torch, execution):
    torch.empty(1)
    with torch.no_grad():
        torch.empty(1)
    with torch.inference_mode():
        torch.empty(1)
    modes = [(one.inference, one.grad) for one in execution.recording.allocations()]
    assert modes == [(False, True), (False, False), (True, False)]


# -- waiting ---------------------------------------------------------------------------------------


def test_waiting_is_recorded(torch, execution):
    first, second, event = torch.cuda.Stream(), torch.cuda.Stream("cuda:1"), torch.cuda.Event()
    second.wait_stream(first)
    second.wait_event(event)
    event.record(first)
    second.wait_event(event)
    event.wait()
    event.synchronize()
    first.synchronize()
    torch.cuda.synchronize()
    one, other, number = first.key, second.key, event.number
    assert told(execution) == [
        ("wait_stream", other, one, None),
        ("wait_event", other, None, number),
        ("record_event", one, None, number),
        ("wait_event", other, one, number),
        ("wait_event", (0, 0), one, number),
        ("synchronize", None, one, number),
        ("synchronize", None, one, None),
        ("synchronize", None, None, None),
    ]
    assert len(execution.recording.stream_records("wait_event")) == 3
    assert {type(one) for one in execution.recording.records()} == {StreamRecord}


def test_stream_records_an_event_and_returns_it(torch, execution):
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    assert stream.record_event(event) is event
    made = stream.record_event()
    assert isinstance(made, torch.cuda.Event) and made.recorded_on == stream.key
    assert made.cuda_event not in (event.cuda_event, 0)
    assert [one.event for one in execution.recording.stream_records()] == [
        event.number,
        made.number,
    ]


def test_nothing_is_ever_pending(torch):
    assert torch.cuda.Stream().query() and torch.cuda.Event().query()


def test_time_between_events_is_not_known(torch):
    event = torch.cuda.Event(enable_timing=True)
    with pytest.raises(UnknownOperation):
        event.elapsed_time(event)
