"""A launch says what it may write; the contents of that are not known afterwards."""

from __future__ import annotations

from tests.stand_ins.bench import Bench

TARGET = """
import torch, triton
import triton.language as tl


@triton.jit
def write(ptr):
    tl.store(ptr, 1)


@triton.jit
def write_first(ptrs):
    tl.store(ptrs[0], 1)


def copy_after_launch():
    kept = torch.zeros(4, device="cuda:0")
    write[(1,)](kept[2:])
    return kept.clone()


def copy_after_launch_with_a_tuple():
    kept = torch.zeros(4, device="cuda:0")
    write_first[(1,)]((kept, kept))
    return kept.clone()
"""


def test_copy_of_what_a_launch_was_given_has_no_value(bench: Bench) -> None:
    bench.load(TARGET).copy_after_launch()
    [copied] = bench.recording.allocations("clone")
    assert copied.fill is None


def test_copy_of_what_a_launch_was_given_in_a_tuple_has_no_value(bench: Bench) -> None:
    bench.load(TARGET).copy_after_launch_with_a_tuple()
    [copied] = bench.recording.allocations("clone")
    assert copied.fill is None


def test_what_a_kernel_writes_is_worked_out_once(bench: Bench) -> None:
    module = bench.load(TARGET)
    module.write[(1,)](bench.tensor(2))
    [effects] = bench.execution.effects_of_kernels.values()
    assert effects.written == {"ptr"}
    again = module.triton.jit(module.write.fn)
    again[(1,)](bench.tensor(2))
    assert again.effects is effects


def test_what_a_kernel_that_calls_others_writes_is_worked_out_by_each_test(
    bench: Bench,
) -> None:
    module = bench.load(
        """
        import triton
        import triton.language as tl

        @triton.jit
        def clear(x, value):
            tl.store(x, value)

        @triton.jit
        def kernel(x, y):
            clear(x, tl.load(y))
        """
    )
    module.kernel[(1,)](bench.tensor(2), bench.tensor(2))
    assert bench.recording.launches()[0].written == ("x",)
    assert module.kernel.effects.alone is False
    assert bench.execution.effects_of_kernels == {}


def test_launch_says_what_it_may_write_in_the_order_of_the_parameters(bench: Bench) -> None:
    module = bench.load(
        """
        import lib
        import triton
        import triton.language as tl

        @triton.jit
        def kernel(tables, read, total, n, described):
            tl.store(tables[n], tl.load(read))
            tl.atomic_add(total, n)
            described.store([0], 1)
        """
    )
    read, total, part = bench.tensor(2), bench.tensor(2), bench.tensor(2)
    module.kernel[(1,)]((part, part), read, total, 3, module.lib.described)
    [launch] = bench.recording.launches()
    assert launch.written == ("tables", "total", "described")
    assert launch.accumulated == ("total",)
