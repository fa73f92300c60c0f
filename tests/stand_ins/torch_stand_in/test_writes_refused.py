from __future__ import annotations

import pytest


def test_set_to_memory_of_another_dtype_is_refused_as_torch_does(torch):
    with pytest.raises(RuntimeError, match="Could not set tensor of type float to a tensor of"):
        torch.zeros(2, dtype=torch.int32).set_(torch.zeros(2))


def test_fraction_as_alpha_of_whole_numbers_is_refused_as_torch_does(torch):
    numbers = torch.arange(4)
    with pytest.raises(RuntimeError, match="argument alpha must not be a floating point number"):
        numbers.add(numbers, alpha=0.5)
    assert numbers.add(0.5, alpha=0.5).dtype is torch.float32


def test_power_of_one_is_a_copy_for_every_dtype(torch):
    numbers = torch.zeros(2).to(torch.float8_e4m3fn)
    assert numbers.pow(1).dtype is torch.float8_e4m3fn
    with pytest.raises(NotImplementedError, match="not implemented for 'Float8_e4m3fn'"):
        numbers.pow(2)


def test_write_from_memory_with_gaps_is_not_judged(torch):
    numbers = torch.arange(24).reshape(4, 6)
    numbers[:, 0:2].copy_(numbers[:, 1:3])
    assert numbers[0].tolist() == [1, 2, 2, 3, 4, 5]


def test_write_from_memory_that_overlaps_is_refused_as_torch_does(torch):
    numbers = torch.arange(6)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        numbers[1:].copy_(numbers[:-1])
    numbers[:3].copy_(numbers[3:])
    numbers.view(2, 3).view(6).copy_(numbers)
    assert numbers.tolist() == [3, 4, 5, 3, 4, 5]


def test_running_sum_in_place_with_another_dtype_is_refused_as_torch_does(torch):
    numbers = torch.zeros(2, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="input tensor dtype int and output tensor dtype"):
        numbers.cumsum_(0, dtype=torch.int64)
