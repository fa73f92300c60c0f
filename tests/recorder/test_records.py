"""Records and views as plain data."""

from __future__ import annotations

import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.records import HasView, Opaque, Place, TensorView
from tests.recorder.samples import allocate, call, fill, launch, view

RANGES = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(sorted).map(tuple)
VIEWS = st.builds(view, st.integers(1, 2), RANGES)


def bytes_of(seen: TensorView) -> set[tuple[int, int]]:
    return {(seen.storage, position) for position in range(*seen.byte_range)}


@given(VIEWS, VIEWS)
def test_views_overlap_when_they_have_a_byte_in_common(one: TensorView, other: TensorView) -> None:
    assert one.overlaps(other) == bool(bytes_of(one) & bytes_of(other))
    assert one.overlaps(other) == other.overlaps(one)


@given(VIEWS, VIEWS.filter(lambda seen: seen.byte_range[0] < seen.byte_range[1]))
def test_view_covers_what_lies_inside_it(one: TensorView, other: TensorView) -> None:
    assert one.covers(other) == (bytes_of(one) >= bytes_of(other))


def test_views_of_one_storage_share_it_whatever_they_cover() -> None:
    one = view(1, (0, 4))
    assert one.shares_storage_with(view(1, (8, 12)))
    assert not one.shares_storage_with(view(2, (0, 4)))


def test_view_reads_as_dtype_shape_and_device() -> None:
    assert str(view(shape=(2, 3), dtype="uint8")) == "uint8[2, 3] on cuda:0"


def test_records_stand_for_their_memory() -> None:
    recording = Recording()
    tensor = allocate(recording)
    fill(recording, tensor)
    recording.add_store("key", tensor.__sm120_view__())
    [allocation], [filled], [store] = (
        recording.allocations(),
        recording.fills(),
        recording.stores(),
    )
    for record in (allocation, filled, store):
        assert isinstance(record, HasView)
        assert record.__sm120_view__() == tensor.__sm120_view__()
    assert allocation.shares_storage_with(tensor)
    assert (allocation.shape, allocation.strides) == ((4,), (1,))
    assert (allocation.dtype, allocation.device, allocation.bytes) == ("float32", "cuda:0", 64)


def test_arguments_that_are_tensors_are_told() -> None:
    recording, one, other = Recording(), view(), view()
    launched = launch(recording, a=one, b=3, c=other)
    assert launched.tensors == {"a": one, "c": other}
    assert (launched.num_warps, launched.num_stages) == (1, None)
    called = call(recording, "lib.f", 1, other, key=one, name=Opaque("x"))
    assert called.tensors == [other, one]


@pytest.mark.parametrize("path", ["/a/b/file.py", "C:\\a\\file.py", "file.py"])
def test_site_is_the_file_without_its_folder(path: str) -> None:
    assert Place(path, 3, "f").site == "file.py:3"


def test_records_are_frozen_and_can_be_sent_to_another_process() -> None:
    recording = Recording()
    record = call(recording, "lib.f", 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.name = "other"  # type: ignore[misc]  # the point
    assert pickle.loads(pickle.dumps(record)) == record
    assert record.function == "call"
