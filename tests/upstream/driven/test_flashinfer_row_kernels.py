"""FlashInfer's Triton kernels that work row by row: activation, norms, index tables."""

from __future__ import annotations

import pytest

from tests.upstream.witness import filled, launched, made, piece

ACTIVATION = "flashinfer/triton/activation.py"
NORM = "flashinfer/triton/norm.py"
PAGE = "flashinfer/page.py"


@pytest.mark.drives(ACTIVATION, "silu_and_mul")
def test_activation_halves_a_padded_row_in_blocks_of_1024(load, witness, sm120):
    module = load(real=["flashinfer.triton.kernels.activation"])
    x = witness.tensor("x", "bfloat16", (6, 4098), (4160, 1))
    scale = witness.tensor("scale", "float32", (1,))
    returned = module.silu_and_mul(x, None, scale, sm120.tensor((1,), "float8_e4m3fn").dtype)
    half = piece("half", "float8_e4m3fn", (6, 2049))
    witness.saw(
        made("half", "torch.empty", "float8_e4m3fn", (6, 2049)),
        launched(
            "silu_and_mul_kernel",
            (6, 3),  # rows, 2049 / 1024 rounded up
            o_ptr=half,
            o_stride=2049,
            o_scale_ptr=piece("scale", "float32", (1,)),
            x_ptr=piece("x", "bfloat16", (6, 4098), (4160, 1)),
            x_stride=4160,
            x_scale_ptr=None,
            d=2049,
            BLOCK_SIZE=1024,
            HAS_X_SCALE=False,
            HAS_O_SCALE=True,
        ),
    )
    assert witness.of(returned) == half


@pytest.mark.drives(NORM, "rms_norm")
@pytest.mark.parametrize(
    ("columns", "block", "warps"), [(1000, 1024, 8), (5120, 8192, 32), (16384, 16384, 32)]
)
def test_norm_takes_a_warp_for_256_elements_between_8_and_32(load, witness, columns, block, warps):
    module = load(real=["flashinfer.triton.kernels.norm"])
    x = witness.tensor("x", "bfloat16", (3, columns))
    weight = witness.tensor("weight", "bfloat16", (columns,))
    out = witness.tensor("out", "bfloat16", (3, columns), (columns + 8, 1))
    in_scale = witness.tensor("in scale", "float32", (1,))
    module.rms_norm(x, weight, out, 1e-6, in_scale)
    witness.saw(
        launched(
            "rms_norm_kernel",
            (3,),
            n=columns,
            b=3,
            x_ptr=piece("x", "bfloat16", (3, columns)),
            x_stride=columns,
            x_scale_ptr=piece("in scale", "float32", (1,)),
            r_ptr=None,
            r_stride=0,
            w_ptr=piece("weight", "bfloat16", (columns,)),
            o_ptr=piece("out", "bfloat16", (3, columns), (columns + 8, 1)),
            o_stride=columns + 8,
            o_scale_ptr=None,
            EPS=1e-6,
            BLOCK_SIZE=block,
            HAS_IN_SCALE=True,
            HAS_OUT_SCALE=False,
            HAS_OUTPUT=True,
            HAS_RESIDUAL=False,
            num_warps=warps,
        )
    )


@pytest.mark.drives(NORM, "rms_norm_add_residual")
@pytest.mark.parametrize(("columns", "block", "warps"), [(100, 128, 4), (1025, 2048, 32)])
def test_norm_with_residual_writes_in_place_with_a_warp_for_32(
    load, witness, columns, block, warps
):
    module = load(real=["flashinfer.triton.kernels.norm"])
    x = witness.tensor("x", "float16", (7, columns))
    residual = witness.tensor("residual", "float16", (7, columns))
    weight = witness.tensor("weight", "float16", (columns,))
    module.rms_norm_add_residual(x, residual, weight, 1e-5)
    witness.saw(
        launched(
            "rms_norm_kernel",
            (7,),
            n=columns,
            b=7,
            x_ptr=piece("x", "float16", (7, columns)),
            x_stride=columns,
            x_scale_ptr=None,
            r_ptr=piece("residual", "float16", (7, columns)),
            r_stride=columns,
            w_ptr=piece("weight", "float16", (columns,)),
            o_ptr=None,  # the kernel writes over x
            o_stride=0,
            o_scale_ptr=None,
            EPS=1e-5,
            BLOCK_SIZE=block,
            HAS_IN_SCALE=False,
            HAS_OUT_SCALE=False,
            HAS_OUTPUT=False,
            HAS_RESIDUAL=True,
            num_warps=warps,
        )
    )


@pytest.mark.drives(PAGE, "get_batch_indices_positions")
def test_index_tables_start_as_minus_one_and_zero(load, witness):
    module = load(real=["flashinfer.triton.page"])
    indptr = witness.tensor("indptr", "int32", (5,))
    lengths = witness.tensor("lengths", "int32", (4,))
    returned = module.get_batch_indices_positions(indptr, lengths, 10)
    batch, positions = piece("batch", "int32", (10,)), piece("positions", "int32", (10,))
    witness.saw(
        made("batch", "torch.full", "int32", (10,), fill=-1),
        made("positions", "torch.zeros", "int32", (10,)),
        launched(
            "get_batch_indices_positions_kernel",
            (4,),  # a program per request: one less than the offsets
            append_indptr=piece("indptr", "int32", (5,)),
            seq_lens_ptr=piece("lengths", "int32", (4,)),
            batch_indices_ptr=batch,
            positions_ptr=positions,
            num_stages=2,
        ),
    )
    assert witness.of(returned) == (batch, positions)


@pytest.mark.drives(PAGE, "get_batch_indices_positions")
def test_index_tables_of_the_caller_are_reset_only_where_rows_may_be_skipped(load, witness):
    checker = "flashinfer.utils.check_shape_dtype_device"
    module = load(real=["flashinfer.triton.page"], provide={checker: lambda *_: None})
    indptr = witness.tensor("indptr", "int32", (3,))
    lengths = witness.tensor("lengths", "int32", (2,))
    batch = witness.tensor("batch", "int32", (6,))
    positions = witness.tensor("positions", "int32", (6,))
    returned = module.get_batch_indices_positions(indptr, lengths, 6, batch, positions)
    witness.saw(
        filled("fill_", piece("batch", "int32", (6,)), -1),
        launched(
            "get_batch_indices_positions_kernel",
            (2,),
            append_indptr=piece("indptr", "int32", (3,)),
            seq_lens_ptr=piece("lengths", "int32", (2,)),
            batch_indices_ptr=piece("batch", "int32", (6,)),
            positions_ptr=piece("positions", "int32", (6,)),
            num_stages=2,
        ),
    )
    assert returned[0] is batch and returned[1] is positions
