"""A launch may write what it is given: its contents are not known afterwards."""

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
