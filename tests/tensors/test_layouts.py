from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.tensors import layouts

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)
FULL_SHAPES = st.lists(st.integers(1, 4), max_size=4).map(tuple)


@given(FULL_SHAPES)
def test_contiguous_elements_are_numbered_in_order(shape):
    strides = layouts.contiguous_strides(shape)
    assert layouts.element_offsets(shape, strides, 0) == list(range(prod(shape)))
    assert layouts.extent(shape, strides) == prod(shape)
    assert layouts.is_contiguous(shape, strides)
    assert layouts.is_dense(shape, strides)


@given(FULL_SHAPES, st.randoms())
def test_permuted_tensor_stays_dense_and_keeps_its_order_in_a_result(shape, random):
    order = list(range(len(shape)))
    random.shuffle(order)
    strides = layouts.contiguous_strides(shape)
    moved = tuple(shape[at] for at in order)
    steps = tuple(strides[at] for at in order)
    assert layouts.is_dense(moved, steps)
    wide = [at for at, size in enumerate(moved) if size > 1]
    found = layouts.result_strides(moved, [steps])
    assert [found[at] for at in wide] == [steps[at] for at in wide]


@given(SHAPES)
def test_view_in_one_dimension_exists_for_a_contiguous_tensor(shape):
    strides = layouts.contiguous_strides(shape)
    assert layouts.view_strides(shape, strides, (prod(shape),)) == (1,)


@pytest.mark.parametrize(
    ("old", "strides", "new", "expected"),
    [
        ((4, 6), (6, 1), (2, 2, 6), (12, 6, 1)),
        ((4, 6), (1, 4), (24,), None),
        ((4, 3), (6, 1), (12,), None),
        ((4, 3), (6, 1), (2, 2, 3), (12, 6, 1)),
        ((), (), (1, 1), (1, 1)),
        ((0, 3), (3, 1), (3, 0), (1, 1)),
        ((0, 3), (5, 1), (0, 3), (5, 1)),
    ],
)
def test_strides_of_a_view_are_found_when_there_is_one(old, strides, new, expected):
    assert layouts.view_strides(old, strides, new) == expected


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (((2, 1), (3,)), (2, 3)),
        (((2,), (3,)), None),
        ((), ()),
        (((0,), (1,)), (0,)),
    ],
)
def test_broadcast_shape_is_found_when_there_is_one(shapes, expected):
    assert layouts.broadcast_shapes(*shapes) == expected


@pytest.mark.parametrize(
    ("shape", "count", "expected"),
    [
        ((-1, 2), 6, (3, 2)),
        ((3, 2), 6, (3, 2)),
        ((3, 3), 6, None),
        ((-1, -1), 6, None),
        ((-2, 3), 6, None),
        ((-1, 4), 6, None),
        ((-1, 0), 0, None),
    ],
)
def test_minus_one_is_resolved_when_the_sizes_divide(shape, count, expected):
    assert layouts.resolve_minus_one(shape, count) == expected


@pytest.mark.parametrize(
    ("shape", "strides", "dense"),
    [((2, 3), (3, 1), True), ((2, 3), (4, 1), False), ((0, 3), (9, 9), True), ((1,), (7,), True)],
)
def test_gaps_make_a_layout_not_dense(shape, strides, dense):
    assert layouts.is_dense(shape, strides) is dense


def test_expanded_dimension_overlaps_itself():
    assert layouts.may_overlap_itself((2, 3), (0, 1))
    assert not layouts.may_overlap_itself((2, 0), (0, 1))
    assert layouts.broadcast_strides((1, 3), (3, 1), (2, 4, 3)) == (0, 0, 1)
