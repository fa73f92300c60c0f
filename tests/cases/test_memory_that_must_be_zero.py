"""A launch that counts on zeros follows whoever zeroed them, and nobody wrote in between."""

from __future__ import annotations

import pytest

from pytest_sm120 import KernelArguments

SUM = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def _sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))

    def total(x):
        out = torch.empty(1, dtype=x.dtype, device=x.device)
        _sum_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), BLOCK=16)
        return out
"""
ZEROED_OUT = KernelArguments("_sum_kernel", zeroed=["out_ptr"])


def sum_of(sm120, module):
    return lambda size, device: module.total(sm120.tensor((size * 50,), device=device))


def test_accumulation_into_an_unset_cell_is_told(sm120, load, broken):
    module = load(SUM)
    assert broken(ZEROED_OUT, sum_of(sm120, module)) == (
        "The contract for the arguments of _sum_kernel is broken in 1 of 1 clauses.\n\n"
        "1. zeroed since the last writer: target.py:13: total launches _sum_kernel with out_ptr ="
        ' float32[1] on cuda:0 in the step "first" (size 4 on cuda:0), and bytes 0 to 4 of its'
        " storage are as torch.empty in total left them (target.py:12). The kernel counts on zeros"
        " there, and starts from what it finds. Call zero_() on that part before the launch, after"
        " whatever else writes it."
    )


@pytest.mark.parametrize(
    ("empty", "set_by"),
    [
        ("torch.empty(1, dtype=x.dtype, device=x.device)", "torch.zeros(1, device=x.device)"),
        ("torch.empty(1, dtype=x.dtype, device=x.device)", "torch.empty_like(x[:1]).zero_()"),
        ("torch.empty(1, dtype=x.dtype, device=x.device)", "x.new_full((1,), 0.0)"),
    ],
)
def test_accumulation_into_zeros_is_accepted(sm120, load, empty, set_by):
    module = load(SUM.replace(empty, set_by))
    sm120.check(ZEROED_OUT, sum_of(sm120, module))


WORKSPACE = """
    import torch
    import triton
    import triton.language as tl

    _workspaces = {}

    @triton.jit
    def _decode_kernel(workspace_ptr, n, BLOCK: tl.constexpr):
        arrived = tl.atomic_add(workspace_ptr, 1)
        if arrived == n:
            tl.atomic_xchg(workspace_ptr, 0)

    @triton.jit
    def _other_backend_kernel(scratch_ptr, BLOCK: tl.constexpr):
        tl.store(scratch_ptr + tl.arange(0, BLOCK), 1)

    def _workspace(device):
        if device not in _workspaces:
            _workspaces[device] = torch.zeros(4096, dtype=torch.uint8, device=device)
        return _workspaces[device]

    def decode(n, device):
        workspace = _workspace(device)
        _decode_kernel[(n,)](workspace, n, BLOCK=16)

    def other_backend(device):
        _other_backend_kernel[(1,)](_workspace(device), BLOCK=16)
"""
CLEARED = WORKSPACE.replace(
    "_decode_kernel[(n,)](workspace",
    "workspace[:256].zero_()\n        _decode_kernel[(n,)](workspace",
)
COUNTERS = KernelArguments("_decode_kernel", zeroed={"workspace_ptr": 256}, self_resets=True)


def decode(module, with_other):
    def drive(size, device):
        module.decode(size, device)
        if with_other:
            module.other_backend(device)

    return drive


def test_counters_that_another_backend_overwrites_are_told(load, broken):
    module = load(WORKSPACE)
    assert broken(COUNTERS, decode(module, with_other=True)) == (
        "The contract for the arguments of _decode_kernel is broken in 1 of 1 clauses.\n\n"
        "1. zeroed since the last writer: target.py:25: decode launches _decode_kernel with"
        ' workspace_ptr = uint8[4096] on cuda:0 in the step "same" (size 4 on cuda:0), and bytes 0'
        " to 256 of its storage were last given to _other_backend_kernel in other_backend"
        " (target.py:28). The kernel counts on zeros there, and starts from what it finds. Call"
        " zero_() on that part before the launch, after whatever else writes it."
    )


def test_counters_that_are_cleared_before_each_launch_are_accepted(sm120, load):
    module = load(CLEARED)
    sm120.check(COUNTERS, decode(module, with_other=True))


def test_counters_that_the_kernel_resets_itself_are_accepted(sm120, load):
    module = load(WORKSPACE)
    sm120.check(COUNTERS, decode(module, with_other=False))


def test_counters_of_a_kernel_that_does_not_reset_them_are_told(load, broken):
    module = load(WORKSPACE)
    contract = KernelArguments("_decode_kernel", zeroed={"workspace_ptr": 256})
    assert broken(contract, decode(module, with_other=False)).endswith(
        " were last given to the same kernel in decode (target.py:25). The kernel counts on zeros"
        " there, and starts from what it finds. Call zero_() on that part before the launch, after"
        " whatever else writes it, or set self_resets=True when the kernel leaves zeros there."
    )


AUTOTUNED = """
    import torch
    import triton
    import triton.language as tl

    @triton.autotune(
        [triton.Config({"BLOCK": 16}, pre_hook=lambda given: given["out_ptr"].zero_())], key=["n"]
    )
    @triton.jit
    def _sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))

    def total(x):
        out = torch.empty(1, dtype=x.dtype, device=x.device)
        _sum_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
        return out
"""


def test_empty_output_that_an_autotune_config_zeroes_is_accepted(sm120, load):
    sm120.check(ZEROED_OUT, sum_of(sm120, load(AUTOTUNED)))
