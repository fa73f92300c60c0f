"""What host code writes after the initial value, and what later launches are given."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import nan

import pytest

from pytest_sm120.contracts import Scratch, check
from pytest_sm120.errors import ContractBroken, UsageError
from pytest_sm120.tensors.storages import Number
from tests.contracts.fake_targets import FakeBench, FakeTensor

__sm120_target__ = True

CONTRACT = Scratch(key="ws:{device}", init="zeros", dtype="uint8", shape=lambda size: (size, 16))
CLEARED = replace(CONTRACT, cleared_each_call=True)


@dataclass
class Workspace:
    """Keeps one buffer for each device; ``fill`` follows the allocation, ``use`` every call."""

    fill: Callable[..., object] = lambda bench, made: None
    use: Callable[..., object] = lambda bench, kept, size: bench.launch(
        "kernel", ptr=kept.rows(size)
    )
    dtype: Callable[[str], str] = lambda device: "uint8"
    row: Callable[[str], int] = lambda device: 16
    call: tuple[str, Number | None] = ("torch.zeros", 0)
    bench: FakeBench = field(default_factory=FakeBench)

    def __post_init__(self):
        self.buffers = self.bench.registry()

    def __call__(self, size, device):
        kept = self.buffers.get(f"ws:{device}")
        if kept is None or kept.view.shape[0] < size:
            call, value = self.call
            with self.bench.inference_mode(False):
                shape = (size, self.row(device))
                kept = self.bench.allocate(call, shape, self.dtype(device), device, value)
                self.fill(self.bench, kept)
            self.buffers[f"ws:{device}"] = kept
        self.use(self.bench, kept, size)


def broken(target, contract=CONTRACT, **options):
    with pytest.raises(ContractBroken) as caught:
        check(contract, target, bench=target.bench, **options)
    lines = re.sub(r"fake_targets\.py:\d+", "fake_targets.py:N", str(caught.value)).splitlines()
    return [line.partition(" ")[2] for line in lines if line[:1].isdigit()]


def test_initial_value_breaks_when_all_of_it_is_set_to_another_value():
    target = Workspace(fill=lambda bench, made: bench.fill(made, 7))
    first, growth = broken(target)
    assert first == (
        'initial value: fake_targets.py:N: allocate allocates "ws:cuda:0" with'
        " torch.zeros, and fill"
        " sets all of it to 7 before the first launch (fake_targets.py:N); the contract asks for"
        " zeros. Rows that a launch skips keep that value, and who reads them expects another. Set"
        " it to 0 there, or correct the contract's init=."
    )
    assert growth == (
        'growth initial value: fake_targets.py:N: allocate allocates "ws:cuda:0" with torch.zeros'
        " when it grows to 128 bytes, and fill sets all of it to 7 before the first launch"
        " (fake_targets.py:N); the contract asks for zeros. Rows that a launch skips keep that"
        " value, and who reads them expects another. Set it to 0 there, or correct the contract's"
        " init=."
    )


def in_columns(bench, made, *bounds):
    rows, row = made.view.shape
    for start, stop in zip(bounds, bounds[1:], strict=False):
        view = made.view._replace(
            shape=(rows, stop - start), byte_range=(start, (rows - 1) * row + stop)
        )
        bench.fill(FakeTensor(view))


def test_initial_value_holds_when_it_is_set_column_by_column():
    target = Workspace(
        fill=lambda bench, made: in_columns(bench, made, 0, 6, 16), call=("torch.empty", None)
    )
    check(CONTRACT, target, bench=target.bench)


def test_initial_value_breaks_when_a_column_is_left_out():
    target = Workspace(
        fill=lambda bench, made: in_columns(bench, made, 1, 6, 16), call=("torch.empty", None)
    )
    first, growth = broken(target)
    told = " and sets bytes 1 to 6, 17 to 22, 33 to 38, 49 to 54, ... of 64 before the first launch"
    assert told in first and growth.startswith("growth initial value: ")


def test_initial_value_holds_when_a_part_is_set_to_data():
    target = Workspace(fill=lambda bench, made: bench.fill(made.rows(1), 7))
    check(CONTRACT, target, bench=target.bench)


def test_initial_value_holds_when_the_right_value_is_written_last():
    def refill(bench, made):
        bench.fill(made, 7)
        bench.fill(made, 0)

    target = Workspace(fill=refill, call=("torch.empty", None))
    check(CONTRACT, target, bench=target.bench)


def test_clearing_breaks_when_all_of_it_is_set_to_another_value_afterwards():
    def use(bench, kept, size):
        bench.fill(kept.rows(size), 0)
        bench.fill(kept.rows(size), 1)
        bench.launch("kernel", ptr=kept.rows(size))

    names = [line.partition(":")[0] for line in broken(Workspace(use=use), CLEARED)]
    assert names == ["initial value", "growth initial value", "cleared on every call"]


def test_clearing_holds_when_a_part_is_set_afterwards():
    def use(bench, kept, size):
        bench.fill(kept.rows(size), 0)
        bench.fill(kept.rows(1), 1)
        bench.launch("kernel", ptr=kept.rows(size))

    target = Workspace(use=use)
    check(CLEARED, target, bench=target.bench)


def clear_half_launch_twice(second):
    def use(bench, kept, size):
        bench.fill(kept.rows(size // 2), 0)
        bench.launch("first", ptr=kept.rows(size // 2))
        bench.launch("second", ptr=kept.rows(second(size)))

    return Workspace(use=use)


def test_clearing_breaks_when_a_later_launch_is_given_more_than_was_cleared():
    [line] = broken(clear_half_launch_twice(lambda size: size), CLEARED)
    assert line == (
        "cleared on every call: fake_targets.py:N: launch launches second with bytes"
        ' 0 to 64 of "ws:cuda:0" in the step "same" (size 4 on'
        " cuda:0), and that call has not set all of them to 0 before. What an earlier call left"
        " there is still there. Call zero_() on that part of the buffer before the first launch of"
        " every call."
    )


def test_clearing_holds_when_a_later_launch_is_given_what_an_earlier_one_was():
    target = clear_half_launch_twice(lambda size: size // 2)
    check(CLEARED, target, bench=target.bench)


def test_clearing_is_judged_in_any_order_of_calls():
    pytest.importorskip("hypothesis")

    def use(bench, kept, size):
        if kept.view.device == "cuda:0":
            bench.fill(kept.rows(size), 0)
        bench.launch("kernel", ptr=kept.rows(size))

    [line] = broken(Workspace(use=use), CLEARED, thorough=True)
    assert line == (
        "any order of calls: fake_targets.py:N: launch launches kernel with bytes 0"
        ' to 32 of "ws:cuda:1" in the step "call 2" (size 2 on'
        " cuda:1), and that call has not set all of them to 0 before. What an earlier call left"
        " there is still there. The shortest sequence of calls that shows it is: 2 on cuda:1, 2 on"
        " cuda:1. Call zero_() on that part of the buffer before the first launch of every call."
    )


def test_dtype_breaks_when_only_the_second_device_has_another():
    def dtype(device):
        return "int8" if device == "cuda:1" else "uint8"

    [line] = broken(Workspace(dtype=dtype))
    assert line == (
        'dtype: fake_targets.py:N: allocate allocates "ws:cuda:1" with torch.zeros as'
        " int8; the contract asks for uint8. A"
        " kernel that is compiled for the one reads the bytes of the other wrongly. Allocate with"
        " dtype=torch.uint8, or correct the contract's dtype."
    )


def test_shape_breaks_when_only_the_second_device_has_another():
    [line] = broken(Workspace(row=lambda device: 8 if device == "cuda:1" else 16))
    assert line == (
        'shape: fake_targets.py:N: allocate allocates "ws:cuda:1" with torch.zeros in'
        " the shape (4, 8) for a call of size"
        " 4; the contract asks for (4, 16). The shape must be equal, also where the buffer is"
        " rounded up. Correct the shape that is allocated, or the contract's shape=."
    )


class Pair(Workspace):
    """Keeps two buffers of one shape in a tuple, of which the first is not initialised."""

    def __call__(self, size, device):
        if f"ws:{device}" not in self.buffers:
            made = [
                self.bench.allocate(call, (size, 16), device=device, fill=value)
                for call, value in (("torch.empty", None), ("torch.zeros", 0))
            ]
            self.buffers[f"ws:{device}"] = tuple(made)


def test_two_buffers_that_the_key_means_alike_are_refused():
    target = Pair()
    with pytest.raises(UsageError) as caught:
        check(CONTRACT, target, bench=target.bench)
    assert re.sub(r"py:\d+", "py:N", str(caught.value)) == (
        'Scratch(key=) means "ws:cuda:0" on cuda:0, and 2 buffers are kept there: uint8[4, 16] on'
        ' cuda:0 under "ws:cuda:0[0]" (fake_targets.py:N) and uint8[4, 16] on cuda:0 under'
        ' "ws:cuda:0[1]" (fake_targets.py:N). A contract is about one buffer, and nothing tells'
        " these apart. Name one to the end, as in"
        ' key=lambda device: f"...[{device!r}][0]", and check a contract for each.'
    )


def test_one_of_two_buffers_is_judged_when_the_key_names_it_to_the_end():
    contract = replace(CONTRACT, key="ws:{device}[0]", allow_inference=True)
    lines = broken(Pair(), contract, sizes=[4])
    assert [line.partition(":")[0] for line in lines] == ["initial value"]


@pytest.mark.parametrize(
    ("dtype", "asked", "stored"), [("uint8", -1, 255), ("int32", 0.5, 0), ("int32", 0, 0.5)]
)
def test_initial_value_is_compared_as_the_dtype_stores_it(dtype, asked, stored):
    contract = replace(CONTRACT, dtype=dtype, init=("full", asked))
    target = Workspace(dtype=lambda device: dtype, call=("torch.full", stored))
    check(contract, target, bench=target.bench)


def test_initial_value_breaks_when_the_dtype_stores_no_such_number():
    contract = replace(CONTRACT, dtype="int32")
    target = Workspace(dtype=lambda device: "int32", call=("torch.full", nan))
    names = [line.partition(":")[0] for line in broken(target, contract)]
    assert names == ["initial value", "growth initial value"]


@pytest.mark.parametrize(
    ("call", "right"),
    [
        ("Tensor.to", "torch.zeros"),
        ("Tensor.new_full", "torch.zeros"),
        ("Tensor.new_empty", "Tensor.new_zeros"),
        ("torch.empty_like", "torch.zeros_like"),
    ],
)
def test_remedy_names_a_function_that_torch_has(call, right):
    first, _ = broken(Workspace(call=(call, None)))
    assert first.endswith(f" Allocate with {right}.")
