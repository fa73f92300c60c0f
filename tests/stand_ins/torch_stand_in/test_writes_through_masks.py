from __future__ import annotations

import pytest


def test_one_value_of_the_cpu_is_converted_when_it_is_written_through_a_mask(torch):
    numbers = torch.zeros(3, dtype=torch.int32)
    numbers[torch.tensor([True, False, True])] = torch.tensor([2.5])
    assert numbers.tolist() == [2, 0, 2]


def test_one_value_is_converted_when_the_mask_picks_nothing(torch):
    numbers = torch.zeros(0, dtype=torch.int32)
    numbers[torch.tensor([], dtype=torch.bool)] = torch.tensor(2)
    assert numbers.tolist() == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ([[True, False]], [2, 3]),
        ([[True, False], [0, 0]], [2]),
        ([[1, 0]], [2]),
    ],
)
def test_values_of_another_dtype_are_refused_as_torch_does_elsewhere(torch, key, value):
    numbers = torch.zeros(2, 2, dtype=torch.int32)
    with pytest.raises(RuntimeError) as refusal:
        numbers[tuple(torch.tensor(part) for part in key)] = torch.tensor(value)
    assert str(refusal.value) == (
        "Index put requires the source and destination dtypes match, got Int for the destination"
        " and Long for the source."
    )


def test_value_of_a_card_is_refused_as_torch_does_when_its_dtype_differs(torch):
    numbers = torch.zeros(2, dtype=torch.int32, device="cuda")
    mask = torch.tensor([True, False], device="cuda")
    with pytest.raises(RuntimeError) as refusal:
        numbers[mask] = torch.tensor(2, device="cuda")
    assert str(refusal.value) == (
        "Index put requires the source and destination dtypes match, got Int for the destination"
        " and Long for the source."
    )
