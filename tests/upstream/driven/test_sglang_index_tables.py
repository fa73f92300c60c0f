"""SGLang's rewriting of top-k positions into slots of the KV pool."""

from __future__ import annotations

import pytest

from tests.upstream.witness import filled, launched, made, piece

INDEX = "sglang/kernels/ops/attention/dsa/transform_index.py"


@pytest.mark.drives(INDEX, "transform_index_page_table_decode")
def test_decode_of_2048_positions_takes_one_program_per_row(load, witness):
    table = witness.tensor("table", "int32", (3, 4096), strides=(5000, 1))
    topk = witness.tensor("topk", "int64", (3, 2048))
    returned = load().transform_index_page_table_decode(table, topk)
    witness.saw(
        made("slots", "torch.empty_like", "int32", (3, 2048)),  # int32 whatever the positions are
        launched(
            "transform_index_page_table_decode_kernel",
            (3,),
            page_table_ptr=piece("table", "int32", (3, 4096), strides=(5000, 1)),
            topk_indices_ptr=piece("topk", "int64", (3, 2048)),
            result_ptr=piece("slots", "int32", (3, 2048)),
            page_size=1,
            page_table_row_stride=5000,
        ),
    )
    assert witness.of(returned) == piece("slots", "int32", (3, 2048))


@pytest.mark.drives(INDEX, "transform_index_page_table_decode")
def test_decode_of_another_width_is_tiled_by_256(load, witness):
    table = witness.tensor("table", "int32", (3, 4096))
    topk = witness.tensor("topk", "int32", (3, 2051), strides=(2056, 1))
    kept = witness.tensor("kept", "int32", (3, 2051))
    returned = load().transform_index_page_table_decode(table, topk, kept)
    witness.saw(
        launched(
            "transform_index_page_table_decode_tiled_kernel",
            (3, 9),  # 8 tiles hold 2048, the 9th the last 3
            page_table_ptr=piece("table", "int32", (3, 4096)),
            topk_indices_ptr=piece("topk", "int32", (3, 2051), strides=(2056, 1)),
            result_ptr=piece("kept", "int32", (3, 2051)),
            page_table_row_stride=4096,
            topk_indices_stride_0=2056,
            topk_indices_stride_1=1,
            result_stride_0=2051,
            result_stride_1=1,
            TOPK=2051,
            BLOCK_TOPK=256,
            num_warps=4,
        )
    )
    assert returned is kept


@pytest.mark.drives(INDEX, "transform_index_page_table_prefill")
def test_prefill_marks_padding_rows_before_the_launch(load, witness):
    table = witness.tensor("table", "int32", (2, 4096))
    topk = witness.tensor("topk", "int32", (7, 512))
    returned = load().transform_index_page_table_prefill(table, topk, [5, 1], output_num_tokens=8)
    witness.saw(
        made("slots", "torch.empty", "int32", (8, 512)),
        # 6 of 8 rows are real; a row is 512 x 4 bytes.
        filled("fill_", piece("slots", "int32", (2, 512), first_byte=12288), -1),
        made("starts", "torch.tensor", "int32", (3,)),
        launched(
            "transform_index_page_table_prefill_kernel",
            (2, 2, 2),  # requests, ceil(5 / 4), 512 / 256
            page_table_ptr=piece("table", "int32", (2, 4096)),
            topk_indices_ptr=piece("topk", "int32", (7, 512)),
            cu_seqlens_q_ptr=piece("starts", "int32", (3,)),
            result_ptr=piece("slots", "int32", (8, 512)),
            page_table_stride_0=4096,
            page_table_stride_1=1,
            topk_indices_stride_0=512,
            topk_indices_stride_1=1,
            result_stride_0=512,
            result_stride_1=1,
            PAGE_TABLE_IS_EXPANDED=False,
            TOPK=512,
            BLOCK_Q=4,  # for extensions of more than 2
            BLOCK_TOPK=256,
            num_warps=4,
        ),
    )
    assert witness.of(returned) == piece("slots", "int32", (8, 512))


@pytest.mark.drives(INDEX, "transform_index_page_table_dcp")
def test_context_parallel_table_is_packed_row_by_row(load, witness):
    table = witness.tensor("table", "int32", (3, 1000))
    returned = load().transform_index_page_table_dcp(table, 4, 1)
    witness.saw(
        made("packed", "torch.empty_like", "int32", (3, 1000)),
        made("counts", "torch.empty", "int32", (3,)),
        launched(
            "transform_index_page_table_dcp_kernel",
            (3,),
            page_table_ptr=piece("table", "int32", (3, 1000)),
            result_ptr=piece("packed", "int32", (3, 1000)),
            counts_ptr=piece("counts", "int32", (3,)),
            row_stride=1000,
            DCP_SIZE=4,
            DCP_RANK=1,
            TOPK=1000,
            BLOCK_TOPK=1024,  # next power of 2
            num_warps=4,
        ),
    )
    assert witness.of(returned) == (
        piece("packed", "int32", (3, 1000)),
        piece("counts", "int32", (3,)),
    )


@pytest.mark.drives(INDEX, "transform_index_page_table_dcp")
def test_context_parallel_table_without_rows_only_zeroes_the_counts(load, witness):
    load().transform_index_page_table_dcp(witness.tensor("table", "int32", (3, 0)), 4, 1)
    witness.saw(
        made("packed", "torch.empty_like", "int32", (3, 0)),
        made("counts", "torch.empty", "int32", (3,)),
        filled("zero_", piece("counts", "int32", (3,)), 0),
    )


@pytest.mark.drives(INDEX, "prepare_trtllm_nope_sparse_metadata")
def test_sparse_metadata_counts_each_row(load, witness):
    returned = load().prepare_trtllm_nope_sparse_metadata(
        witness.tensor("table", "int32", (5, 600))
    )
    witness.saw(
        made("lens", "torch.empty", "int32", (5,)),
        launched(
            "prepare_trtllm_nope_sparse_metadata_kernel",
            (5,),
            page_table_ptr=piece("table", "int32", (5, 600)),
            topk_lens_ptr=piece("lens", "int32", (5,)),
            row_stride=600,
            TOPK=600,
            BLOCK_TOPK=1024,  # next power of 2
            num_warps=8,
        ),
    )
    assert witness.of(returned) == piece("lens", "int32", (5,))
