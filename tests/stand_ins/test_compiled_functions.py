"""Functions that a language for kernels compiles, and modules that are built when needed."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_sm120.recorder.records import Call, Opaque
from tests.stand_ins.bench import Bench


def only_call(bench: Bench, name: str | None = None) -> Call:
    [call] = bench.recording.calls(name)
    return call


CUTE = """
import cutlass
import cutlass.cute as cute
import helion

@cute.jit
def add(a, b: cutlass.Constexpr, stream):
    raise AssertionError("never runs")

class Gemm:
    @cute.jit
    def __call__(self, a, b, stream):
        raise AssertionError("never runs")

@helion.kernel(config={})
def norm(x, eps=1e-6):
    raise AssertionError("never runs")

def compile_and_run(a, stream):
    compiled = cute.compile(add, a, 3, stream, options="-O3")
    compiled(a, stream)

def compile_object(a, stream):
    cute.compile(Gemm(), a, a, stream)(a, a, stream=stream)
"""


def test_compiled_function_is_called_by_its_names(bench: Bench) -> None:
    module = bench.load(CUTE)
    a = bench.tensor(4)
    module.compile_and_run(a, 0)
    compiling, call = bench.recording.calls("add")
    assert (compiling.name, call.name) == ("cutlass.cute.compile", "cutlass.cute.compile()")
    assert compiling.args == (Opaque("add"), a.__sm120_view__(), 3, 0)
    assert call.bound == {"a": a.__sm120_view__(), "stream": 0}


def test_compiled_object_is_called_by_the_names_of_its_call(bench: Bench) -> None:
    module = bench.load(CUTE)
    module.compile_object(1, 0)
    call = bench.recording.calls("Gemm")[-1]
    assert call.bound == {"a": 1, "b": 1, "stream": 0}


def test_function_that_a_language_for_kernels_compiles_never_runs(bench: Bench) -> None:
    module = bench.load(CUTE)
    x = bench.tensor(4)
    answer = module.norm(x)
    call = only_call(bench, "norm")
    assert (call.name, call.kernel) == ("target.norm", "norm")
    assert call.bound == {"x": x.__sm120_view__(), "eps": 1e-6}
    assert repr(answer) == "<ghost target.norm()>"
    assert repr(module.norm) == "<kernel norm>"
    module.norm.bind(1, eps=2)
    assert bench.recording.calls("bind")[0].bound == {"x": 1, "eps": 2}
    with pytest.raises(AttributeError, match="<kernel norm> has no attribute '_x'"):
        _ = module.norm._x


def test_compiled_method_knows_its_object(bench: Bench) -> None:
    module = bench.load(CUTE)
    gemm = module.Gemm()
    gemm(1, 2, stream=3)
    assert only_call(bench, "__call__").bound == {"self": gemm, "a": 1, "b": 2, "stream": 3}
    assert module.Gemm.__call__ is vars(module.Gemm)["__call__"]


def test_compiled_function_runs_while_a_module_is_imported(bench: Bench) -> None:
    module = bench.load(
        "import cutlass.cute as cute\n@cute.jit\ndef twice(x): return 2 * x\nfour = twice(2)\n"
    )
    assert module.four == 4


def test_module_that_is_built_when_needed_is_called_by_its_function(bench: Bench) -> None:
    module = bench.load(
        """
        import functools, lib
        from torch.utils.cpp_extension import load_inline

        @functools.cache
        def get_module():
            return lib.gen_module().build_and_load()

        @functools.cache
        def get_inline():
            return load_inline(name="own", cpp_sources="", functions=["scale"])

        def run(x):
            get_module().append(x, 3)
            get_inline().scale(x)
        """
    )
    x = bench.tensor(4)
    module.run(x)
    append, scale = (only_call(bench, name) for name in ("append", "scale"))
    assert append.name == "lib.gen_module().build_and_load().append"
    assert (append.args, append.bound, append.kernel) == ((x.__sm120_view__(), 3), None, None)
    assert scale.name == "torch.utils.cpp_extension.load_inline().scale"


def test_gluon_kernel_is_launched(bench: Bench) -> None:
    module = bench.load(
        """
        from triton.experimental import gluon
        from triton.experimental.gluon import language as gl

        @gluon.jit
        def scale(x_ptr, n, BLOCK: gl.constexpr):
            gl.store(x_ptr, 0)

        layout = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))

        @gluon.jit(do_not_specialize=["n"])
        def other(n):
            pass
        """
    )
    module.scale[(2,)](1, 4, BLOCK=gl_constant(module, 8), num_warps=4)
    module.other[(1,)](3)
    launch, other = bench.recording.launches()
    assert (launch.kernel, launch.args) == ("scale", {"x_ptr": 1, "n": 4, "BLOCK": 8})
    assert other.args == {"n": 3}
    assert module.gl.float16 == module.gl.dtype("float16")
    assert not hasattr(module.gluon, "__file__")


def gl_constant(module: Any, value: int) -> Any:
    return module.gl.constexpr(value)
