"""Launches: what is bound, what is kept, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_sm120.recorder.records import Launch, Opaque
from tests.stand_ins.bench import Bench

KERNELS = """
    import lib
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def scale(x_ptr, n, factor=2.0, BLOCK: tl.constexpr = 64):
        tl.store(x_ptr, 0)

    @triton.jit(do_not_specialize=["n"])
    def called(x_ptr, n):
        pass

    @triton.jit
    def own_warps(x_ptr, num_warps: tl.constexpr):
        pass

    def run(grid, *args, **kwargs):
        scale[grid](*args, **kwargs)
"""


@pytest.fixture
def kernels(bench: Bench) -> Any:
    return bench.load(KERNELS)


def only_launch(bench: Bench) -> Launch:
    [launch] = bench.recording.launches()
    return launch


def test_arguments_are_bound_by_position_keyword_and_default(bench: Bench, kernels: Any) -> None:
    x = bench.tensor(8)
    kernels.run((4,), x, n=8)
    launch = only_launch(bench)
    assert launch.kernel == "scale"
    assert launch.args == {"x_ptr": x.__sm120_view__(), "n": 8, "factor": 2.0, "BLOCK": 64}
    assert launch.tensors == {"x_ptr": x.__sm120_view__()}
    assert (launch.site, launch.function) == ("target.py:20", "run")
    assert (launch.options, launch.num_warps, launch.num_stages) == ({}, None, None)
    assert launch.capturing is False


def test_constants_and_dtypes_are_recorded_as_plain_values(bench: Bench, kernels: Any) -> None:
    language = kernels.tl
    kernels.run(
        (1,),
        kernels.torch.float16,
        language.constexpr(3),
        factor=language.bfloat16,
        BLOCK=kernels.lib.block,
    )
    assert only_launch(bench).args == {
        "x_ptr": "float16",
        "n": 3,
        "factor": "bfloat16",
        "BLOCK": Opaque("lib.block"),
    }


def test_kernel_given_to_a_kernel_is_recorded_by_its_name(bench: Bench, kernels: Any) -> None:
    kernels.run((1,), kernels.called, 1)
    assert only_launch(bench).args["x_ptr"] == Opaque("called")


def test_launch_options_are_kept_apart_from_the_arguments(bench: Bench, kernels: Any) -> None:
    kernels.run((1,), 1, 2, num_warps=8, num_stages=kernels.tl.constexpr(3), launch_pdl=True)
    launch = only_launch(bench)
    assert launch.options == {"num_warps": 8, "num_stages": 3, "launch_pdl": True}
    assert (launch.num_warps, launch.num_stages) == (8, 3)
    assert set(launch.args) == {"x_ptr", "n", "factor", "BLOCK"}


def test_parameter_called_like_an_option_is_an_argument(bench: Bench, kernels: Any) -> None:
    kernels.own_warps[(1,)](1, num_warps=4, num_stages=2)
    launch = only_launch(bench)
    assert launch.args == {"x_ptr": 1, "num_warps": 4}
    assert launch.options == {"num_stages": 2}


def test_jit_in_its_called_form_makes_a_kernel(bench: Bench, kernels: Any) -> None:
    kernels.called[(1,)](1, 2)
    assert only_launch(bench).kernel == "called"
    assert repr(kernels.called) == "<kernel called>"
    assert kernels.called.arg_names == ["x_ptr", "n"]
    assert kernels.called.__name__ == "called"


def test_function_of_a_kernel_can_be_made_a_kernel_again(bench: Bench, kernels: Any) -> None:
    again = kernels.triton.jit(kernels.called.fn, do_not_specialize=["n"])
    again[(1,)](1, 2)
    assert only_launch(bench).kernel == "called"


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1,), {}, "target.py:20: scale() missing a required argument: 'n'"),
        ((1, 2, 3, 4, 5), {}, "target.py:20: scale() too many positional arguments"),
        ((1, 2), {"n": 3}, "target.py:20: scale() multiple values for argument 'n'"),
    ],
)
def test_missing_surplus_and_double_arguments_are_refused(
    bench: Bench, kernels: Any, args: tuple[int, ...], kwargs: dict[str, int], message: str
) -> None:
    with pytest.raises(TypeError) as raised:
        kernels.run((1,), *args, **kwargs)
    assert str(raised.value) == message
    assert bench.recording.launches() == []


def test_unknown_keyword_is_refused(bench: Bench, kernels: Any) -> None:
    with pytest.raises(KeyError) as raised:
        kernels.run((1,), 1, 2, num_wraps=4)
    assert raised.value.args == (
        "target.py:20: scale() has neither a parameter nor a launch option called num_wraps",
    )


def test_kernel_cannot_be_called_like_a_function(kernels: Any) -> None:
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        kernels.called(1, 2)


@pytest.mark.parametrize("call", ["run", "warmup"])
def test_warm_up_checks_the_arguments_and_records_nothing(
    bench: Bench, kernels: Any, call: str
) -> None:
    options = {"warmup": True} if call == "run" else {}
    launch = getattr(kernels.called, call)
    launch(1, 2, grid=(1,), **options)
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        launch(1, grid=(1,), **options)
    assert bench.recording.launches() == []


def test_launch_during_capture_is_recorded_as_captured(bench: Bench, kernels: Any) -> None:
    with bench.execution.changed(graph=7):
        kernels.run((1,), 1, 1)
    assert (only_launch(bench).capturing, only_launch(bench).graph) == (True, 7)


def test_tensor_that_a_kernel_writes_has_unknown_contents_afterwards(
    bench: Bench, kernels: Any
) -> None:
    torch = kernels.torch
    written, read = torch.zeros(2), torch.zeros(2)
    kernels.run((1,), written, read)
    assert written._storage.contents is None
    assert read.tolist() == [0.0, 0.0]


def test_wrapper_module_is_loaded_and_driven(bench: Bench) -> None:
    module = bench.load(
        """
        import triton
        import triton.language as tl
        from triton.runtime.cache import triton_key

        @triton.autotune(configs=[triton.Config({"B": 64}, num_warps=4)], key=["n"])
        @triton.heuristics({"EVEN": lambda args: args["n"] % 64 == 0})
        @triton.jit
        def kernel(x, n, B: tl.constexpr, EVEN: tl.constexpr):
            pass

        def host(x, n):
            kernel[(triton.cdiv(n, 64),)](x, n)
            return triton.next_power_of_2(n)
        """
    )
    assert module.host(None, 100) == 128
    launch = only_launch(bench)
    assert (launch.kernel, launch.grid) == ("kernel", (2,))
    assert launch.args == {"x": None, "n": 100, "B": 64, "EVEN": False}
    assert hasattr(module.triton, "not_a_real_name") is False
    assert callable(module.triton_key)


def test_real_package_imported_while_triton_is_stood_in_for_is_imported_once(
    tmp_path: Path,
) -> None:
    # A second import of numpy in one process fails: its C parts can be loaded once only.
    import numpy

    bench = Bench(tmp_path)
    module = bench.load("import numpy, triton\n")
    assert module.numpy is numpy
    bench.close()
    import numpy as again

    assert again is numpy


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_kernel_tells_which_parameters_are_constexprs(bench: Bench, future: str) -> None:
    module = bench.load(
        f"{future}import triton\nimport triton.language as tl\n@triton.jit\n"
        "def kernel(out, N: tl.int64, HEAD: tl.constexpr, scale, FAST: tl.constexpr = True): ...\n"
    )
    assert module.kernel.constexprs == [2, 4]
