"""vLLM's Triton attention: decoding over split keys, merging states, exchange between ranks."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

DECODE = "vllm/v1/attention/ops/triton_decode_attention.py"
MERGE = "vllm/v1/attention/ops/triton_merge_attn_states.py"
DCP = "vllm/v1/attention/ops/dcp.py"
LAUNCHERS = [
    "vllm.model_executor.warmup.jit_warmup",
    "vllm.model_executor.warmup.jit_warmup_triton_helper",
]


def decode(module, witness, heads, **given):
    module.decode_attention_fwd(
        witness.tensor("q", "bfloat16", (3, heads, 576)),
        witness.tensor("k", "bfloat16", (20, 64, 1, 576)),
        witness.tensor("v", "bfloat16", (20, 64, 1, 512), strides=(36864, 576, 576, 1)),
        witness.tensor("o", "bfloat16", (3, heads, 512)),
        witness.tensor("lse", "float32", (3, heads)),
        witness.tensor("pages", "int32", (3, 16)),
        witness.tensor("lengths", "int32", (3,)),
        witness.tensor("partial", "float32", (3, heads, 4, 513)),
        4,
        0.125,
        page_size=64,
        **given,
    )


def stage1(kernel, grid, heads, **more):
    return launched(
        kernel,
        grid,
        Q=piece("q", "bfloat16", (3, heads, 576)),
        K_Buffer=piece("k", "bfloat16", (20, 64, 1, 576)),
        V_Buffer=piece("v", "bfloat16", (20, 64, 1, 512), (36864, 576, 576, 1)),
        sm_scale=0.125,
        Req_to_tokens=piece("pages", "int32", (3, 16)),
        B_Seqlen=piece("lengths", "int32", (3,)),
        Att_Out=piece("partial", "float32", (3, heads, 4, 513)),
        stride_req_to_tokens_b=16,
        stride_qbs=heads * 576,
        stride_qh=576,
        stride_buf_kpbs=36864,  # a page of 64 x 576
        stride_buf_kbs=576,
        stride_buf_kh=576,
        stride_buf_vpbs=36864,
        stride_buf_vbs=576,
        stride_buf_vh=576,
        stride_mid_ob=heads * 2052,  # 4 splits of 513
        stride_mid_oh=2052,
        stride_mid_os=513,
        k_scale=piece("k scale", "float32", ()),
        v_scale=piece("v scale", "float32", ()),
        kv_group_num=heads,  # one head of keys for all
        BLOCK_DV=512,
        NUM_KV_SPLITS=4,
        PAGE_SIZE=64,
        logit_cap=0.0,
        Lk=576,
        Lv=512,
        num_stages=2,
        num_warps=4,
        **more,
    )


def stage2(heads):
    return launched(
        "_fwd_kernel_stage2",
        (3, heads),
        Mid_O=piece("partial", "float32", (3, heads, 4, 513)),
        o=piece("o", "bfloat16", (3, heads, 512)),
        lse=piece("lse", "float32", (3, heads)),
        B_Seqlen=piece("lengths", "int32", (3,)),
        stride_mid_ob=heads * 2052,
        stride_mid_oh=2052,
        stride_mid_os=513,
        stride_obs=heads * 512,
        stride_oh=512,
        stride_lse_bs=heads,
        NUM_KV_SPLITS=4,
        BLOCK_DV=512,
        Lv=512,
        OUTPUT_FP16=0,
        num_warps=4,
        num_stages=2,
    )


SCALES = [
    made("k scale", "torch.tensor", "float32", (), fill=1.0),
    made("v scale", "torch.tensor", "float32", (), fill=1.0),
]


@pytest.mark.drives(DECODE, "decode_attention_fwd")
def test_mla_decode_takes_heads_in_groups_of_16_and_splits_576_in_512_and_64(load, witness):
    decode(load(), witness, 24, is_mla=True)
    witness.saw(
        *SCALES,
        stage1(
            "_fwd_grouped_kernel_stage1",
            (3, 2, 4),  # 24 heads in two groups
            24,
            q_head_num=24,
            BLOCK_DMODEL=512,
            BLOCK_DPE=64,
            BLOCK_N=32,
            BLOCK_H=16,
            IS_MLA=True,
        ),
        stage2(24),
    )


@pytest.mark.drives(DECODE, "decode_attention_fwd")
def test_decode_of_one_head_of_queries_per_head_of_keys_is_not_grouped(load, witness):
    decode(load(), witness, 1)
    witness.saw(
        *SCALES,
        stage1(
            "_fwd_kernel_stage1",
            (3, 1, 4),
            1,
            BLOCK_DMODEL=1024,  # next power of 2 of 576
            BLOCK_N=64,
        ),
        stage2(1),
    )


@pytest.mark.drives(MERGE, "merge_attn_states")
@pytest.mark.parametrize("with_lse", [False, True])
def test_merge_binds_the_strides_of_lse_that_lies_by_head(load, witness, with_lse):
    tensor = witness.tensor
    lse = tensor("lse", "float32", (12, 9)) if with_lse else None
    load().merge_attn_states(
        tensor("output", "bfloat16", (9, 12, 192)),
        tensor("prefix", "bfloat16", (9, 12, 192), strides=(3072, 256, 1)),
        tensor("prefix lse", "float32", (12, 9)),
        tensor("suffix", "bfloat16", (9, 12, 192)),
        tensor("suffix lse", "float32", (12, 9), strides=(1, 12)),
        lse,
        prefill_tokens_with_context=5,
    )
    witness.saw(
        launched(
            "merge_attn_states_kernel",
            (9, 12),
            output=piece("output", "bfloat16", (9, 12, 192)),
            output_lse=piece("lse", "float32", (12, 9)) if with_lse else None,
            prefix_output=piece("prefix", "bfloat16", (9, 12, 192), (3072, 256, 1)),
            prefix_lse=piece("prefix lse", "float32", (12, 9)),
            suffix_output=piece("suffix", "bfloat16", (9, 12, 192)),
            suffix_lse=piece("suffix lse", "float32", (12, 9), (1, 12)),
            prefix_head_stride=256,
            output_head_stride=192,
            prefix_lse_head_stride=9,
            prefix_lse_token_stride=1,
            suffix_lse_head_stride=1,
            suffix_lse_token_stride=12,
            output_lse_head_stride=9 if with_lse else 0,
            output_lse_token_stride=1 if with_lse else 0,
            output_scale=None,
            prefill_tokens_with_context=5,
            HEAD_SIZE=192,
            PADDED_HEAD_SIZE=256,
            OUTPUT_LSE=with_lse,
            USE_FP8=False,
            FP8_MIN=-448.0,
            FP8_MAX=448.0,
        )
    )


@pytest.mark.drives(DCP, "correct_attn_out")
def test_corrected_lse_has_the_strides_that_it_has_in_the_gathered_ones(load, witness):
    out = witness.tensor("out", "bfloat16", (6, 1, 16, 512))
    lses = witness.tensor("lses", "float32", (4, 6, 16), strides=(96, 1, 6))
    module = load(real=LAUNCHERS)
    returned = module.correct_attn_out(out, lses, 3, None, is_lse_base_on_e=False)
    witness.saw(
        made("lse", "torch.empty_strided", "float32", (6, 16), strides=(1, 6)),
        launched(
            "kernel",
            (6, 16, 1),
            outputs_ptr=piece("out", "bfloat16", (6, 16, 512)),
            new_output_ptr=piece("out", "bfloat16", (6, 16, 512)),
            lses_ptr=piece("lses", "float32", (4, 6, 16), (96, 1, 6)),
            vlse_ptr=piece("lse", "float32", (6, 16), (1, 6)),
            outputs_stride_B=8192,
            outputs_stride_H=512,
            outputs_stride_D=1,
            lses_stride_N=96,
            lses_stride_B=1,
            lses_stride_H=6,
            lse_idx=3,
            HEAD_DIM=512,
            N_ROUNDED=4,
            IS_BASE_E=False,
        ),
    )
    assert witness.of(returned) == (
        piece("out", "bfloat16", (6, 16, 512)),
        piece("lse", "float32", (6, 16), (1, 6)),
    )


@pytest.mark.drives(DCP, "_dcp_a2a_unpack_combine")
@pytest.mark.parametrize("return_lse", [False, True])
def test_unpacking_allocates_a_dummy_lse_where_none_is_returned(load, witness, return_lse):
    received = witness.tensor("received", "bfloat16", (4, 6, 8, 514))
    module = load(real=LAUNCHERS)
    returned = module._dcp_a2a_unpack_combine(received, 512, 2, return_lse, True)
    shape, dtype = ((6, 8), "float32") if return_lse else ((1, 1), "bfloat16")
    witness.saw(
        made("out", "torch.empty", "bfloat16", (6, 8, 512)),
        made("lse", "torch.empty", dtype, shape),
        launched(
            "_dcp_a2a_unpack_combine_kernel",
            (6, 8, 1),
            recv_ptr=piece("received", "bfloat16", (4, 6, 8, 514)),
            out_ptr=piece("out", "bfloat16", (6, 8, 512)),
            out_lse_ptr=piece("lse", dtype, shape),
            recv_stride_N=24672,  # 6 x 8 x 514
            recv_stride_B=4112,
            recv_stride_H=514,
            recv_stride_D=1,
            out_stride_B=4096,
            out_stride_H=512,
            out_stride_D=1,
            out_lse_stride_B=8 if return_lse else 1,
            out_lse_stride_H=1,
            N=4,
            HEAD_DIM=512,
            IS_BASE_E=True,
            RETURN_LSE=return_lse,
            LSE_PACK_DIM=2,
        ),
    )
    out = piece("out", "bfloat16", (6, 8, 512))
    assert witness.of(returned) == ((out, piece("lse", dtype, shape)) if return_lse else out)
