"""vLLM's quantized weights and activations: AWQ, int8, float8."""

from __future__ import annotations

import pytest

from tests.upstream.witness import called, launched, made, piece

AWQ = "vllm/model_executor/layers/quantization/awq_triton.py"
INT8 = "vllm/model_executor/layers/quantization/utils/int8_utils.py"
PADDED = "vllm/kernels/triton/qkv_padded_fp8_quant.py"
SCALED_MM = "vllm/model_executor/layers/quantization/compressed_tensors/triton_scaled_mm.py"


@pytest.mark.drives(AWQ, "awq_gemm_triton")
def test_awq_gemm_sums_the_zeroed_partial_products_of_eight_splits(load, witness):
    result = load().awq_gemm_triton(
        witness.tensor("a", "float16", (33, 512)),
        witness.tensor("weights", "int32", (512, 32)),
        witness.tensor("scales", "float16", (4, 256)),
        witness.tensor("zeros", "int32", (4, 32)),
        8,
    )
    witness.saw(
        made("partials", "torch.zeros", "float16", (8, 33, 256)),
        launched(
            "awq_gemm_kernel",
            (16, 8),  # ceil(33 / 32) x 256 / 32, and one per split
            a_ptr=piece("a", "float16", (33, 512)),
            b_ptr=piece("weights", "int32", (512, 32)),
            c_ptr=piece("partials", "float16", (8, 33, 256)),
            zeros_ptr=piece("zeros", "int32", (4, 32)),
            scales_ptr=piece("scales", "float16", (4, 256)),
            M=33,
            N=256,  # eight weights in each int32
            K=512,
            group_size=128,  # 512 rows in four groups
            BLOCK_SIZE_M=32,
            BLOCK_SIZE_N=32,
            BLOCK_SIZE_K=32,
            SPLIT_K=8,
        ),
        made("sum", "Tensor.sum", "float16", (33, 256)),
    )
    assert witness.of(result) == piece("sum", "float16", (33, 256))


@pytest.mark.drives(AWQ, "awq_dequantize_triton")
def test_awq_dequantize_covers_packed_columns_and_rows(load, witness):
    result = load().awq_dequantize_triton(
        witness.tensor("weights", "int32", (256, 40)),
        witness.tensor("scales", "bfloat16", (2, 320)),
        witness.tensor("zeros", "int32", (2, 40)),
    )
    witness.saw(
        made("result", "torch.empty", "bfloat16", (256, 320)),
        launched(
            "awq_dequantize_kernel",
            (2, 8),  # ceil(40 / 32) packed columns, 256 / 32 rows
            qweight_ptr=piece("weights", "int32", (256, 40)),
            scales_ptr=piece("scales", "bfloat16", (2, 320)),
            zeros_ptr=piece("zeros", "int32", (2, 40)),
            group_size=128,
            result_ptr=piece("result", "bfloat16", (256, 320)),
            num_cols=40,
            num_rows=256,
            BLOCK_SIZE_X=32,
            BLOCK_SIZE_Y=32,
        ),
    )
    assert witness.of(result) == piece("result", "bfloat16", (256, 320))


@pytest.mark.drives(INT8, "per_token_quant_int8")
def test_int8_by_token_sees_a_batch_as_rows_and_returns_its_shape(load, witness):
    x = witness.tensor("x", "bfloat16", (2, 9, 1536))
    returned = load().per_token_quant_int8(x)
    witness.saw(
        made("quantized", "torch.empty", "int8", (18, 1536)),
        made("scales", "torch.empty", "float32", (18, 1)),
        launched(
            "_per_token_quant_int8",
            (18,),
            x_ptr=piece("x", "bfloat16", (18, 1536)),
            xq_ptr=piece("quantized", "int8", (18, 1536)),
            scale_ptr=piece("scales", "float32", (18, 1)),
            stride_x=1536,
            stride_xq=1536,
            N=1536,
            BLOCK=2048,
            num_warps=8,  # a warp for 256 elements
            num_stages=1,
        ),
    )
    assert witness.of(returned) == (
        piece("quantized", "int8", (2, 9, 1536)),
        piece("scales", "float32", (2, 9, 1)),
    )


@pytest.mark.drives(INT8, "per_token_group_quant_int8")
def test_int8_by_group_is_left_to_the_compiled_operator(load, witness):
    x = witness.tensor("x", "bfloat16", (18, 1536))
    returned = load().per_token_group_quant_int8(x, 128)
    quantized, scales = piece("quantized", "int8", (18, 1536)), piece("scales", "float32", (18, 12))
    witness.saw(
        made("quantized", "torch.empty_like", "int8", (18, 1536)),
        made("scales", "torch.empty", "float32", (18, 12)),
        called(
            "torch.ops._C.per_token_group_quant_int8",
            piece("x", "bfloat16", (18, 1536)),
            quantized,
            scales,
            128,
            1e-10,
            -128.0,
            127.0,
        ),
    )
    assert witness.of(returned) == (quantized, scales)


@pytest.mark.drives(PADDED, "quantize_fp8_pad_head_dim_triton")
def test_padded_float8_rounds_the_head_up_to_16_and_keeps_the_batch(load, witness):
    module = load(
        real=["vllm.utils.math_utils"],
        provide={
            "vllm.model_executor.layers.quantization.utils.quant_utils.get_fp8_min_max": lambda: (
                -448.0,
                448.0,
            ),
        },
    )
    q = witness.tensor("q", "bfloat16", (2, 5, 6, 72), strides=(6480, 1296, 72, 1))
    scale = witness.tensor("scale", "float32", ())
    returned = module.quantize_fp8_pad_head_dim_triton(q, scale)
    witness.saw(
        made("padded", "torch.empty", "float8_e4m3fn", (10, 6, 80)),
        launched(
            "_quantize_pad_fp8_kernel",
            (4, 1),  # 60 rows in blocks of 16, 80 columns in one of 128
            x_ptr=piece("q", "bfloat16", (10, 6, 72), (1296, 72, 1)),
            y_ptr=piece("padded", "float8_e4m3fn", (10, 6, 80)),
            scale_ptr=piece("scale", "float32", (1,)),
            stride_xs=1296,
            stride_xh=72,
            stride_xd=1,
            stride_ys=480,
            stride_yh=80,
            stride_yd=1,
            num_heads=6,
            n_rows=60,
            n_cols=72,
            n_cols_padded=80,
            fp8_min=-448.0,
            fp8_max=448.0,
            SKIP_SCALE=False,
            BLOCK_M=16,
            BLOCK_N=128,
            num_warps=4,
        ),
    )
    assert witness.of(returned) == piece("padded", "float8_e4m3fn", (2, 5, 6, 80))


@pytest.mark.drives(SCALED_MM, "triton_scaled_mm")
@pytest.mark.parametrize(
    ("rows", "grid", "tile"),
    [
        (32, 16, (64, 64, 256)),  # one block of rows x 1024 / 64
        (100, 16, (64, 128, 128)),  # two x 1024 / 128
        (300, 24, (128, 128, 128)),  # three x 1024 / 128
    ],
)
def test_scaled_mm_picks_its_tile_by_the_number_of_rows(load, witness, rows, grid, tile):
    module = load(provide={"vllm.triton_utils.use_tensor_descriptor": lambda wanted: False})
    result = module.triton_scaled_mm(
        witness.tensor("a", "int8", (rows, 512)),
        witness.tensor("b", "int8", (512, 1024), strides=(1, 512)),
        witness.tensor("scale of a", "float32", (rows, 1)),
        witness.tensor("scale of b", "float32", (1,)),
        witness.tensor("other", "bfloat16", (1,)).dtype,
    )
    witness.saw(
        made("product", "torch.empty", "bfloat16", (rows, 1024)),
        launched(
            "scaled_mm_kernel",
            (grid,),
            a_ptr=piece("a", "int8", (rows, 512)),
            b_ptr=piece("b", "int8", (512, 1024), (1, 512)),
            scale_a_ptr=piece("scale of a", "float32", (rows, 1)),
            scale_b_ptr=piece("scale of b", "float32", (1, 1)),
            c_ptr=piece("product", "bfloat16", (rows, 1024)),
            bias_ptr=None,
            M=rows,
            N=1024,
            K=512,
            stride_am=512,
            stride_ak=1,
            stride_bk=1,
            stride_bn=512,
            stride_cm=1024,
            stride_cn=1,
            ACCUMULATOR_DTYPE="int32",
            BLOCK_SIZE_M=tile[0],
            BLOCK_SIZE_N=tile[1],
            BLOCK_SIZE_K=tile[2],
            BLOCK_SIZE_SCALE_A=tile[0],  # a scale per row
            BLOCK_SIZE_SCALE_B=1,  # one for all columns
            USE_TD=False,
            B_T=True,
        ),
    )
    # Already of the wanted dtype, so it is handed back as it is.
    assert witness.of(result) == piece("product", "bfloat16", (rows, 1024))
