"""SGLang's dispatch of tokens to experts: a counter zeroed by the host or by the kernel."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

MOE = "sglang/kernels/ops/moe/ep_moe_kernels.py"


@pytest.mark.drives(MOE, "fused_moe_dispatch_index")
@pytest.mark.parametrize(
    ("tokens", "experts", "grid", "block", "call", "zeroes"),
    [
        (3, 20, 1, 32, "torch.empty", True),  # one block of next power of 2 of 20
        (128, 20, 1, 1024, "torch.empty", True),  # 128 x 8 is just one block
        (129, 20, 5, 256, "torch.zeros", False),  # ceil(1032 / 256)
        (3, 1025, 1, 256, "torch.zeros", False),  # too many experts for one block
    ],
)
def test_counts_are_zeroed_by_the_kernel_only_in_one_block(
    load, witness, tokens, experts, grid, block, call, zeroes
):
    topk = witness.tensor("topk", "int32", (tokens, 8))
    returned = load().fused_moe_dispatch_index(topk, experts, 256, 40)
    pairs = tokens * 8
    witness.saw(
        made("places", "torch.empty", "int32", (pairs,)),
        made("counts", call, "int32", (experts,)),
        launched(
            "fused_moe_dispatch_index_triton_kernel",
            (grid,),
            topk_ids_ptr=piece("topk", "int32", (pairs,)),
            src2dst_ptr=piece("places", "int32", (pairs,)),
            masked_m_ptr=piece("counts", "int32", (experts,)),
            m_max=256,
            num_toks=pairs,
            num_experts=experts,
            expert_start=40,
            BLOCK_SIZE=block,
            ZERO_INIT=zeroes,
        ),
    )
    assert witness.of(returned) == (
        piece("counts", "int32", (experts,)),
        piece("places", "int32", (pairs,)),
    )
