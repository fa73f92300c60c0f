"""Ranges of bytes, against sets of single bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.contracts.byte_ranges import merge, overlap, ranges_of, subtract
from pytest_sm120.recorder.records import TensorView
from pytest_sm120.tensors.layouts import element_offsets, extent

ranges = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 8)).map(lambda pair: (pair[0], sum(pair))),
    max_size=5,
)


def bytes_in(listed):
    return {byte for low, high in listed for byte in range(low, high)}


def view_of(shape, strides, dtype="int16", first=10):
    last = first + extent(shape, strides) * {"int16": 2, "uint8": 1}[dtype]
    return TensorView(tuple(shape), tuple(strides), dtype, "cuda:0", 1, (first, last), 10**9)


@given(ranges)
def test_merging_keeps_the_bytes_and_leaves_gaps_between_ranges(listed):
    merged = merge(listed)
    assert bytes_in(merged) == bytes_in(listed)
    assert all(before[1] < after[0] for before, after in zip(merged, merged[1:], strict=False))


@given(ranges, ranges)
def test_subtracting_leaves_the_other_bytes(listed, taken):
    assert bytes_in(subtract(listed, taken)) == bytes_in(listed) - bytes_in(taken)


@given(ranges, ranges)
def test_overlap_is_a_common_byte(listed, others):
    assert overlap(listed, others) == bool(bytes_in(listed) & bytes_in(others))


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 20)), max_size=3))
def test_ranges_of_a_view_are_the_bytes_of_its_elements(dimensions):
    shape = tuple(size for size, _ in dimensions)
    strides = tuple(stride for _, stride in dimensions)
    expected = {
        10 + offset * 2 + byte for offset in element_offsets(shape, strides, 0) for byte in (0, 1)
    }
    assert bytes_in(ranges_of(view_of(shape, strides))) == expected


def test_view_of_too_many_pieces_names_no_bytes():
    assert ranges_of(view_of((16384, 1), (4, 1), "uint8")) != []
    assert ranges_of(view_of((16385, 1), (4, 1), "uint8")) == []
