"""SGLang's small kernels around the experts: sums, padding rows, counts, slots."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

SUM = "sglang/kernels/ops/moe/moe_fused_mul_sum.py"
FILL = "sglang/kernels/ops/moe/fill_padded_rows.py"
COUNTS = "sglang/kernels/ops/moe/triton_pad_expert_counts.py"
SLOTS = "sglang/kernels/ops/kvcache/hisparse_slot_mapping.py"


@pytest.mark.drives(SUM, "moe_fused_mul_sum")
@pytest.mark.parametrize(
    ("tokens", "dtype", "block", "width", "grid", "warps"),
    [
        # 3 tiles of 512 hold 1100, or 5 of 256. A warp for each 256 elements, from 4 to 8; for
        # float32 always 8.
        (4, "bfloat16", 1, 512, (3, 4), 4),
        (128, "bfloat16", 2, 512, (3, 64), 4),
        (129, "bfloat16", 4, 512, (3, 33), 8),
        (4, "float32", 1, 256, (5, 4), 8),
        (5, "float32", 2, 256, (5, 3), 8),
    ],
)
def test_weighted_sum_takes_larger_tiles_of_more_tokens(
    load, witness, tokens, dtype, block, width, grid, warps
):
    outputs = witness.tensor("outputs", dtype, (tokens, 8, 1100))
    weights = witness.tensor("weights", "float32", (tokens, 8))
    ids = witness.tensor("ids", "int32", (tokens, 8))
    returned = load().moe_fused_mul_sum(outputs, weights, topk_ids=ids)
    witness.saw(
        made("sums", "torch.empty", dtype, (tokens, 1100)),
        launched(
            "moe_fused_mul_sum_kernel",
            grid,
            inputs_ptr=piece("outputs", dtype, (tokens, 8, 1100)),
            topk_weights_ptr=piece("weights", "float32", (tokens, 8)),
            outputs_ptr=piece("sums", dtype, (tokens, 1100)),
            top_ids_ptr=piece("ids", "int32", (tokens, 8)),
            expert_map_ptr=None,
            num_tokens=tokens,
            stride_m=8800,  # 8 x 1100
            has_expert_map=False,
            has_topk_ids=True,
            top_k=8,
            size=1100,
            routed_scaling_factor=1.0,
            BLOCK_M=block,
            BLOCK_K=width,
            num_warps=warps,
            num_stages=4,  # for tiles of at most 2048
        ),
    )
    assert witness.of(returned) == piece("sums", dtype, (tokens, 1100))


@pytest.mark.drives(FILL, "_fill_padded_rows")
def test_padding_rows_are_filled_by_one_program_each(load, witness):
    rows = witness.tensor("rows", "int32", (9, 6), strides=(16, 1))
    valid = witness.tensor("valid", "int32", (1,))
    assert load()._fill_padded_rows(rows, valid, -1) is None
    witness.saw(
        launched(
            "_fill_padded_rows_kernel",
            (9,),
            out_ptr=piece("rows", "int32", (9, 6), strides=(16, 1)),
            num_token_non_padded_ptr=piece("valid", "int32", (1,)),
            n_cols=6,
            fill_value=-1,
            stride_row=16,
            BLOCK_COLS=8,  # next power of 2 of 6
        )
    )


@pytest.mark.drives(COUNTS, "pad_expert_counts")
def test_counts_of_all_experts_are_padded_by_one_program(load, witness):
    counts = witness.tensor("counts", "int64", (20,))
    returned = load().pad_expert_counts(counts, 128, 4096)
    witness.saw(
        made("padded", "torch.empty", "int32", (20,)),
        launched(
            "_pad_expert_counts_kernel",
            (1,),
            counts_ptr=piece("counts", "int64", (20,)),
            out_ptr=piece("padded", "int32", (20,)),
            num_experts=20,
            all_tokens=4096,
            BLOCK_E=128,
            NE_POW2=32,  # next power of 2 of 20
            num_warps=4,
        ),
    )
    assert witness.of(returned) == piece("padded", "int32", (20,))


@pytest.mark.drives(SLOTS, "translate_padded_hisparse_locations")
@pytest.mark.parametrize(
    ("mapping", "locations", "result"),
    [("int32", "int32", "int32"), ("int32", "int64", "int64"), ("int64", "int32", "int64")],
)
def test_slots_have_the_wider_dtype_of_both(load, witness, mapping, locations, result):
    table = witness.tensor("table", mapping, (1000,))
    strided = witness.tensor("locations", locations, (130,), strides=(4,))
    returned = load().translate_padded_hisparse_locations(table, strided)
    witness.saw(
        made("slots", "torch.empty", result, (130,)),
        launched(
            "_translate_padded_hisparse_locations",
            (2,),  # ceil(130 / 128)
            mapping=piece("table", mapping, (1000,)),
            locations=piece("locations", locations, (130,), strides=(4,)),
            output=piece("slots", result, (130,)),
            count=130,
            stride=4,
            BLOCK=128,
        ),
    )
    assert witness.of(returned) == piece("slots", result, (130,))


@pytest.mark.drives(SLOTS, "translate_padded_hisparse_locations")
def test_no_slots_need_no_launch(load, witness):
    table = witness.tensor("table", "int32", (1000,))
    load().translate_padded_hisparse_locations(table, witness.tensor("none", "int32", (0,)))
    witness.saw(made("slots", "torch.empty", "int32", (0,)))
