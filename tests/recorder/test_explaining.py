"""Records in words."""

from __future__ import annotations

import pytest

from pytest_sm120.recorder.explaining import explain_record, explain_recording
from pytest_sm120.recorder.graphs import GraphRecord, StreamRecord
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.records import (
    Allocation,
    Call,
    Fill,
    Launch,
    Opaque,
    Place,
    Record,
    Store,
)
from tests.recorder.samples import launch, view

PLACE = Place("/a/target.py", 7, "run")
SEEN = view(shape=(2, 3), dtype="uint8")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (
            Allocation(PLACE, 0, "torch.zeros", SEEN, 0, False),
            "torch.zeros -> uint8[2, 3] on cuda:0, 64 bytes",
        ),
        (
            Allocation(PLACE, 0, "torch.empty", SEEN, None, True, ("ws", "cuda:0")),
            "torch.empty -> uint8[2, 3] on cuda:0, 64 bytes, kept as ('ws', 'cuda:0')",
        ),
        (
            Launch(
                PLACE, 0, "split", (4, 2), {"x": SEEN, "n": 3, "f": Opaque("lib.f")}, {}, written=()
            ),
            "launch split[4, 2](x=uint8[2, 3] on cuda:0, n=3, f=lib.f)",
        ),
        (Fill(PLACE, 0, "fill_", SEEN, -1), "fill_ on uint8[2, 3] on cuda:0 with -1"),
        (Fill(PLACE, 0, "copy_", SEEN, None), "copy_ on uint8[2, 3] on cuda:0"),
        (
            Call(PLACE, 0, "lib.f", (SEEN, 1), {"key": "a"}),
            "call lib.f(uint8[2, 3] on cuda:0, 1, key='a')",
        ),
        (Call(PLACE, 0, "lib.f", (), {}), "call lib.f()"),
        (Store(PLACE, 0, "key", SEEN), "store uint8[2, 3] on cuda:0 as 'key'"),
        (GraphRecord(PLACE, 0, "capture_begin", 3), "capture_begin of graph 3"),
        (
            StreamRecord(PLACE, 0, "wait_event", (0, 5), (1, 0), 7),
            "wait_event on stream 5 of cuda:0 for the default stream of cuda:1, event 7",
        ),
        (StreamRecord(PLACE, 0, "synchronize", None), "synchronize on the device"),
    ],
)
def test_record_is_told_with_its_line(record: Record, words: str) -> None:
    assert explain_record(record) == f"target.py:7 run: {words}"


def test_record_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="^no words for Record$"):
        explain_record(Record(PLACE, 0))


def test_recording_is_told_line_by_line() -> None:
    recording = Recording()
    launch(recording, "a")
    launch(recording, "b")
    lines = explain_recording(recording).splitlines()
    assert [line.partition(": ")[2] for line in lines] == ["launch a[1, 2]()", "launch b[1, 2]()"]


def test_long_recording_is_cut() -> None:
    recording = Recording()
    for _ in range(33):
        launch(recording)
    lines = explain_recording(recording).splitlines()
    assert len(lines) == 31
    assert lines[-1] == "... and 3 more"


@pytest.mark.parametrize(("length", "shown"), [(160, 160), (161, 160)])
def test_long_line_is_cut(length: int, shown: int) -> None:
    recording = Recording()
    launch(recording, "k")
    room = length - len(explain_recording(recording)) + len("k")
    recording = Recording()
    launch(recording, "k" * room)
    line = explain_recording(recording)
    assert len(line) == shown
    assert line.endswith("...") == (length > shown)


def test_empty_recording_says_so() -> None:
    assert (
        explain_recording(Recording())
        == "nothing: no allocation, launch, fill, call or store was made"
    )
