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


def test_mask_is_filled_only_for_the_dtypes_that_torch_fills(torch):
    numbers = torch.zeros(1).to(torch.float8_e4m3fn)
    with pytest.raises(NotImplementedError) as refusal:
        numbers[torch.tensor([False])] = 2
    assert str(refusal.value) == "\"masked_fill\" not implemented for 'Float8_e4m3fn'"


def test_indices_that_do_not_fit_are_refused_before_the_dtype(torch):
    numbers = torch.zeros(1, 1, dtype=torch.int32)
    with pytest.raises(IndexError, match="indexing tensors could not be broadcast together"):
        numbers[[0, 0], torch.tensor([False])] = torch.tensor(2)


def test_write_of_a_tensor_to_itself_is_accepted_where_elements_share_memory(torch):
    rows = torch.arange(2).expand(2, 2)
    rows[...] = rows[0]
    assert rows.tolist() == [[0, 1], [0, 1]]


def test_contents_are_not_known_when_a_write_may_change_its_source(torch):
    numbers = torch.arange(4).reshape(2, 2)
    numbers[:, 1] = numbers[0]
    assert numbers._storage.contents is None


def test_overlap_is_refused_before_an_index_past_the_end(torch):
    numbers = torch.zeros(1, 1)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        numbers[[1]] = numbers[0]


def test_one_element_is_filled_and_refused_where_elements_share_memory(torch):
    numbers = torch.zeros(1).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        numbers[...] = numbers[0]


def test_contents_stay_known_when_one_element_fills_the_tensor_that_holds_it(torch):
    numbers = torch.arange(1, 4)
    numbers[:] = numbers[0]
    assert numbers.tolist() == [1, 1, 1]


def test_overlap_is_refused_before_a_mask_of_another_shape(torch):
    numbers = torch.zeros(1, 2)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        numbers[0, torch.tensor([False])] = numbers[0]


def test_slice_past_the_end_is_refused_unless_it_names_all(torch):
    numbers = torch.zeros(2, 2)
    assert numbers[..., ..., :].shape == (2, 2)
    with pytest.raises(IndexError) as refusal:
        numbers[..., ..., ::2]
    assert str(refusal.value) == (
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    )
