"""vLLM's mixture of experts: alignment buffers, and the weighted sum of what experts return."""

from __future__ import annotations

import pytest

from tests.upstream.witness import called, launched, made, piece

MUL_SUM = "vllm/model_executor/layers/fused_moe/moe_fused_mul_sum.py"
ALIGN = "vllm/model_executor/layers/fused_moe/moe_align_block_size.py"
MATH = ["vllm.utils.math_utils"]


def mul_sum(hidden, dtype, block, warps, *, outputs="outputs", **given):
    return launched(
        "moe_fused_mul_sum_kernel",
        (7,),  # a program per token
        inputs_ptr=piece("inputs", dtype, (7, 4, hidden)),
        topk_weights_ptr=piece("weights", "float32", (7, 4)),
        outputs_ptr=piece(outputs, dtype, (7, hidden)),
        top_ids_ptr=given.get("ids"),
        expert_map_ptr=given.get("experts"),
        num_valid_tokens_ptr=given.get("valid"),
        stride_m=4 * hidden,
        has_topk_ids="ids" in given,
        has_expert_map="experts" in given,
        has_num_valid="valid" in given,
        top_k=4,
        hidden_size=hidden,
        BLOCK_K=block,
        num_warps=warps,
        num_stages=3,
    )


@pytest.mark.drives(MUL_SUM, "moe_fused_mul_sum")
@pytest.mark.parametrize(
    ("hidden", "dtype", "block", "warps"),
    [
        (5120, "bfloat16", 4096, 16),  # next power of 2 of 5120 is above the limit
        (1536, "bfloat16", 2048, 16),
        (512, "bfloat16", 512, 2),  # below 1024, tiles stay at 512
        (96, "bfloat16", 128, 2),  # never less than 128
        (5120, "float32", 256, 4),
    ],
)
def test_weighted_sum_picks_its_tile_by_width_and_dtype(load, witness, hidden, dtype, block, warps):
    inputs = witness.tensor("inputs", dtype, (7, 4, hidden))
    weights = witness.tensor("weights", "float32", (7, 4))
    returned = load().moe_fused_mul_sum(inputs, weights)
    witness.saw(
        made("outputs", "torch.empty", dtype, (7, hidden)),
        mul_sum(hidden, dtype, block, warps),
    )
    assert witness.of(returned) == piece("outputs", dtype, (7, hidden))


@pytest.mark.drives(MUL_SUM, "moe_fused_mul_sum")
def test_weighted_sum_leaves_padding_to_the_callers_buffer(load, witness):
    buffer = witness.tensor("buffer", "bfloat16", (7, 2048))
    returned = load().moe_fused_mul_sum(
        witness.tensor("inputs", "bfloat16", (7, 4, 2048)),
        witness.tensor("weights", "float32", (7, 4)),
        buffer,
        topk_ids=witness.tensor("ids", "int64", (7, 4)),
        expert_map=witness.tensor("experts", "int32", (64,)),
        num_valid_tokens=witness.tensor("valid", "int32", (1,)),
    )
    witness.saw(
        mul_sum(
            2048,
            "bfloat16",
            2048,
            16,
            outputs="buffer",
            ids=piece("ids", "int64", (7, 4)),
            experts=piece("experts", "int32", (64,)),
            valid=piece("valid", "int32", (1,)),
        )
    )
    assert returned is buffer


@pytest.mark.drives(ALIGN, "moe_align_block_size")
@pytest.mark.parametrize(
    ("tokens", "experts", "padded", "blocks", "pad"),
    [
        (64, 8, 632, 10, False),  # 128 ids + 8 x 63, in blocks of 64
        (64, 8, 640, 10, True),  # the same, rounded up to whole blocks
        (2, 8, 256, 4, False),  # 4 ids for 8 experts: at most 4 blocks
    ],
)
def test_alignment_allocates_for_the_worst_split(
    load, witness, tokens, experts, padded, blocks, pad
):
    ids = witness.tensor("ids", "int32", (tokens, 2))
    module = load(real=MATH)
    returned = module.moe_align_block_size(ids, 64, experts, pad_sorted_ids=pad)
    answer = (
        piece("sorted", "int32", (padded,)),
        piece("experts", "int32", (blocks,)),
        piece("total", "int32", (1,)),
    )
    witness.saw(
        made("sorted", "torch.empty", "int32", (padded,)),
        made("experts", "torch.empty", "int32", (blocks,)),
        made("total", "torch.empty", "int32", (1,)),
        called(
            "vllm._custom_ops.moe_align_block_size",
            piece("ids", "int32", (tokens, 2)),
            experts,
            64,
            *answer,
            None,
            None,
        ),
    )
    assert witness.of(returned) == answer


@pytest.mark.drives(ALIGN, "batched_moe_align_block_size")
def test_batched_alignment_gives_each_batch_whole_blocks(load, witness):
    counts = witness.tensor("counts", "int32", (6,), device="cuda:1")
    returned = load(real=MATH).batched_moe_align_block_size(100, 64, counts)
    answer = (
        piece("sorted", "int32", (768,)),  # 6 batches of 100, rounded up to 128
        piece("experts", "int32", (12,)),
        piece("total", "int32", (1,)),
    )
    witness.saw(
        made("sorted", "torch.empty", "int32", (768,), device="cuda:1"),
        made("experts", "torch.empty", "int32", (12,), device="cuda:1"),
        made("total", "torch.empty", "int32", (1,), device="cuda:1"),
        called(
            "vllm._custom_ops.batched_moe_align_block_size",
            100,
            64,
            piece("counts", "int32", (6,)),
            *answer,
        ),
    )
    assert witness.of(returned) == answer
