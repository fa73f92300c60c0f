"""Buffers that are right, though a check that looks less closely calls them wrong."""

from __future__ import annotations

import pytest

from pytest_sm120 import Scratch

TARGET = """
    import functools
    import torch
    import triton
    import triton.language as tl
    import elsewhere

    _kept = {}

    @triton.jit
    def _use_kernel(rows, BLOCK: tl.constexpr):
        tl.store(rows + tl.arange(0, BLOCK), 0)

    def run(count, device):
        kept = _kept.get(device)
        if kept is None or kept.shape[0] < count:
            with torch.inference_mode(False):
                kept = MAKE
            _kept[device] = kept
        _use_kernel[(1,)](kept, BLOCK=16)
"""
ROWS = Scratch(
    key="_kept['{device}']", init="zeros", dtype="float32", shape=lambda count: (count, 8)
)


def made_by(expression):
    return TARGET.replace("MAKE", expression)


VIEWED = [
    "torch.zeros(count * 8, device=device).view(count, 8)",
    "torch.zeros(count * 32, dtype=torch.uint8, device=device).view(torch.float32).view(count, 8)",
    "torch.zeros(1024, 8, device=device)[:count]",
]


@pytest.mark.parametrize("made", VIEWED)
def test_buffer_that_is_kept_as_a_view_is_judged_as_it_is_kept(sm120, load, made):
    sm120.check(ROWS, load(made_by(made)).run, thorough=True)


ONE = {"sizes": [4], "devices": ["cuda:0"]}
MADE = "target.py:18: run allocates \"_kept['cuda:0']\" with"


def told(report):
    return report.split("\n\n")[1]


def test_view_of_another_shape_is_told_with_both_shapes(load, broken):
    target = load(made_by("torch.zeros(count * 8, device=device).view(8, count)"))
    assert told(broken(ROWS, target.run, **ONE)) == (
        f"1. shape: {MADE} torch.zeros in the shape (32,) and keeps it as (8, 4) for a call of size"
        " 4; the contract asks for (4, 8). The shape must be equal, also where the buffer is"
        " rounded up. Correct the shape that is allocated, or the contract's shape=."
    )


def test_view_of_another_dtype_is_told_with_both_dtypes(load, broken):
    target = load(made_by("torch.zeros(count, 8, device=device).view(torch.int32)"))
    assert told(broken(ROWS, target.run, **ONE)) == (
        f"1. dtype: {MADE} torch.zeros as float32 and keeps it as int32; the contract asks for"
        " float32. A kernel that is compiled for the one reads the bytes of the other wrongly."
        " Allocate with dtype=torch.float32, or correct the contract's dtype."
    )


EMPTY = "torch.empty(count, 8, device=device); {}; kept.zero_()"
FOREIGN = ["elsewhere.note(count)", "elsewhere.note(torch.ones(4))", "elsewhere.note(kept.shape)"]


@pytest.mark.parametrize("call", FOREIGN)
def test_call_that_is_not_given_the_buffer_may_come_before_it_is_set(sm120, load, call):
    sm120.check(ROWS, load(made_by(EMPTY.format(call))).run)


ADDRESSES = ["kept.data_ptr()", "[kept.data_ptr()]", "kept[1:].data_ptr()", "out=kept.data_ptr()"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_call_that_is_given_its_address_before_it_is_set_is_told(load, broken, address):
    target = load(made_by(EMPTY.format(f"elsewhere.take({address})")))
    assert told(broken(ROWS, target.run, **ONE)) == (
        f"1. initial value: {MADE} torch.empty; the contract asks for zeros. Rows that a launch"
        " skips keep what the allocator recycled. Allocate with torch.zeros."
    )


NO_ADDRESS = ["2**40", "2**38 * 5 + 64", "kept.data_ptr() + kept.nbytes", "0", "True", "-1"]


@pytest.mark.parametrize("number", NO_ADDRESS)
def test_number_that_is_no_address_of_the_buffer_is_no_use_of_it(sm120, load, number):
    sm120.check(ROWS, load(made_by(EMPTY.format(f"elsewhere.take({number})"))).run)
