"""SGLang's page split and what it calls for, with every argument of every launch and call."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.upstream.witness import called, filled, launched, made, piece

MLA = "sglang/kernels/ops/attention/flash_mla_sm120.py"
WEIGHTS = "sglang/kernels/ops/quantization/bf16x3_split.py"
CONSUMER = "flashinfer.mla._sparse_mla_sm120._sparse_mla_sm120_paged_attention"
PAGE = 149760  # 256 x (576 + 8) bytes, padded to a multiple of 576


@pytest.fixture
def mla(load, sm120):
    resources = SimpleNamespace(buffers=sm120.registry())
    return load(
        provide={
            "sglang.srt.runtime_context.get_resources": lambda: resources,
            "flashinfer.mla._sparse_mla_sm120._DECODE_MAX_TOKENS": 64,
        }
    )


#: Tokens, their positions (128 each), and blocks of 1024 that hold these.
MARKED = {9: (1152, 2), 64: (8192, 8), 65: (8320, 9)}


def split(tokens):
    """What the split of 4 pages of 256 tokens does, for 128 positions of each token."""
    touched, blocks = MARKED[tokens]
    return (
        made("split", "torch.empty", "uint8", (16, 37440), kept="flash_mla_sm120_split:cuda:0"),
        made("mask", "torch.empty", "int8", (4,), kept="flash_mla_sm120_mask:cuda:0"),
        filled("zero_", piece("mask", "int8", (4,)), 0),
        launched(
            "_page_mark_kernel",
            (blocks,),
            indices_ptr=piece("indices", "int32", (touched,)),
            mask_ptr=piece("mask", "int8", (4,)),
            N_idx=touched,
            SRC_PBS=256,
            BLOCK=1024,
        ),
        launched(
            "_page_split_kernel",
            (16,),  # 4 pages of 64 tokens for each
            src_ptr=piece("cache", "uint8", (4, PAGE)),
            dst_ptr=piece("split", "uint8", (16, 37440)),
            N_pages=4,
            src_stride0=PAGE,
            dst_stride0=37440,
            DATA_PER_SUB=36864,  # 64 x 576
            SCALE_PER_SUB=512,  # 64 x 8
            SRC_SCALE_OFF=147456,  # 256 x 576
            DST_SCALE_OFF=36864,
            RATIO=4,
            BLOCK_SIZE=1024,
            mask_ptr=piece("mask", "int8", (4,)),
            HAS_MASK=True,
        ),
    )


SPLIT_VIEW = piece("split", "uint8", (16, 64, 1, 584), strides=(37440, 584, 584, 1))
UNUSED = {
    "topk_length": None,
    "attn_sink": None,
    "extra_kv_cache": None,
    "extra_indices": None,
    "extra_topk_length": None,
}


def attend(function, witness, tokens):
    q = witness.tensor("q", "bfloat16", (tokens, 1, 64, 512))
    cache = witness.tensor("cache", "float8_e4m3fn", (4, 256, 1, 584), strides=(PAGE, 584, 584, 1))
    indices = witness.tensor("indices", "int32", (tokens, 1, 128))
    return function(q, cache, indices, None, None, 512, 0.125, None, None, None)


def given(tokens):
    return (
        piece("q", "bfloat16", (tokens, 64, 512)),
        SPLIT_VIEW,
        piece("indices", "int32", (tokens, 128)),
        piece("out", "bfloat16", (tokens, 64, 512)),
        piece("lse", "float32", (tokens, 64)),
        0.125,
    )


@pytest.mark.drives(MLA, "_split_kv_pages_to_64")
def test_split_copies_the_marked_pages_into_a_kept_buffer(mla, witness):
    cache = witness.tensor("cache", "uint8", (4, PAGE))
    touched = witness.tensor("indices", "int32", (9, 128))
    returned = mla._split_kv_pages_to_64(cache, 256, touched_indices=touched)
    witness.saw(*split(9))
    assert witness.of(returned) == SPLIT_VIEW


@pytest.mark.drives(MLA, "_flash_mla_flashinfer")
def test_64_tokens_get_a_part_for_each_64_positions(mla, witness):
    returned = attend(mla._flash_mla_flashinfer, witness, 64)
    witness.saw(
        *split(64),
        made("out", "torch.empty", "bfloat16", (64, 64, 512)),
        made("lse", "torch.empty", "float32", (64, 64)),
        made("parts", "torch.empty", "bfloat16", (64, 64, 2, 512)),
        made("part lse", "torch.empty", "float32", (64, 64, 2)),
        called(
            CONSUMER,
            *given(64),
            d_v=512,
            mid_out=piece("parts", "bfloat16", (64, 64, 2, 512)),
            mid_lse=piece("part lse", "float32", (64, 64, 2)),
            **UNUSED,
        ),
    )
    assert witness.of(returned) == (piece("out", "bfloat16", (64, 1, 64, 512)), None)


@pytest.mark.drives(MLA, "_flash_mla_flashinfer")
def test_65_tokens_get_no_parts(mla, witness):
    attend(mla._flash_mla_flashinfer, witness, 65)
    witness.saw(
        *split(65),
        made("out", "torch.empty", "bfloat16", (65, 64, 512)),
        made("lse", "torch.empty", "float32", (65, 64)),
        called(CONSUMER, *given(65), d_v=512, mid_out=None, mid_lse=None, **UNUSED),
    )


@pytest.mark.drives(MLA, "_flash_mla_sm120_prefill")
def test_prefill_never_gets_parts(mla, witness):
    returned = attend(mla._flash_mla_sm120_prefill, witness, 64)
    witness.saw(
        *split(64),
        made("out", "Tensor.new_empty", "bfloat16", (64, 64, 512)),
        made("lse", "torch.empty", "float32", (64, 64)),
        called(CONSUMER, *given(64), mid_out=None, mid_lse=None, **UNUSED),
    )
    assert witness.of(returned) == (piece("out", "bfloat16", (64, 1, 64, 512)), None)


@pytest.mark.drives(WEIGHTS, "split_fp32_to_bf16x3")
def test_weights_are_split_into_three_blocks_of_rows(load, witness):
    weights = witness.tensor("weights", "float32", (50, 33))
    returned = load().split_fp32_to_bf16x3(weights)
    witness.saw(
        made("parts", "torch.empty", "bfloat16", (150, 33)),
        launched(
            "_split_fp32_to_bf16x3_kernel",
            (2,),  # ceil(1650 / 1024)
            w_ptr=piece("weights", "float32", (50, 33)),
            out_ptr=piece("parts", "bfloat16", (150, 33)),
            numel=1650,
            BLOCK=1024,
        ),
    )
    assert witness.of(returned) == piece("parts", "bfloat16", (150, 33))
