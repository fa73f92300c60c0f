"""torch.nn, torch.library, torch.autograd and the compilers."""

from typing import Any

import pytest

from pytest_sm120.errors import UnknownOperation


def test_module_keeps_parameters_buffers_and_modules(torch):
    Module: Any = torch.nn.Module

    class Inner(Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(2))

    class Outer(Module):
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
    Parameter: Any = torch.nn.Parameter

    class Loaded(Parameter):
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
    Function: Any = torch.autograd.Function

    class Doubled(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.mark_dirty(x)
            return 2 * x

    class Tripled(Function):
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


def make_module(torch):
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(torch.ones(2))
    module.register_parameter("bias", None)
    module.register_buffer("table", torch.arange(2))
    module.register_buffer("scale", torch.ones(2))
    module.register_buffer("nothing", None)
    return module


@pytest.mark.parametrize(
    ("move", "device", "dtype"),
    [
        (lambda torch, module: module.to("cuda"), "cuda:0", "float32"),
        (lambda torch, module: module.cuda(), "cuda:0", "float32"),
        (lambda torch, module: module.cuda(1), "cuda:1", "float32"),
        (lambda torch, module: module.cuda().cpu(), "cpu", "float32"),
        (lambda torch, module: module.half(), "cpu", "float16"),
        (lambda torch, module: module.bfloat16().float(), "cpu", "float32"),
        (lambda torch, module: module.bfloat16(), "cpu", "bfloat16"),
        (lambda torch, module: module.to("cuda", torch.float64), "cuda:0", "float64"),
        (lambda torch, module: module.to(device="cuda", dtype=torch.half), "cuda:0", "float16"),
        (lambda torch, module: module.to(torch.ones(1).half().cuda()), "cuda:0", "float16"),
    ],
)
def test_module_moves_and_converts_what_it_holds(torch, move, device, dtype):
    module = make_module(torch)
    weight = module.weight
    assert move(torch, module) is module
    assert module.weight is weight
    assert [str(each.device) for each in (weight, module.table, module.scale)] == [device] * 3
    assert weight.dtype is module.scale.dtype is getattr(torch, dtype)
    assert module.table.dtype is torch.int64 and module.scale.tolist() == [1.0, 1.0]


def test_module_is_not_converted_to_whole_numbers(torch):
    with pytest.raises(TypeError) as caught:
        make_module(torch).to(torch.int32)
    assert str(caught.value) == (
        "nn.Module.to only accepts floating point or complex dtypes, but got desired "
        "dtype=torch.int32"
    )
