from __future__ import annotations

import pytest

from pytest_sm120.tensors.arrangements import padded_strides, transposed_strides


@pytest.mark.parametrize(
    ("shape", "padded", "transposed"),
    [
        ((), (), ()),
        ((5,), (1,), (1,)),
        ((3, 5), (21, 1), (1, 3)),
        ((2, 3, 5), (63, 21, 1), (15, 1, 3)),
    ],
)
def test_strides_keep_the_shape_and_change_the_memory(shape, padded, transposed):
    assert padded_strides(shape) == padded
    assert transposed_strides(shape) == transposed
