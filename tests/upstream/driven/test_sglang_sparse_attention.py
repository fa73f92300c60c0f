"""SGLang's sparse attention: autotuned decode, split decode, and the tables of indices."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

DECODE = "sglang/kernels/ops/attention/flash_mla_sm120_triton.py"
QSA = "sglang/kernels/kda_kernels/qwen38_qsa_sm121/kernel.py"
GLUON = "sglang/kernels/ops/attention/minimax_sparse/prefill/gluon_prefill.py"


def decode_inputs(witness):
    # Pages of 64 tokens: 64 x (576 + 8) bytes, padded to a multiple of 576.
    cache = witness.tensor("cache", "uint8", (4, 64, 1, 584), strides=(37440, 584, 584, 1))
    q = witness.tensor("q", "bfloat16", (3, 1, 16, 512))
    return q, cache, witness.tensor("indices", "int32", (3, 1, 100))


def decode_launch(lens, has_lens):
    return launched(
        "_tiled_sparse_decode_kernel",
        (3, 16),
        Q_ptr=piece("q", "bfloat16", (3, 16, 512)),
        cache_fp8_ptr=piece("cache", "float8_e4m3fn", (149760,)),  # 4 pages, one byte each
        cache_uint8_ptr=piece("cache", "uint8", (149760,)),
        cache_bf16_ptr=piece("cache", "bfloat16", (74880,)),  # half as many
        indices_ptr=piece("indices", "int32", (3, 100)),
        topk_len_ptr=lens,
        O_ptr=piece("out", "bfloat16", (3, 16, 512)),
        LSE_ptr=piece("lse", "float32", (3, 16)),
        sm_scale=0.125,
        page_size=64,
        page_bytes=37440,
        scale_section_off=36864,  # 64 x 576
        H=16,
        topk=100,
        topk_rounded=128,
        has_topk_len=has_lens,
        stride_qb=8192,  # 16 x 512
        stride_qh=512,
        stride_ob=8192,
        stride_oh=512,
        stride_ib=100,
        NOPE_PAD=512,
        ROPE_DIM=64,
        NOPE_DIM_RT=448,
        # The first of the configurations is the one that is recorded.
        BLOCK_T=16,
        num_warps=4,
        num_stages=2,
        num_ctas=1,  # triton.Config's default
    )


OUT = made("out", "torch.zeros", "bfloat16", (3, 16, 512))
LSE = made("lse", "torch.full", "float32", (3, 16), fill=float("-inf"))


@pytest.mark.drives(DECODE, "_run_triton_sparse_decode")
def test_decode_reads_one_cache_as_three_dtypes(load, witness):
    lens = witness.tensor("lens", "int32", (3,))
    returned = load()._run_triton_sparse_decode(*decode_inputs(witness), lens, 0.125)
    witness.saw(OUT, LSE, decode_launch(piece("lens", "int32", (3,)), True))
    assert witness.of(returned) == (
        piece("out", "bfloat16", (3, 1, 16, 512)),
        piece("lse", "float32", (3, 1, 16)),
    )


@pytest.mark.drives(DECODE, "flash_mla_sparse_decode_triton")
def test_decode_without_lengths_passes_empty_ones_and_turns_the_sums(load, witness):
    returned = load().flash_mla_sparse_decode_triton(
        *decode_inputs(witness), None, None, 512, 0.125
    )
    witness.saw(
        OUT,
        LSE,
        made("none", "torch.empty", "int32", (0,)),
        decode_launch(piece("none", "int32", (0,)), False),
    )
    assert witness.of(returned) == (
        piece("out", "bfloat16", (3, 1, 16, 512)),
        piece("lse", "float32", (3, 16, 1), strides=(16, 1, 16)),
    )


@pytest.mark.drives(QSA, "qwen38_qsa_sm121")
@pytest.mark.parametrize(
    ("batch", "heads", "block", "stages"),
    [(11, 1, 32, 3), (12, 1, 64, 2), (3, 2, 32, 3), (4, 2, 64, 2)],
)
def test_small_batches_take_blocks_of_32_and_three_stages(
    load, witness, batch, heads, block, stages
):
    q = witness.tensor("q", "bfloat16", (batch, 8, 256), strides=(4096, 256, 1))
    k = witness.tensor("k", "bfloat16", (500, heads, 256))
    v = witness.tensor("v", "bfloat16", (500, heads, 256))
    starts = witness.tensor("q starts", "int32", (batch + 1,))
    k_starts = witness.tensor("k starts", "int32", (batch + 1,))
    returned = load().qwen38_qsa_sm121(q, k, v, starts, k_starts, 0.0625)
    whole = piece("out", "bfloat16", (batch, 8, 256))
    key = "_scratch[0][{}]"
    witness.saw(
        # Strided q is dense in no order, so the result is contiguous.
        made("out", "torch.empty_like", "bfloat16", (batch, 8, 256)),
        made("max", "torch.empty", "float32", (32768,), kept=key.format(0)),
        made("sum", "torch.empty", "float32", (32768,), kept=key.format(1)),
        made("acc", "torch.empty", "float32", (8388608,), kept=key.format(2)),
        made("counters", "torch.zeros", "int32", (256,), kept=key.format(3)),
        launched(
            "_qsa_split_kernel",
            (batch, heads * 8),  # 8 splits
            q_ptr=piece("q", "bfloat16", (batch, 8, 256), strides=(4096, 256, 1)),
            k_ptr=piece("k", "bfloat16", (500, heads, 256)),
            v_ptr=piece("v", "bfloat16", (500, heads, 256)),
            out_ptr=whole,
            cu_q_ptr=piece("q starts", "int32", (batch + 1,)),
            cu_k_ptr=piece("k starts", "int32", (batch + 1,)),
            partial_max_ptr=piece("max", "float32", (32768,)),
            partial_sum_ptr=piece("sum", "float32", (32768,)),
            partial_acc_ptr=piece("acc", "float32", (8388608,)),
            counter_ptr=piece("counters", "int32", (256,)),
            softmax_scale=0.0625,
            NUM_Q_HEADS=8,
            NUM_KV_HEADS=heads,
            HEAD_DIM=256,
            BLOCK_M=16,
            BLOCK_KV=block,
            MAX_SPLITS=8,
            q_stride_t=4096,
            q_stride_h=256,
            k_stride_t=heads * 256,
            k_stride_h=256,
            v_stride_t=heads * 256,
            v_stride_h=256,
            out_stride_t=2048,  # 8 x 256
            out_stride_h=256,
            num_warps=4,
            num_stages=stages,
        ),
    )
    assert witness.of(returned) == whole


@pytest.mark.drives(GLUON, "_build_gluon_sparse_bt_prefill")
def test_block_table_of_one_forward_is_built_once(load, witness):
    module = load()
    given = [
        witness.tensor("topk", "int32", (1, 5, 12)),
        witness.tensor("request", "int32", (5,)),
        witness.tensor("position", "int32", (5,)),
        witness.tensor("first page", "int32", (2,)),
        128,
    ]
    table, lens = module._build_gluon_sparse_bt_prefill(*given)
    again = module._build_gluon_sparse_bt_prefill(*given)
    assert again[0] is table and again[1] is lens
    witness.saw(
        # Two pages of 64 tokens for each of 12 blocks of 128.
        made("table", "torch.empty", "int32", (5, 24), kept="_BT_OUT_CACHE[1][0]"),
        made("lens", "torch.empty", "int32", (5,), kept="_BT_OUT_CACHE[1][1]"),
        launched(
            "_build_gluon_sparse_bt_prefill_kernel",
            (5,),
            topk_ptr=piece("topk", "int32", (1, 5, 12)),
            req_id_ptr=piece("request", "int32", (5,)),
            abs_pos_ptr=piece("position", "int32", (5,)),
            page_start_ptr=piece("first page", "int32", (2,)),
            sparse_bt_ptr=piece("table", "int32", (5, 24)),
            sparse_ctx_ptr=piece("lens", "int32", (5,)),
            max_topk=12,
            stride_topk_n=12,
            stride_topk_t=1,
            stride_sparse_bt_n=24,
            sparse_block_size=128,
            pages_per_block=2,
            BLOCK_SIZE_T=16,  # next power of 2 of 12
        ),
    )


@pytest.mark.drives(GLUON, "_gather_context_to_shuffle")
def test_context_is_gathered_into_the_front_of_the_scratch(load, witness):
    k = witness.tensor("k", "bfloat16", (999, 1, 128))
    v = witness.tensor("v", "bfloat16", (999, 1, 128), strides=(256, 128, 1))
    names = {"slots": (8, 300), "pool": (2,), "lens": (2,), "page request": (6,), "page": (6,)}
    rest = [witness.tensor(name, "int32", shape) for name, shape in names.items()]
    returned = load()._gather_context_to_shuffle(k, v, *rest, 6)
    key = "_SCRATCH[('cuda:0', 'bfloat16')][{}]"
    witness.saw(
        made("k pages", "torch.empty", "bfloat16", (8388608,), kept=key.format(0)),
        made("v pages", "torch.empty", "bfloat16", (8388608,), kept=key.format(1)),
        launched(
            "_gather_nhd_to_shuffle_kernel",
            (6,),
            k_pool_ptr=piece("k", "bfloat16", (999, 1, 128)),
            v_pool_ptr=piece("v", "bfloat16", (999, 1, 128), strides=(256, 128, 1)),
            k_out_ptr=piece("k pages", "bfloat16", (8388608,)),
            v_out_ptr=piece("v pages", "bfloat16", (8388608,)),
            req_to_token_ptr=piece("slots", "int32", (8, 300)),
            req_pool_indices_ptr=piece("pool", "int32", (2,)),
            seq_lens_ptr=piece("lens", "int32", (2,)),
            page_req_ptr=piece("page request", "int32", (6,)),
            page_pos_ptr=piece("page", "int32", (6,)),
            stride_k_slot=128,
            stride_v_slot=256,
            stride_r2t_b=300,
            HEAD_DIM_C=128,
            PAGE=64,
            X=8,  # elements of 2 bytes in 16 bytes
        ),
    )
    assert witness.of(returned) == (
        piece("k pages", "bfloat16", (6, 1, 16, 64, 8)),
        piece("v pages", "bfloat16", (6, 1, 8, 128, 8)),
    )
