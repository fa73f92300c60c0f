from __future__ import annotations

from typing import Any

import pytest

from pytest_sm120.errors import UsageError
from pytest_sm120.stand_ins.torch_stand_in import input_tensor

from .conftest import Ghost


def make_foreign():
    """Return an object whose class says that it belongs to the real torch."""
    return type("Tensor", (), {"__module__": "torch"})()


@pytest.mark.parametrize(
    "call",
    [
        lambda torch, foreign: torch.zeros(2) + foreign,
        lambda torch, foreign: torch.add(torch.zeros(2), foreign),
        lambda torch, foreign: torch.abs(foreign),
        lambda torch, foreign: torch.zeros(2, dtype=foreign),
        lambda torch, foreign: torch.zeros(2, device=foreign),
        lambda torch, foreign: torch.zeros(2).copy_(foreign),
        lambda torch, foreign: torch.cat([foreign]),
        lambda torch, foreign: torch.zeros(2).to(foreign),
        lambda torch, foreign: torch.nn.Parameter(foreign),
        lambda torch, foreign: torch.zeros(2)[foreign],
        lambda torch, foreign: torch.zeros(2).__setitem__(0, foreign),
        lambda torch, foreign: torch.finfo(foreign),
    ],
)
def test_object_of_the_real_torch_is_refused(torch, call):
    with pytest.raises(UsageError) as caught:
        call(torch, make_foreign())
    assert caught.value.cause.endswith(
        ": an object of the real torch (Tensor) was given to the stand-in for torch."
    )
    assert caught.value.limit == "The record tier never mixes both."
    assert caught.value.remedy == (
        'Make inputs with sm120.tensor or sm120.values, or run the test with tier=["interpret"].'
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda torch, ghost: torch.empty(2, ghost),
        lambda torch, ghost: torch.empty(ghost),
        lambda torch, ghost: torch.zeros(2) + ghost,
        lambda torch, ghost: torch.zeros(2)[ghost],
        lambda torch, ghost: torch.zeros(2).unsqueeze(ghost),
        lambda torch, ghost: torch.full((2,), ghost),
    ],
)
def test_ghost_in_a_computation_explains_itself(torch, call):
    with pytest.raises(ValueError, match="thing is a ghost"):
        call(torch, Ghost("thing"))


def test_tensors_of_two_devices_are_refused_in_one_operation(torch):
    with pytest.raises(RuntimeError) as caught:
        torch.zeros(2, device="cuda:0") + torch.zeros(2, device="cuda:1")
    assert str(caught.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
        "and cuda:1!"
    )


def test_cpu_tensor_without_dimensions_goes_with_any_device(torch):
    result = torch.zeros(2, device="cuda:1") + torch.tensor(3)
    assert str(result.device) == "cuda:1" and result.tolist() == [3.0, 3.0]


def test_unknown_mask_can_be_written_through_but_not_read_through(torch, execution):
    tensor = torch.zeros(4, device="cuda")
    numbers: Any = input_tensor(execution, (4,), "float32")
    mask = numbers > 0
    tensor[mask] = 1
    assert [fill.op for fill in execution.recording.fills()] == ["__setitem__"]
    with pytest.raises(Exception, match="indexing with a mask needs the contents"):
        tensor[mask]


def test_address_is_aligned_and_differs_between_storages(torch):
    first, second = torch.empty(4), torch.empty(4)
    assert first.data_ptr() % 512 == second.data_ptr() % 512 == 0
    assert first.data_ptr() != second.data_ptr()
    assert first[2:].data_ptr() - first.data_ptr() == 8
    assert torch.empty(0).data_ptr() == 0
    storage = first.untyped_storage()
    assert (storage.nbytes(), len(storage), str(storage.device)) == (16, 16, "cpu")
