"""SGLang's state-space and quantization kernels, whose grids depend on the configuration."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

BMM = "sglang/kernels/ops/mamba/triton_ops/ssd_bmm.py"
PASSING = "sglang/kernels/ops/mamba/triton_ops/ssd_state_passing.py"
PRUNING = "sglang.kernels.ops.mamba.triton_ops.autotune"
AWQ = "sglang/kernels/ops/quantization/awq_triton.py"


@pytest.mark.drives(BMM, "_bmm_chunk_fwd")
def test_chunk_product_has_a_square_for_each_chunk_and_group(load, witness):
    a = witness.tensor("a", "bfloat16", (2, 300, 4, 64))
    b = witness.tensor("b", "bfloat16", (2, 300, 4, 64))
    returned = load(real=[PRUNING])._bmm_chunk_fwd(a, b, 128)
    # ceil(300 / 128) = 3 chunks
    out = piece("out", "bfloat16", (2, 3, 4, 128, 128))
    witness.saw(
        made("out", "torch.empty", "bfloat16", (2, 3, 4, 128, 128)),
        launched(
            "_bmm_chunk_fwd_kernel",
            (1, 2, 12),  # one tile of 128 x 128, batch, 3 chunks x 4 groups
            a_ptr=piece("a", "bfloat16", (2, 300, 4, 64)),
            b_ptr=piece("b", "bfloat16", (2, 300, 4, 64)),
            out_ptr=out,
            seq_idx_ptr=None,
            seqlen=300,
            chunk_size=128,
            K=64,
            ngroups=4,
            stride_a_batch=76800,  # 300 x 4 x 64
            stride_a_seqlen=256,
            stride_a_head=64,
            stride_ak=1,
            stride_b_batch=76800,
            stride_b_seqlen=256,
            stride_b_head=64,
            stride_bk=1,
            stride_out_batch=196608,  # 3 x 4 x 128 x 128
            stride_out_chunk=65536,
            stride_out_head=16384,
            stride_outm=128,
            stride_outn=1,
            stride_seq_idx_batch=0,
            stride_seq_idx_seqlen=0,
            IS_CAUSAL=False,
            dot_dtype="bfloat16",
            HAS_SEQ_IDX=False,
            # The first two configurations, with 256 columns, are wider than a chunk; this is the
            # third.
            BLOCK_SIZE_M=128,
            BLOCK_SIZE_N=128,
            BLOCK_SIZE_K=32,
            num_stages=4,
            num_warps=4,
            num_ctas=1,
        ),
    )
    assert witness.of(returned) == out


@pytest.mark.drives(PASSING, "_state_passing_fwd")
def test_states_are_passed_on_with_a_final_one_in_float32(load, witness):
    states = witness.tensor("states", "bfloat16", (2, 3, 4, 640), device="cuda:1")
    sums = witness.tensor("sums", "float32", (2, 4, 3, 128), device="cuda:1")
    returned = load(real=[PRUNING])._state_passing_fwd(states, sums)
    out = piece("out", "bfloat16", (2, 3, 4, 640))
    final = piece("final", "float32", (2, 4, 640))
    witness.saw(
        made("out", "torch.empty", "bfloat16", (2, 3, 4, 640), device="cuda:1"),
        made("final", "torch.empty", "float32", (2, 4, 640), device="cuda:1"),
        launched(
            "_state_passing_fwd_kernel",
            (10, 2, 4),  # 640 / 64 of the first configuration, batch, heads
            states_ptr=piece("states", "bfloat16", (2, 3, 4, 640)),
            out_ptr=out,
            final_states_ptr=final,
            dA_cs_ptr=piece("sums", "float32", (2, 4, 3, 128)),
            initstates_ptr=None,
            seq_idx_ptr=None,
            chunk_offsets_ptr=None,
            chunk_meta_num=0,
            dim=640,
            nchunks=3,
            seqlen=0,
            chunk_size=128,
            stride_states_batch=7680,  # 3 x 4 x 640
            stride_states_chunk=2560,
            stride_states_head=640,
            stride_states_dim=1,
            stride_out_batch=7680,
            stride_out_chunk=2560,
            stride_out_head=640,
            stride_out_dim=1,
            stride_final_states_batch=2560,
            stride_final_states_head=640,
            stride_final_states_dim=1,
            stride_dA_cs_batch=1536,  # 4 x 3 x 128
            stride_dA_cs_chunk=128,  # heads lie outside chunks
            stride_dA_cs_head=384,
            stride_dA_cs_csize=1,
            stride_initstates_batch=0,
            stride_initstates_head=0,
            stride_initstates_dim=0,
            stride_seq_idx_batch=0,
            stride_seq_idx_seqlen=0,
            HAS_INITSTATES=False,
            HAS_SEQ_IDX=False,
            IS_CONT_BATCHED=False,
            BLOCK_SIZE=64,
            # triton.Config's defaults
            num_warps=4,
            num_stages=3,
            num_ctas=1,
        ),
    )
    assert witness.of(returned) == (out, final)


@pytest.mark.drives(AWQ, "awq_dequantize_triton")
def test_dequantized_weight_has_eight_columns_for_each_word(load, witness):
    packed = witness.tensor("packed", "int32", (256, 40))
    scales = witness.tensor("scales", "float16", (2, 320))
    zeros = witness.tensor("zeros", "int32", (2, 40))
    returned = load().awq_dequantize_triton(packed, scales, zeros, block_size_y=64)
    weight = piece("weight", "float16", (256, 320))
    witness.saw(
        made("weight", "torch.empty", "float16", (256, 320)),
        launched(
            "awq_dequantize_kernel",
            (2, 4),  # ceil(40 / 32), 256 / 64
            qweight_ptr=piece("packed", "int32", (256, 40)),
            scales_ptr=piece("scales", "float16", (2, 320)),
            zeros_ptr=piece("zeros", "int32", (2, 40)),
            group_size=128,  # 256 rows have 2 rows of scales
            result_ptr=weight,
            num_cols=40,
            num_rows=256,
            BLOCK_SIZE_X=32,
            BLOCK_SIZE_Y=64,
        ),
    )
    assert witness.of(returned) == weight
