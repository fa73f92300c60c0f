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


def test_current_stream_changes_inside_a_block(torch):
    default = torch.cuda.current_stream()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream != default
    with torch.cuda.stream(None):
        assert torch.cuda.current_stream() == torch.cuda.default_stream()
    torch.cuda.set_stream(stream)
    assert torch.cuda.current_stream().cuda_stream == stream.cuda_stream
    assert len({stream, torch.cuda.current_stream()}) == 1
    assert repr(default) == "<torch.cuda.Stream device=cuda:0 cuda_stream=0x0>"
    assert stream.device_index == 0


def test_streams_and_events_wait_for_nothing(torch):
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    event.record()
    stream.wait_event(event)
    assert stream.record_event(event) is event and stream.record_event().query()
    assert stream.query() and event.synchronize() is stream.synchronize() is None
    with pytest.raises(UnknownOperation):
        event.elapsed_time(event)


def test_graph_captures_between_begin_and_end(torch):
    graph = torch.cuda.CUDAGraph()
    graph.capture_begin()
    assert torch.cuda.is_current_stream_capturing()
    graph.capture_end()
    assert not torch.cuda.is_current_stream_capturing()
    assert graph.replay() is None
    assert graph.pool() != torch.cuda.graph_pool_handle()


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


def test_module_keeps_parameters_buffers_and_modules(torch):
    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(2))

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.register_buffer("scratch", torch.zeros(3), persistent=False)
            self.register_buffer("kept", torch.zeros(3))
            self.size = 3

        def forward(self, value):
            return value + self.size

    outer = Outer()
    assert outer(1) == 4 and outer.eval().inner.training is False
    assert [name for name, _ in outer.named_parameters()] == ["inner.weight"]
    assert sorted(outer.state_dict()) == ["inner.weight", "kept"]
    assert len(list(outer.modules())) == 2 and len(list(outer.parameters())) == 1
    assert outer.scratch is next(outer.buffers())
    del outer.scratch
    assert not hasattr(outer, "scratch")


def test_parameter_before_init_is_refused(torch):
    module = torch.nn.Module.__new__(torch.nn.Module)
    with pytest.raises(AttributeError, match="cannot assign parameters before Module"):
        module.weight = torch.nn.Parameter(torch.zeros(1))


def test_plain_value_in_place_of_a_parameter_is_refused(torch):
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(torch.zeros(1))
    with pytest.raises(TypeError, match="cannot assign 'int' object to parameter 'weight'"):
        module.weight = 3
    module.weight = None
    assert module.weight is None


def test_sequential_and_list_hold_modules(torch):
    sequential = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Identity())
    assert sequential(5) == 5 and len(sequential[:1]) == 1
    listed = torch.nn.ModuleList([torch.nn.Identity()])
    assert list(listed) == [listed[0]] and len(listed[0:1]) == 1
    with pytest.raises(NotImplementedError):
        torch.nn.Module()(1)


def test_parameter_subclass_shares_the_memory_of_its_data(torch):
    class Loaded(torch.nn.Parameter):
        def __new__(cls, data, **options):
            return super().__new__(cls, data, requires_grad=False)

        def __init__(self, data, loader=None):
            self.loader = loader

    data = torch.zeros(4)
    parameter = Loaded(data, loader=3)
    assert parameter.loader == 3 and isinstance(parameter, torch.nn.Parameter)
    assert parameter.data_ptr() == data.data_ptr() and not parameter.requires_grad
    parameter.data = torch.ones(2)
    assert parameter.tolist() == [1, 1]


def test_legacy_class_knows_its_tensors(torch):
    assert isinstance(torch.zeros(1, dtype=torch.int64), torch.LongTensor)
    assert not isinstance(torch.zeros(1), torch.LongTensor)
    assert not isinstance(1, torch.LongTensor)
    with pytest.raises(UnknownOperation):
        torch.LongTensor([1])


def test_custom_operator_runs_and_is_found_under_ops(torch):
    @torch.library.custom_op("mine::double", mutates_args=())
    def double(x):
        return x * 2

    @double.register_fake
    def _(x):
        return x

    @double.register_kernel("cuda")
    def _(x):
        return x

    assert double(3) == torch.ops.mine.double(4) - 2 == torch.ops.mine.double.default(3) == 6
    assert torch.ops.mine.other.name == "torch.ops.mine.other"
    assert repr(double) == "<CustomOp(mine::double)>"


def test_library_registers_implementations(torch):
    library = torch.library.Library("lib", "FRAGMENT")
    name = library.define("triple(Tensor x) -> Tensor")
    library.impl(name, lambda x: 3 * x, "CUDA")
    library._register_fake(name, lambda x: x)

    @torch.library.impl(library, "half", "CUDA")
    def half(x):
        return x / 2

    torch.library.impl("lib::fourth", "CUDA", func=lambda x: x / 4)
    torch.library.define("lib::fourth", "(Tensor x) -> Tensor")
    assert torch.library.register_fake("lib::half")(half) is half
    assert torch.library.register_fake("lib::half", half) is half
    ops = torch.ops.lib
    assert (ops.triple(2), ops.half(2), ops.fourth(2)) == (6, 1, 0.5)
    assert not hasattr(torch.ops, "__path__") and not hasattr(ops, "__path__")


def test_autograd_function_runs_forward(torch):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.mark_dirty(x)
            return 2 * x

    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return 3 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

    assert (Doubled.apply(2), Tripled.apply(2)) == (4, 6)
    with pytest.raises(NotImplementedError):
        torch.autograd.Function.apply(1)
    with pytest.raises(NotImplementedError):
        torch.autograd.Function.setup_context(None, (), None)
    with pytest.raises(UnknownOperation):
        Doubled.backward(None)


@pytest.mark.parametrize("path", ["compile", "compiler.disable", "jit.script"])
def test_compilers_are_identity_in_every_form(torch, path):
    decorator = torch
    for name in path.split("."):
        decorator = getattr(decorator, name)

    def function():
        return 1

    assert decorator(function) is decorator(dynamic=True)(function) is function


def test_nothing_is_compiled_or_scripted(torch):
    assert not torch.compiler.is_compiling() and not torch.jit.is_scripting()


def test_functional_linear_and_dropout_are_modelled(torch):
    functional = torch.nn.functional
    x = torch.zeros(2, 3)
    assert functional.linear(x, torch.zeros(4, 3)).shape == (2, 4)
    assert functional.dropout(x, training=False) is x
    with pytest.raises(UnknownOperation):
        functional.dropout(x)
    assert functional.conv1d.name == "torch.nn.functional.conv1d"
