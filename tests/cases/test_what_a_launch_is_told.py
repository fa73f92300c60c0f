"""Strides, sizes and dtypes that a launch is given are those of the tensors it is given."""

from __future__ import annotations

from pytest_sm120 import KernelArguments

ROW_MAXIMUM = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def _row_maximum_kernel(x, out, columns, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        i = tl.arange(0, BLOCK)
        value = tl.load(x + row * columns + i, mask=i < columns, other=float("-inf"))
        tl.store(out + row, tl.max(value, 0))

    def row_maximum(x):
        out = x.new_empty(x.shape[0])
        _row_maximum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=8)
        return out
"""
BY_WIDTH = KernelArguments("_row_maximum_kernel", strides={"x": ("columns", 1)})
STRIDED = ROW_MAXIMUM.replace("columns, BLOCK: ", "columns, stride, BLOCK: ").replace(
    "x.shape[1], BLOCK=8", "x.shape[1], x.stride(0), BLOCK=8"
)
BY_STRIDE = KernelArguments("_row_maximum_kernel", strides={"x": ("stride", 1)})


def maximum(sm120, module):
    return lambda size, device: module.row_maximum(sm120.tensor((size, 5), device=device))


def test_row_pointer_that_uses_the_width_is_told(sm120, load, broken):
    module = load(ROW_MAXIMUM)
    assert broken(BY_WIDTH, maximum(sm120, module)) == (
        "The contract for the arguments of _row_maximum_kernel is broken in 1 of 1 clauses.\n\n"
        "1. strides: target.py:15: row_maximum launches _row_maximum_kernel with x = float32[4, 5]"
        ' on cuda:0 in the step "padded" (size 4 on cuda:0), whose dimension 0 has the stride 21,'
        " and with columns = 5 to step through it. The kernel then reads other elements than the"
        " caller's. Pass x.stride(0) as columns, or hand over a contiguous copy."
    )


def test_unit_stride_that_the_kernel_takes_for_granted_is_told(sm120, load, broken):
    module = load(STRIDED)
    assert broken(BY_STRIDE, maximum(sm120, module)) == (
        "The contract for the arguments of _row_maximum_kernel is broken in 1 of 1 clauses.\n\n"
        "1. strides: target.py:15: row_maximum launches _row_maximum_kernel with x = float32[4, 5]"
        ' on cuda:0 in the step "transposed" (size 4 on cuda:0), whose dimension 1 has the stride'
        " 4, and with a stride of 1 in its text to step through it. The kernel then reads other"
        " elements than the caller's. Refuse such a tensor, or hand over a contiguous copy."
    )


def test_wrapper_that_refuses_other_layouts_is_accepted(sm120, load):
    refusing = STRIDED.replace(
        "out = x.new_empty", "assert x.stride(1) == 1\n        out = x.new_empty"
    )
    sm120.check(BY_STRIDE, maximum(sm120, load(refusing)))


def test_wrapper_that_copies_other_layouts_is_accepted(sm120, load):
    copying = ROW_MAXIMUM.replace(
        "out = x.new_empty", "x = x.contiguous()\n        out = x.new_empty"
    )
    sm120.check(BY_WIDTH, maximum(sm120, load(copying)))


SCALED = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def _scaled_kernel(x, scales, out, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        word = tl.load(scales + tl.program_id(0))
        exponent = ((word >> 8) & 255) - 127
        tl.store(out + i, tl.load(x + i) * tl.exp2(exponent.to(tl.float32)))

    def scaled(x, scales):
        out = torch.empty_like(x)
        _scaled_kernel[(x.shape[0],)](x, scales, out, x.numel(), BLOCK=16)
        return out
"""
GUARDED = SCALED.replace(
    "out = torch.empty_like",
    "if scales.dtype != torch.int32:\n"
    '            raise TypeError("four packed exponents a word are needed")\n'
    "        out = torch.empty_like",
)
CONVERTING = SCALED.replace(
    "out = torch.empty_like", "scales = scales.to(torch.int32)\n        out = torch.empty_like"
)
PACKED = KernelArguments("_scaled_kernel", dtypes={"scales": "int32"}, other_dtypes=["float32"])


def scale(sm120, module):
    def drive(size, device, dtype="int32"):
        x = sm120.tensor((size, 16), device=device)
        return module.scaled(x, sm120.tensor((size, 4), dtype=dtype, device=device))

    return drive


def test_float_scales_for_a_kernel_that_reads_packed_words_are_told(sm120, load, broken):
    module = load(SCALED)
    assert broken(PACKED, scale(sm120, module)) == (
        "The contract for the arguments of _scaled_kernel is broken in 1 of 1 clauses.\n\n"
        "1. dtypes: target.py:15: scaled launches _scaled_kernel with scales = float32[4, 4] on"
        ' cuda:0 in the step "as float32" (size 4 on cuda:0); the kernel reads it as int32. It'
        " takes the bytes for something else, and no error says so. Refuse what is not int32, or"
        " convert it before the launch."
    )


def test_wrapper_that_refuses_float_scales_is_accepted(sm120, load):
    sm120.check(PACKED, scale(sm120, load(GUARDED)))


def test_wrapper_that_converts_float_scales_is_accepted(sm120, load):
    sm120.check(PACKED, scale(sm120, load(CONVERTING)))


STATE = """
    import torch
    import triton
    import triton.language as tl

    ROW_STATE_BYTES = 2 * 256 * 4 + 4 * 4
    TABLE_WIDTH = 2048

    @triton.jit
    def _select_kernel(logits, table, width, state, rows, BLOCK: tl.constexpr):
        tl.store(state + tl.program_id(0), tl.load(table + tl.program_id(0) * width))

    def select(logits, table):
        rows = logits.shape[0]
        state = torch.empty(rows * ROW_STATE_BYTES, dtype=torch.uint8, device=logits.device)
        _select_kernel[(rows,)](logits, table, TABLE_WIDTH, state, rows, BLOCK=16)
"""
DERIVED = STATE.replace("2 * 256 * 4 + 4 * 4", "2 * 256 * 4 + 5 * 4").replace(
    "table, TABLE_WIDTH,", "table, table.shape[1],"
)
SIZES = KernelArguments(
    "_select_kernel",
    sizes={"width": lambda given: given["table"].shape[1]},
    # The kernel's own structure: two histograms of 256 words and five counters for each row.
    needs_bytes={"state": lambda given: given["rows"] * (512 + 5) * 4},
)


def select(sm120, module):
    def drive(size, device):
        logits = sm120.tensor((size, 100), device=device)
        module.select(logits, sm120.tensor((size, 2176), dtype="int32", device=device))

    return drive


def test_sizes_that_are_restated_by_hand_are_told(sm120, load, broken):
    module = load(STATE)
    assert broken(SIZES, select(sm120, module)) == (
        "The contract for the arguments of _select_kernel is broken in 2 of 2 clauses.\n\n"
        "1. sizes: target.py:16: select launches _select_kernel with width = 2048 in the step"
        ' "first" (size 4 on cuda:0); what it is given with it says 2176. A size that is stated in'
        " two places is wrong as soon as one of them changes. Take it from the tensor that is"
        " passed with it.\n\n"
        "2. bytes: target.py:16: select launches _select_kernel with state = uint8[8256] on cuda:0"
        ' in the step "first" (size 4 on cuda:0): 8256 bytes, and the kernel may touch 8272. What'
        " lies behind belongs to somebody else. Allocate as much as the kernel's own layout takes,"
        " with the sizes taken from there."
    )


def test_sizes_that_come_from_what_is_passed_are_accepted(sm120, load):
    sm120.check(SIZES, select(sm120, load(DERIVED)))
