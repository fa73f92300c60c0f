"""Who wrote last where a kernel counts on zeros."""

from __future__ import annotations

import re

import pytest

from pytest_sm120 import KernelArguments
from pytest_sm120.contracts import check
from pytest_sm120.errors import ContractBroken, UsageError
from tests.contracts.fake_targets import Driven, FakeBench, FakeTensor

__sm120_target__ = True

ZEROED = KernelArguments("kernel", zeroed="x")


def use(write, launch="kernel"):
    """A target that allocates 16 rows of 16 bytes, writes there and launches."""
    bench = FakeBench()

    def drive(size, device):
        made = bench.allocate("torch.empty", (16, 16))
        write(bench, made)
        bench.launch(launch, x=made)

    return Driven(bench, drive)


def cause(target, contract=ZEROED):
    with pytest.raises(ContractBroken) as caught:
        check(contract, target, bench=target.bench)
    [line] = [line for line in str(caught.value).splitlines() if line.startswith("1. ")]
    found = re.search(r", and (bytes .*) \(fake_targets\.py:\d+\)\. The kernel counts", line)
    assert found is not None
    return found[1]


def columns(tensor, start, stop):
    low = tensor.view.byte_range[0] + start
    return FakeTensor(
        tensor.view._replace(shape=(16, stop - start), byte_range=(low, low + 15 * 16 + stop))
    )


def fill_all(bench, made):
    bench.fill(made)


def fill_in_rows(bench, made):
    bench.fill(made.rows(8))
    bench.fill(made.rows(16, 6))


def fill_in_columns(bench, made):
    bench.fill(columns(made, 0, 10))
    bench.fill(columns(made, 10, 16))


def write_elsewhere(bench, made):
    bench.fill(made)
    bench.fill(bench.allocate("torch.empty", (4, 4)), 7)


def let_a_kernel_zero(bench, made):
    bench.launch("zero_kernel", out=made)


def let_a_kernel_read_it(bench, made):
    bench.fill(made)
    bench.launch("count", x=made, reads=["x"])


@pytest.mark.parametrize(
    "write",
    [
        fill_all,
        fill_in_rows,
        fill_in_columns,
        write_elsewhere,
        let_a_kernel_read_it,
    ],
)
def test_memory_that_is_zeroed_in_whatever_way_is_accepted(write):
    target = use(write)
    check(ZEROED, target, bench=target.bench)


def test_memory_that_another_kernel_zeroes_is_accepted():
    target = use(let_a_kernel_zero)
    contract = KernelArguments("kernel", zeroed="x", zeroing_kernels=["zero_kernel"])
    check(contract, target, bench=target.bench)


def leave_a_hole(bench, made):
    bench.fill(made.rows(7))
    bench.fill(made.rows(16, 8))


def leave_a_column(bench, made):
    bench.fill(columns(made, 1, 16))


def write_over_it(bench, made):
    bench.fill(made)
    bench.fill(made.rows(3, 2), 7)


def let_a_kernel_write_it(bench, made):
    bench.fill(made)
    bench.launch("count", x=made, y=made.rows(2), reads=["x"])


def call_with_it(bench, made):
    bench.fill(made)
    bench.call("flashinfer.run", {"out": [made.view]})


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (leave_a_hole, "bytes 112 to 128 of its storage are as torch.empty in allocate left them"),
        (leave_a_column, "bytes 0 to 1 of its storage are as torch.empty in allocate left them"),
        (write_over_it, "bytes 32 to 48 of its storage were last written by fill_ in fill"),
        (let_a_kernel_write_it, "bytes 0 to 32 of its storage were last given to count in launch"),
        (call_with_it, "bytes 0 to 256 of its storage were last given to flashinfer.run in call"),
        (
            let_a_kernel_zero,
            "bytes 0 to 256 of its storage were last given to zero_kernel in launch",
        ),
    ],
)
def test_last_writer_is_named_with_the_bytes(write, told):
    assert cause(use(write)) == told


def test_allocation_with_another_value_is_named():
    bench = FakeBench()

    def drive(size, device):
        bench.launch("kernel", x=bench.allocate("torch.full", (size, 16), fill=7))

    told = "bytes 0 to 64 of its storage were last set by torch.full in allocate"
    assert cause(Driven(bench, drive)) == told


def test_callee_that_is_not_there_may_need_zeros_by_position():
    bench = FakeBench()

    def drive(size, device):
        made = bench.allocate("torch.empty", (size, 16))
        bench.call("pkg.ops.run", size, made.view)

    contract = KernelArguments("ops.run", zeroed=[1])
    told = "bytes 0 to 64 of its storage are as torch.empty in allocate left them"
    assert cause(Driven(bench, drive), contract) == told


def test_callee_that_resets_its_counters_is_accepted():
    bench = FakeBench()
    made = bench.allocate("torch.zeros", (4, 16), fill=0)

    def drive(size, device):
        bench.call("pkg.ops.run", made.view)

    target = Driven(bench, drive)
    check(KernelArguments("run", zeroed=[0], self_resets=True), target, bench=bench)


def test_nothing_is_asked_where_no_bytes_are_needed():
    target = use(lambda bench, made: None)
    contract = KernelArguments("kernel", zeroed={"x": lambda given: 0})
    check(contract, target, bench=target.bench)


def test_input_of_the_test_cannot_be_judged_until_something_writes_it():
    bench = FakeBench()
    given = bench.allocate("torch.empty", (4, 16))
    given = FakeTensor(given.view._replace(storage=10**9))
    target = Driven(bench, lambda size, device: bench.launch("kernel", x=given))
    contract = KernelArguments("kernel", zeroed="x", self_resets=True)
    result = check(contract, target, bench=bench)
    assert result.clauses[0].reason == (
        'x is an input of the test in the step "first" (size 4 on cuda:0), and nothing writes it'
    )
    told = "bytes 0 to 64 of its storage were last given to the same kernel in launch"
    assert cause(target) == told


def test_scattered_argument_is_taken_as_a_whole():
    bench = FakeBench()
    made = bench.allocate("torch.zeros", (20000, 4), fill=0)
    scattered = FakeTensor(made.view._replace(shape=(20000, 1), strides=(4, 1)))
    target = Driven(bench, lambda size, device: bench.launch("kernel", x=scattered))
    check(KernelArguments("kernel", zeroed="x", self_resets=True), target, bench=bench)


def accumulating(accumulates, **given):
    """A target that adds to what it is given by the names ``accumulates``."""
    bench = FakeBench()

    def drive(size, device):
        made = {
            name: bench.allocate(call, (size, 16), fill=0 if "zeros" in call else None)
            for name, call in given.items()
        }
        bench.launch("kernel", accumulates=accumulates, **made)

    return Driven(bench, drive)


ACCUMULATED = KernelArguments("kernel", zeroed="accumulated")


def test_accumulated_arguments_are_the_ones_that_must_hold_zeros():
    target = accumulating(("x",), x="torch.zeros", out="torch.empty")
    check(ACCUMULATED, target, bench=target.bench)
    told = "bytes 0 to 64 of its storage are as torch.empty in allocate left them"
    assert cause(accumulating(("x",), x="torch.empty"), ACCUMULATED) == told


def test_kernel_that_accumulates_into_nothing_is_a_usage_error():
    target = accumulating((), x="torch.zeros")
    with pytest.raises(UsageError) as caught:
        check(ACCUMULATED, target, bench=target.bench)
    assert re.sub(r":\d+:", ":", str(caught.value)) == (
        'fake_targets.py: zeroed="accumulated", and launch launches kernel, which changes no'
        " argument with atomics as far as its text is at hand. The atomics that count are add, max,"
        " min, and, or, xor, xchg and cas, in the kernel and in functions that it calls. Name the"
        ' arguments that must hold zeros, e.g. zeroed=["counters"].'
    )


def test_callee_that_is_not_there_has_no_text_to_judge():
    bench = FakeBench()
    target = Driven(bench, lambda size, device: bench.call("pkg.run", 1))
    with pytest.raises(UsageError, match="call calls pkg.run, which changes no argument"):
        check(KernelArguments("run", zeroed="accumulated"), target, bench=bench)


def test_launch_of_no_programs_is_not_judged():
    bench = FakeBench()

    def drive(size, device):
        bench.launch("kernel", x=bench.allocate("torch.empty", (size, 16)), grid=(0, 4))

    with pytest.raises(UsageError) as caught:
        check(ZEROED, Driven(bench, drive), bench=bench)
    assert str(caught.value) == (
        "drive launched no kernel, so there are no arguments to judge. It launched or called"
        " kernel with a grid of no programs. Correct the kernel's name in the contract, or let"
        " drive take the path that launches it."
    )
