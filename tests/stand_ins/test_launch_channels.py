"""Each way in which host code reaches a kernel through something that is not there."""

from __future__ import annotations

import pytest

from pytest_sm120.recorder.records import Call
from tests.stand_ins.bench import Bench

KERNEL = """
import lib
import torch
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr = 64):
    tl.store(x_ptr, 0)
"""


def only_call(bench: Bench, name: str | None = None) -> Call:
    [call] = bench.recording.calls(name)
    return call


# -- wrappers around a kernel ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapped",
    [
        "lib.wrapper(scale)",
        "lib.wrapper(scale, eager=True)",
        "lib.wrapper('name', scale)",
        "lib.wrapper(kernel=scale)",
        "lib.wrapper(kernel=scale).tuned",
    ],
)
def test_kernel_that_a_ghost_was_given_is_launched_with_a_grid(bench: Bench, wrapped: str) -> None:
    module = bench.load(f"{KERNEL}\nwrapped = {wrapped}\n")
    x = bench.tensor(4)
    module.wrapped[(3,)](x, n=4, num_warps=8)
    [launch] = bench.recording.launches("scale")
    assert (launch.grid, launch.num_warps) == ((3,), 8)
    assert launch.args == {"x_ptr": x.__sm120_view__(), "n": 4, "BLOCK": 64}
    assert bench.recording.calls() == []


def test_arguments_that_do_not_fit_the_kernel_are_recorded_as_a_call(bench: Bench) -> None:
    module = bench.load(f"{KERNEL}\nwrapped = lib.wrapper('name', scale)\n")
    module.wrapped[(3,)](1, 2, 3, 4)
    call = only_call(bench)
    assert (call.name, call.kernel, call.args) == ("lib.wrapper()", "scale", (1, 2, 3, 4))
    assert call.bound is None
    assert bench.recording.launches() == []


@pytest.mark.parametrize("wrapped", ["lib.Wrapper(scale)", "lib.Wrapper('name', scale)"])
def test_kernel_in_a_wrapper_is_called(bench: Bench, wrapped: str) -> None:
    module = bench.load(f"{KERNEL}\nwrapped = {wrapped}\ndef run(*args): return wrapped(*args)\n")
    x = bench.tensor(4)
    answer = module.run(x, 4)
    call = only_call(bench, "scale")
    assert call.name in ("lib.Wrapper", "lib.Wrapper()")
    assert call.bound == {"x_ptr": x.__sm120_view__(), "n": 4, "BLOCK": 64}
    assert (call.site, call.function) == ("target.py:12", "run")
    assert "lib.Wrapper" in repr(answer)


@pytest.mark.parametrize("wrapped", ["lib.Wrapper(scale)", "lib.Wrapper('name', scale)"])
def test_method_of_a_wrapper_around_a_kernel_is_called(bench: Bench, wrapped: str) -> None:
    module = bench.load(f"{KERNEL}\nwrapped = {wrapped}\n")
    module.wrapped.launch(n=4, x_ptr=5, stream=0)
    call = only_call(bench, "launch")
    assert call.kernel == "scale"
    assert call.bound == {"x_ptr": 5, "n": 4, "BLOCK": 64}
    assert call.kwargs == {"n": 4, "x_ptr": 5, "stream": 0}


def test_kernel_without_a_wrapper_is_itself(bench: Bench) -> None:
    module = bench.load(f"{KERNEL}\nsame = lib.wrapper(scale)\n")
    assert module.same is module.scale
    with pytest.raises(AttributeError, match="has no attribute '_launch'"):
        _ = module.scale._launch
    plain = module.triton.jit(module.scale.fn)
    with pytest.raises(AttributeError, match="<kernel scale> has no attribute 'launch'"):
        _ = plain.launch
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        plain(1, 2)


# -- functions that say how to launch --------------------------------------------------------------

DISPATCH = (
    KERNEL
    + """
@lib.dispatcher(kernel=scale)
def run_scale(x, n, blocks=2):
    kept = torch.zeros(1, device="cuda")
    return (blocks,), dict(BLOCK=n, kept=kept)

at_import = run_scale(1, 2)

@lib.api
def plain(x):
    return x
"""
)


def test_function_under_a_wrapper_of_a_kernel_is_recorded_with_what_it_answers(
    bench: Bench,
) -> None:
    module = bench.load(DISPATCH)
    assert bench.recording.calls() == []
    x = bench.tensor(4)
    answer = module.run_scale(x, n=4)
    [kept] = bench.recording.allocations()[1:]
    call = only_call(bench)
    assert (call.name, call.kernel) == ("target.run_scale", "scale")
    assert (call.args, call.kwargs) == ((x.__sm120_view__(),), {"n": 4})
    assert call.bound == {"x": x.__sm120_view__(), "n": 4, "blocks": 2}
    assert call.returned == ((2,), {"BLOCK": 4, "kept": kept.view})
    assert answer[0] == (2,)
    assert bench.recording.calls("run_scale") == bench.recording.calls("scale") == [call]
    assert module.run_scale.__name__ == "run_scale"


def test_function_under_any_other_ghost_is_not_recorded(bench: Bench) -> None:
    module = bench.load(DISPATCH)
    assert module.plain(3) == 3
    assert bench.recording.calls() == []


CLASSES = (
    KERNEL
    + """
class Asked(lib.JitKernel["Asked.Key"]):
    @staticmethod
    @triton.jit
    def kernel(x_ptr, n):
        tl.store(x_ptr, 0)

    @lib.launcher
    def __call__(self, x, n=3):
        return (n,), {"n": n}

class Silent(lib.JitKernel):
    kernel = scale

class Own(lib.JitKernel):
    kernel = scale
    def __call__(self, x):
        self.kernel[(1,)](x, 1)
    def __getattr__(self, name):
        return f"own {name}"

class Plain(lib.JitKernel):
    pass

class Again(Silent):
    kernel = scale

asked, silent, own, plain = Asked(), Silent(1), Own(), Plain()
"""
)


def test_class_that_holds_a_kernel_is_recorded_with_what_it_answers(bench: Bench) -> None:
    module = bench.load(CLASSES)
    x = bench.tensor(4)
    assert module.asked(x) == ((3,), {"n": 3})
    call = only_call(bench)
    assert (call.name, call.kernel) == ("target.Asked", "kernel")
    assert (call.args, call.bound) == ((x.__sm120_view__(),), {"x": x.__sm120_view__(), "n": 3})
    assert call.returned == ((3,), {"n": 3})


def test_class_that_holds_a_kernel_is_called_through_its_base(bench: Bench) -> None:
    module = bench.load(CLASSES)
    module.silent(7, n=2)
    module.silent.launch(7, 2)
    called, launched = bench.recording.calls("scale")
    assert (called.name, launched.name) == ("target.Silent", "lib.JitKernel.launch")
    assert called.bound == launched.bound == {"x_ptr": 7, "n": 2, "BLOCK": 64}
    with pytest.raises(AttributeError, match="'Silent' object has no attribute '_cache'"):
        _ = module.silent._cache


def test_class_that_launches_its_kernel_itself_is_left_alone(bench: Bench) -> None:
    module = bench.load(CLASSES)
    module.own(7)
    assert [launch.kernel for launch in bench.recording.launches()] == ["scale"]
    assert bench.recording.calls() == []
    assert module.own.anything == "own anything"


def test_class_without_a_kernel_has_nothing_of_its_base(bench: Bench) -> None:
    module = bench.load(CLASSES)
    assert not callable(module.plain)
    assert not hasattr(module.plain, "launch")


def test_class_of_the_target_around_a_kernel_launches_it(bench: Bench) -> None:
    module = bench.load(
        KERNEL
        + """
class Runner:
    def __init__(self, kernel):
        self.kernel = kernel
    def __getitem__(self, grid):
        return lambda *args: self.kernel[grid](*args)
    def __call__(self, x, n):
        self[(n,)](x, n)

Runner(scale)
"""
    )
    module.Runner(module.scale)(1, 5)
    [launch] = bench.recording.launches()
    assert (launch.grid, launch.args["n"]) == ((5,), 5)


# -- what a call may have written ------------------------------------------------------------------


def test_contents_of_what_an_object_holds_are_not_known_after_a_call(bench: Bench) -> None:
    module = bench.load(
        """
        import lib, torch
        from dataclasses import dataclass

        @dataclass
        class Metadata:
            buffers: dict

        def run(stream):
            written, kept = torch.zeros(2), torch.zeros(2)
            lib.plan(Metadata({"ws": [written]}), stream=torch.cuda.current_stream())
            return written.clone(), kept.clone()
        """
    )
    module.run(0)
    written, kept = bench.recording.allocations("clone")
    assert (written.fill, kept.fill) == (None, 0)
    assert only_call(bench).kwargs == {"stream": (0, 0)}


def test_events_and_graphs_are_recorded_by_their_numbers(bench: Bench) -> None:
    module = bench.load(
        """
        import lib, torch
        event, graph = torch.cuda.Event(), torch.cuda.CUDAGraph()
        def run():
            lib.wait(event, graph)
        """
    )
    module.run()
    assert only_call(bench).args == (module.event.number, module.graph.number)
