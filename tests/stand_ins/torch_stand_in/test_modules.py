from __future__ import annotations

import pytest

from pytest_sm120.arch import ARCHES
from pytest_sm120.errors import UnknownOperation
from pytest_sm120.stand_ins.torch_stand_in import Tensor, build_torch

from .conftest import Ghost


def test_modules_are_linked_to_each_other(modules):
    torch = modules["torch"]
    assert torch.cuda is modules["torch.cuda"]
    assert torch.nn.functional is modules["torch.nn.functional"]


def test_name_that_torch_has_not_raises_attribute_error(torch):
    with pytest.raises(AttributeError, match=r"module 'torch' has no attribute 'npu'"):
        torch.npu  # noqa: B018  # the access is what is tested


@pytest.mark.parametrize("name", ["distributed", "_dynamo", "fft", "Generator"])
def test_name_that_is_not_modelled_is_a_ghost(torch, name):
    assert getattr(torch, name).name == f"torch.{name}"


def test_tensor_method_that_is_not_modelled_is_an_unknown_operation(torch):
    with pytest.raises(UnknownOperation) as caught:
        torch.zeros(2).cholesky()
    assert caught.value.cause.endswith(": Tensor.cholesky is not modelled.")
    assert caught.value.limit == (
        "The record tier models what host code around kernels uses; torch has more."
    )
    assert caught.value.remedy == (
        'Replace the function that calls it with provide=, or run the test with tier=["interpret"].'
    )


def test_tensor_method_that_torch_has_not_raises_attribute_error(torch):
    assert not hasattr(torch.zeros(2), "no_such_method")


def test_classes_are_shared_between_builds_and_functions_are_not(execution, torch):
    other = build_torch(execution, Ghost)["torch"]
    assert other.Tensor is torch.Tensor is Tensor
    assert other.empty is not torch.empty


def test_versions_are_declared(torch):
    assert (torch.__version__, torch.version.cuda, torch.version.hip) == ("2.13.0", "13.0", None)


def test_tensor_class_works_in_annotations(torch):
    assert (torch.Tensor | None).__args__ == (Tensor, type(None))


def test_device_properties_come_from_the_arch(torch, execution):
    execution.arch = ARCHES[12, 1]
    properties = torch.cuda.get_device_properties("cuda")
    assert (properties.multi_processor_count, properties.major, properties.minor) == (48, 12, 1)
    assert properties.shared_memory_per_block_optin == 101376
    assert torch.cuda.get_device_capability(0) == (12, 1)
    assert properties.gcnArchName == torch.cuda.get_device_name() == "GB10"
    assert torch.cuda.get_arch_list() == ["sm_121"]
    assert not hasattr(properties, "l2_size")


def test_cuda_answers_that_it_is_there(torch):
    assert torch.cuda.is_available() and torch.cuda.device_count() == 8
    assert torch.cuda.synchronize() is None


def test_current_device_changes_inside_a_block(torch):
    with torch.cuda.device("cuda:2"):
        assert torch.cuda.current_device() == 2
        assert str(torch.empty(1, device="cuda").device) == "cuda:2"
    with torch.cuda.device_of(torch.empty(1, device="cuda:3")):
        assert torch.cuda.current_device() == 3
    with torch.cuda.device_of(torch.empty(1)), torch.cuda.device(-1):
        assert torch.cuda.current_device() == 0
    with torch.get_device_module(torch.device("cuda")).device(1):
        assert torch.accelerator.current_device_index() == 1
    torch.cuda.set_device(4)
    assert torch.cuda.current_device() == 4


@pytest.mark.parametrize(
    ("device", "error", "message"),
    [
        ("cuda:8", RuntimeError, "CUDA error: invalid device ordinal"),
        ("gpu", RuntimeError, "Expected one of cpu, cuda"),
        (1.5, TypeError, "argument 'device' must be torch.device, not float"),
        ("xpu", UnknownOperation, "a tensor on the device xpu is not modelled"),
    ],
)
def test_device_that_is_not_there_is_refused(torch, device, error, message):
    with pytest.raises(error, match=message):
        torch.empty(1, device=device)


def test_stream_of_another_kind_of_device_is_refused(torch):
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.get_device_capability("cpu")


def test_inference_mode_works_as_block_and_as_both_decorators(torch):
    inside = torch.is_inference_mode_enabled
    with torch.inference_mode():
        assert inside() and not torch.is_grad_enabled()
        with torch.inference_mode(False):
            assert not inside()
    assert torch.inference_mode(inside)() and torch.inference_mode()(inside)()
    assert not inside()


def test_grad_mode_works_as_block_decorator_and_call(torch):
    enabled = torch.is_grad_enabled
    with torch.no_grad():
        assert not enabled() and torch.enable_grad(enabled)()
    assert not torch.no_grad()(enabled)()
    with torch.set_grad_enabled(False):
        assert not enabled()
    assert enabled() and not torch.set_grad_enabled(False)(enabled)() and enabled()
    torch.set_grad_enabled(False)
    assert not enabled()


def test_decorated_class_stays_a_class(torch):
    assert isinstance(torch.no_grad()(type("Kept", (), {})), type)


def test_default_dtype_can_be_set(torch):
    torch.set_default_dtype(torch.bfloat16)
    assert torch.zeros(1).dtype is torch.get_default_dtype() is torch.bfloat16
    with pytest.raises(TypeError, match="only floating-point types are supported"):
        torch.set_default_dtype(torch.int8)


def test_positions_in_a_sequence_that_a_sorter_orders_are_an_unknown_operation(torch):
    with pytest.raises(UnknownOperation) as caught:
        torch.searchsorted(torch.tensor([3, 1, 2]), 2, sorter=torch.tensor([1, 2, 0]))
    assert caught.value.cause.endswith(": torch.searchsorted(..., sorter=...) is not modelled.")


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("torch.zeros(4, out=t)", "torch.zeros(..., out=...)"),
        ("torch.full((4,), 1, out=t)", "torch.full(..., out=...)"),
    ],
)
def test_way_to_create_that_is_not_modelled_is_an_unknown_operation(torch, expression, what):
    with pytest.raises(UnknownOperation) as caught:
        eval(expression, {"torch": torch, "t": torch.empty(4)})
    assert caught.value.cause.endswith(f": {what} is not modelled.")


def test_repeating_one_value_often_lists_no_values(torch):
    assert torch.ones(1).repeat_interleave(2**40).shape == (2**40,)
