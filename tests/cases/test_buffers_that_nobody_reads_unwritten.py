"""A zero-fill that was removed on purpose: each row that is read is written, so it was waste."""

from __future__ import annotations

from dataclasses import replace

from pytest_sm120 import Scratch

TARGET = """
    import torch
    import triton
    import triton.language as tl

    _partials = {}

    @triton.jit
    def _write_all_kernel(partials, rows, BLOCK: tl.constexpr):
        tl.store(partials + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), 0)

    @triton.jit
    def _reduce_kernel(partials, rows, BLOCK: tl.constexpr):
        tl.load(partials + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))

    def reduce(rows, device):
        kept = _partials.get(device)
        if kept is None or kept.shape[0] < rows:
            with torch.inference_mode(False):
                kept = torch.empty(rows, 64, device=device)
            _partials[device] = kept
        _write_all_kernel[(rows,)](kept[:rows], rows, BLOCK=64)
        _reduce_kernel[(rows,)](kept[:rows], rows, BLOCK=64)
"""
UNWRITTEN = Scratch(
    key="_partials['{device}']", init="empty", dtype="float32", shape=lambda rows: (rows, 64)
)


def test_buffer_without_a_zero_fill_is_accepted_when_the_contract_says_so(sm120, load):
    result = sm120.check(UNWRITTEN, load(TARGET).reduce)
    assert not result.findings and result.cost_bytes == 0


def test_same_buffer_is_told_when_the_contract_asks_for_zeros(load, broken):
    report = broken(replace(UNWRITTEN, init="zeros"), load(TARGET).reduce)
    assert report.startswith(
        "The contract for \"_partials['{device}']\" is broken in 2 of 15 clauses.\n\n"
        "1. initial value: target.py:20: reduce allocates \"_partials['cuda:0']\" with torch.empty;"
        " the contract asks for zeros."
    )


def test_zero_fill_that_comes_back_is_told_as_waste(load, broken):
    target = load(TARGET.replace("torch.empty", "torch.zeros"))
    assert broken(UNWRITTEN, target.reduce).split("\n\n")[1] == (
        "1. initial value: target.py:20: reduce allocates \"_partials['cuda:0']\" with torch.zeros;"
        " the contract asks for no initial value. One memset of 1.00 KiB per (re)allocation is for"
        " nothing. Allocate with torch.empty, or correct init= when something reads what nobody"
        " wrote."
    )
