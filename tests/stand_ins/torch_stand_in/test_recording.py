from __future__ import annotations

import numpy
import pytest

from pytest_sm120.stand_ins.torch_stand_in.memory import INFERENCE_UPDATE


def only(records):
    [record] = records
    return record


@pytest.mark.parametrize(
    ("name", "fill", "uninitialized"),
    [("empty", None, True), ("zeros", 0, False), ("ones", 1, False), ("rand", None, False)],
)
def test_creation_is_recorded_with_its_fill(torch, execution, name, fill, uninitialized):
    getattr(torch, name)(4, 6, dtype=torch.float16, device="cuda:1")
    made = only(execution.recording.allocations())
    assert (made.call, made.fill, made.uninitialized) == (f"torch.{name}", fill, uninitialized)
    assert (made.shape, made.strides, made.dtype, made.device) == (
        (4, 6),
        (6, 1),
        "float16",
        "cuda:1",
    )


def test_full_is_recorded_with_its_value(torch, execution):
    torch.full((3,), -1, dtype=torch.int32, device="cuda")
    made = only(execution.recording.allocations("torch.full"))
    assert (made.fill, made.dtype, made.device) == (-1, "int32", "cuda:0")


@pytest.mark.parametrize(
    ("expression", "call"),
    [
        ("t + 1", "Tensor.add"),
        ("torch.add(t, 1)", "torch.add"),
        ("t.to(torch.int64)", "Tensor.to"),
        ("t.t().contiguous()", "Tensor.contiguous"),
        ("t.clone()", "Tensor.clone"),
        ("torch.cat([t, t])", "torch.cat"),
        ("t.new_empty(3)", "Tensor.new_empty"),
        ("torch.empty_like(t)", "torch.empty_like"),
        ("t[[0, 1]]", "Tensor.__getitem__"),
        ("t.sum()", "Tensor.sum"),
    ],
)
def test_computed_tensor_is_recorded_as_it_was_called(torch, execution, expression, call):
    tensor = torch.zeros(2, 3)
    eval(expression, {"torch": torch, "t": tensor})
    assert [made.call for made in execution.recording.allocations()] == ["torch.zeros", call]


@pytest.mark.parametrize(
    "expression", ["t[1:]", "t.view(-1)", "t.to(torch.float32)", "t.contiguous()", "t.reshape(6)"]
)
def test_view_is_not_recorded(torch, execution, expression):
    tensor = torch.zeros(2, 3)
    view = eval(expression, {"torch": torch, "t": tensor})
    assert view.__sm120_view__().shares_storage_with(tensor)
    assert len(execution.recording.records()) == 1


@pytest.mark.parametrize(
    ("statement", "op", "value"),
    [
        ("t.zero_()", "zero_", 0),
        ("t.fill_(-1)", "fill_", -1),
        ("t[...] = 7", "__setitem__", 7),
        ("t[0] = 2.5", "__setitem__", 2.5),
        ("t.copy_(u)", "copy_", 1),
        ("t.add_(3)", "add_", 3),
        ("t.clamp_(min=0)", "clamp_", 0),
        ("t.copy_(unknown)", "copy_", None),
        ("t.mul_(unknown)", "mul_", None),
        ("t.masked_fill_(unknown > 0, 1)", "masked_fill_", None),
        ("t[t > 0] = 1", "__setitem__", None),
        ("t[[0, 1]] = u", "__setitem__", None),
    ],
)
def test_write_is_recorded_with_the_value_when_there_is_one(torch, execution, statement, op, value):
    names = {"t": torch.zeros(2, 3), "u": torch.ones(2, 3), "unknown": torch.empty(2, 3)}
    exec(statement, names)
    written = only(execution.recording.fills())
    assert (written.op, written.value) == (op, value)
    assert written.view.shares_storage_with(names["t"])


def test_byte_range_of_a_slice_lies_inside_its_buffer(torch):
    buffer = torch.empty(8, 4, dtype=torch.int32)
    assert buffer[2:4].__sm120_view__().byte_range == (32, 64)


def test_inference_mode_and_capture_are_recorded(torch, execution):
    with torch.inference_mode(), torch.cuda.graph(torch.cuda.CUDAGraph()):
        torch.empty(1)
    torch.empty(1)
    made = execution.recording.allocations()
    assert [(one.inference, one.capturing) for one in made] == [(True, True), (False, False)]


def test_write_to_an_inference_tensor_is_refused_outside_of_inference_mode(torch):
    with torch.inference_mode():
        tensor = torch.empty(4)
        tensor.zero_()
    with pytest.raises(RuntimeError) as caught:
        tensor[:2].zero_()
    assert str(caught.value) == INFERENCE_UPDATE


def test_write_to_a_parameter_is_refused_while_gradients_are_enabled(torch):
    parameter = torch.nn.Parameter(torch.zeros(2))
    with pytest.raises(RuntimeError) as caught:
        parameter.zero_()
    assert str(caught.value) == (
        "a leaf Variable that requires grad is being used in an in-place operation."
    )
    with torch.no_grad():
        parameter.zero_()


def test_growing_resize_is_recorded_and_a_shrinking_one_is_not(torch, execution):
    tensor = torch.empty(4)
    tensor.resize_(2)
    assert len(execution.recording.allocations()) == 1
    tensor.resize_(8)
    made = execution.recording.allocations("Tensor.resize_")
    assert [one.bytes for one in made] == [32]


def test_big_scratch_holds_no_memory_for_its_contents(torch):
    scratch = torch.zeros(32768, 37440, dtype=torch.uint8, device="cuda")
    assert scratch[100, 5].item() == 0
    assert scratch.nbytes == 1226833920
    scratch[:64].zero_()
    assert scratch[100, 5].item() == 0


COPIES_OF_ZEROS = {
    "clone": lambda torch, zeros: zeros.clone(),
    "to": lambda torch, zeros: zeros.to("cuda:0"),
    "contiguous": lambda torch, zeros: zeros[:, :1].contiguous(),
}


@pytest.mark.parametrize("name", COPIES_OF_ZEROS)
def test_copy_of_zeros_is_recorded_as_zeros(torch, execution, name):
    COPIES_OF_ZEROS[name](torch, torch.zeros(2, 3))
    assert [made.fill for made in execution.recording.allocations()] == [0, 0]


def test_copy_of_what_is_not_known_has_no_value(torch, execution):
    torch.empty(2).clone()
    torch.ones(2).add(torch.empty(2))
    assert execution.recording.allocations("clone")[0].fill is None
    assert execution.recording.allocations("add")[0].fill is None


def test_copying_zeros_over_a_tensor_is_recorded_with_their_value(torch, execution):
    torch.empty(2).copy_(torch.zeros(2))
    torch.empty(2).copy_(torch.empty(2))
    assert [fill.value for fill in execution.recording.fills("copy_")] == [0, None]


def test_value_of_the_only_element_is_recorded_as_that_of_every_element(torch, execution):
    torch.tensor(1.5)
    torch.tensor([1, 2])
    torch.tensor(float("nan"), dtype=torch.int32)
    fills = [record.fill for record in execution.recording.allocations()]
    assert fills == [1.5, None, None]


def test_padding_is_recorded_under_its_name(torch, execution):
    torch.nn.functional.pad(torch.ones(2), (1, 0))
    assert [record.call for record in execution.recording.allocations()] == [
        "torch.ones",
        "torch.nn.functional.pad",
    ]


def test_scattering_in_place_is_recorded_as_a_write(torch, execution):
    torch.zeros(2).scatter_(0, torch.tensor([0]), 1.0)
    assert [record.op for record in execution.recording.fills()] == ["scatter_"]


@pytest.mark.parametrize("name", ["from_numpy", "asarray"])
def test_tensor_of_an_array_is_recorded_under_the_name_that_was_called(torch, execution, name):
    tensor = getattr(torch, name)(numpy.arange(3, dtype="int32"))
    assert [each.call for each in execution.recording.allocations()] == [f"torch.{name}"]
    assert (tensor.dtype, tensor.tolist()) == (torch.int32, [0, 1, 2])
