"""FlashInfer's Triton kernels that pack heads and tokens for an exchange between ranks."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, piece

ULYSSES = "flashinfer/triton/ulysses.py"


@pytest.mark.drives(ULYSSES, "_pack_ulysses_qkv_head_chunk")
def test_heads_are_packed_with_every_stride_of_query_key_and_value(load, witness):
    module = load()
    # The three are slices of one fused projection: 3 x 8 heads of 64 in each token.
    strides = (7680, 1536, 64, 1)
    query = witness.tensor("query", "bfloat16", (2, 5, 8, 64), strides)
    key = witness.tensor("key", "bfloat16", (2, 5, 8, 64))
    value = witness.tensor("value", "bfloat16", (2, 5, 8, 64), strides)
    output = witness.tensor("output", "bfloat16", (4, 2, 5, 1, 192))
    module._pack_ulysses_qkv_head_chunk(
        output,
        query,
        key,
        value,
        world_size=4,
        local_heads=2,
        head_offset=1,
        head_count=1,
        nccl_layout=True,
    )
    witness.saw(
        launched(
            "_pack_ulysses_qkv_head_chunk_kernel",
            (10,),  # 2 x 5 x 4 x 1 x 64 = 2560 elements, 256 in a block
            output=piece("output", "bfloat16", (4, 2, 5, 1, 192)),
            query=piece("query", "bfloat16", (2, 5, 8, 64), strides),
            key=piece("key", "bfloat16", (2, 5, 8, 64)),
            value=piece("value", "bfloat16", (2, 5, 8, 64), strides),
            total=2560,
            batch=2,
            seq_len=5,
            world_size=4,
            local_heads=2,
            chunk_heads=1,
            head_offset=1,
            head_dim=64,
            q_batch_stride=7680,
            q_seq_stride=1536,
            q_head_stride=64,
            q_dim_stride=1,
            k_batch_stride=2560,
            k_seq_stride=512,
            k_head_stride=64,
            k_dim_stride=1,
            v_batch_stride=7680,
            v_seq_stride=1536,
            v_head_stride=64,
            v_dim_stride=1,
            nccl_layout=True,
            BLOCK=256,
        )
    )


@pytest.mark.drives(ULYSSES, "_pack_ulysses_output_sequence_chunk")
def test_tokens_are_split_evenly_among_the_ranks(load, witness):
    module = load()
    source = witness.tensor("source", "float16", (1, 12, 3, 80))
    output = witness.tensor("output", "float16", (4, 1, 3, 3, 80))
    module._pack_ulysses_output_sequence_chunk(output, source, world_size=4)
    witness.saw(
        launched(
            "_pack_ulysses_output_sequence_chunk_kernel",
            (12,),  # 12 x 3 x 80 = 2880 elements are 11.25 blocks of 256
            output=piece("output", "float16", (4, 1, 3, 3, 80)),
            source=piece("source", "float16", (1, 12, 3, 80)),
            total=2880,
            batch=1,
            local_seq=3,
            world_size=4,
            chunk_heads=3,
            head_dim=80,
            source_batch_stride=2880,
            source_seq_stride=240,
            source_head_stride=80,
            source_dim_stride=1,
            BLOCK=256,
        )
    )


@pytest.mark.drives(ULYSSES, "_merge_ulysses_output_head_chunk")
def test_received_heads_are_merged_into_a_padded_output(load, witness):
    module = load()
    received = witness.tensor("received", "bfloat16", (2, 1, 7, 2, 128))
    out_strides = (8960, 1280, 128, 1)
    output = witness.tensor("output", "bfloat16", (1, 7, 8, 128), out_strides)
    module._merge_ulysses_output_head_chunk(
        received, output, world_size=2, local_heads=4, head_offset=2
    )
    witness.saw(
        launched(
            "_merge_ulysses_output_head_chunk_kernel",
            (14,),  # 2 x 7 x 2 x 128 = 3584 elements
            received=piece("received", "bfloat16", (2, 1, 7, 2, 128)),
            output=piece("output", "bfloat16", (1, 7, 8, 128), out_strides),
            total=3584,
            batch=1,
            local_seq=7,
            world_size=2,
            local_heads=4,
            chunk_heads=2,
            head_offset=2,
            head_dim=128,
            recv_rank_stride=1792,
            recv_batch_stride=1792,
            recv_seq_stride=256,
            recv_head_stride=128,
            recv_dim_stride=1,
            out_batch_stride=8960,
            out_seq_stride=1280,
            out_head_stride=128,
            out_dim_stride=1,
            BLOCK=256,
        )
    )
