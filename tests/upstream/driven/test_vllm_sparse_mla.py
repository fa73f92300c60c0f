"""vLLM's index arithmetic for sparse MLA: which slots of the cache a query gathers."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

SPARSE = "vllm/v1/attention/backends/mla/sparse_utils.py"
CACHE = "vllm/models/deepseek_v41/common/ops/cache_utils.py"
METADATA = "vllm/v1/attention/ops/metadata.py"
LAUNCHERS = [
    "vllm.model_executor.warmup.jit_warmup",
    "vllm.model_executor.warmup.jit_warmup_triton_helper",
]


@pytest.mark.drives(SPARSE, "prepare_sparse_mla_safe_lengths")
@pytest.mark.parametrize(("tokens", "blocks"), [(256, 1), (257, 2)])
def test_safe_lengths_launch_a_program_for_256_tokens(load, witness, tokens, blocks):
    indices = witness.tensor("indices", "int32", (tokens, 2048))
    counts = witness.tensor("counts", "int32", (tokens,), strides=(2,))
    returned = load().prepare_sparse_mla_safe_lengths(indices, counts)
    witness.saw(
        made("lengths", "torch.empty", "int32", (tokens,)),
        launched(
            "sparse_mla_prepare_safe_lengths_kernel",
            (blocks,),
            indices_ptr=piece("indices", "int32", (tokens, 2048)),
            counts_ptr=piece("counts", "int32", (tokens,), (2,)),
            safe_lengths_ptr=piece("lengths", "int32", (tokens,)),
            num_tokens=tokens,
            index_stride0=2048,
            count_stride=2,
            BLOCK=256,
        ),
    )
    assert witness.of(returned) == piece("lengths", "int32", (tokens,))


def remap(grid, width, *, block_n, counts, warps, dcp=(1, 0, 1), compact=True, stride_rows=64):
    single = counts is not None and warps == 8
    return launched(
        "sparse_mla_index_remap_kernel",
        grid,
        req_id_ptr=piece("requests", "int32", (5,)),
        block_table_ptr=piece("table", "int32", (3, 40)),
        token_indices_ptr=piece("indices", "int32", (5, width)),
        out_ptr=piece("out", "int32", (5, width)),
        valid_count_ptr=counts,
        idx_mapping_ptr=None,
        prefill_request_id_ptr=None,
        workspace_starts_ptr=None,
        workspace_rank_stride=0,
        max_num_blocks_per_req=40,
        BLOCK_SIZE=64,
        BLOCK_STRIDE_ROWS=stride_rows,
        BLOCK_N=block_n,
        NUM_TOPK_TOKENS=width,
        HAS_PREFILL=False,
        HAS_IDX_MAPPING=False,
        COUNT_VALID=counts is not None,
        SINGLE_TILE=single,
        COMPACT_TO_FRONT=compact,
        DCP_SIZE=dcp[0],
        DCP_RANK=dcp[1],
        DCP_INTERLEAVE=dcp[2],
        bt_stride0=40,
        bt_stride1=1,
        ti_stride0=width,
        ti_stride1=1,
        out_stride0=width,
        out_stride1=1,
        num_warps=warps,
    )


@pytest.fixture
def batch(witness):
    def make(width):
        return (
            witness.tensor("requests", "int32", (5,)),
            witness.tensor("table", "int32", (3, 40)),
            witness.tensor("indices", "int32", (5, width)),
        )

    return make


@pytest.mark.drives(SPARSE, "triton_convert_req_index_to_global_index")
def test_remap_without_counts_covers_a_row_with_tiles_of_128(load, witness, batch):
    returned = load(real=LAUNCHERS).triton_convert_req_index_to_global_index(*batch(2048))
    witness.saw(
        made("out", "torch.empty_like", "int32", (5, 2048)),
        remap((5, 16), 2048, block_n=128, counts=None, warps=4, compact=False),
    )
    assert witness.of(returned) == piece("out", "int32", (5, 2048))


@pytest.mark.drives(SPARSE, "triton_convert_req_index_to_global_index")
@pytest.mark.parametrize(("width", "tile"), [(2048, 2048), (2176, 4096)])
def test_counting_remap_gives_a_row_to_one_program_and_needs_no_zeros(
    load, witness, batch, width, tile
):
    module = load(real=LAUNCHERS)
    returned = module.triton_convert_req_index_to_global_index(
        *batch(width), NUM_TOPK_TOKENS=width, BLOCK_STRIDE_ROWS=192, return_valid_counts=True
    )
    counts = piece("counts", "int32", (5,))
    witness.saw(
        made("out", "torch.empty_like", "int32", (5, width)),
        made("counts", "torch.empty", "int32", (5,)),
        remap((5, 1), width, block_n=tile, counts=counts, warps=8, stride_rows=192),
    )
    assert witness.of(returned) == (piece("out", "int32", (5, width)), counts)


@pytest.mark.drives(SPARSE, "triton_convert_req_index_to_global_index")
def test_counting_remap_of_a_wide_row_starts_from_minus_one_and_zero(load, witness, batch):
    module = load(real=LAUNCHERS)
    # 4224 pads to 8192, which is more than one program is given.
    module.triton_convert_req_index_to_global_index(
        *batch(4224), NUM_TOPK_TOKENS=4224, return_valid_counts=True
    )
    counts = piece("counts", "int32", (5,))
    witness.saw(
        made("out", "torch.full_like", "int32", (5, 4224), fill=-1),
        made("counts", "torch.zeros", "int32", (5,)),
        remap((5, 33), 4224, block_n=128, counts=counts, warps=4),
    )


@pytest.mark.drives(SPARSE, "triton_filter_and_convert_dcp_index")
def test_dcp_filter_binds_its_rank_and_counts_even_when_nobody_asked(load, witness, batch):
    module = load(real=LAUNCHERS)
    returned = module.triton_filter_and_convert_dcp_index(
        *batch(2048), dcp_size=4, dcp_rank=3, cp_kv_cache_interleave_size=16
    )
    counts = piece("counts", "int32", (5,))
    witness.saw(
        made("out", "torch.empty_like", "int32", (5, 2048)),
        made("counts", "torch.empty", "int32", (5,)),
        remap((5, 1), 2048, block_n=2048, counts=counts, warps=8, dcp=(4, 3, 16)),
    )
    assert witness.of(returned) == piece("out", "int32", (5, 2048))


@pytest.mark.drives(CACHE, "compute_global_topk_indices_and_lens")
def test_global_topk_gathers_blocks_with_no_bound_of_the_table_in_its_arguments(load, witness):
    indices = witness.tensor("indices", "int32", (6, 512), strides=(640, 1))
    requests = witness.tensor("requests", "int32", (6,))
    table = witness.tensor("table", "int32", (2, 48))
    valid = witness.tensor("valid", "bool", (6,))
    returned = load().compute_global_topk_indices_and_lens(indices, requests, table, 64, valid)
    witness.saw(
        # The padded rows do not make a dense tensor, so the copy's rows are dense.
        made("slots", "torch.empty_like", "int32", (6, 512)),
        made("lengths", "torch.empty", "int32", (6,)),
        launched(
            "_compute_global_topk_indices_and_lens_kernel",
            (6,),
            global_topk_indices_ptr=piece("slots", "int32", (6, 512)),
            global_topk_indices_stride=512,
            topk_lens_ptr=piece("lengths", "int32", (6,)),
            topk_indices_ptr=piece("indices", "int32", (6, 512), (640, 1)),
            topk_indices_stride=640,
            topk=512,
            token_to_req_indices_ptr=piece("requests", "int32", (6,)),
            block_table_ptr=piece("table", "int32", (2, 48)),
            block_table_stride=48,
            block_size=64,
            is_valid_token_ptr=piece("valid", "bool", (6,)),
            TRITON_BLOCK_SIZE=1024,
        ),
    )
    assert witness.of(returned) == (
        piece("slots", "int32", (6, 512)),
        piece("lengths", "int32", (6,)),
    )


@pytest.mark.drives(METADATA, "compute_token_to_req_indices")
def test_token_to_request_map_is_a_view_of_the_callers_buffer(load, witness):
    starts = witness.tensor("starts", "int32", (5,))
    out = witness.tensor("out", "int32", (4096,))
    returned = load().compute_token_to_req_indices(starts, out, 290, 300)
    witness.saw(
        launched(
            "_token_request_mapping_kernel",
            (2,),  # 256 tokens a program
            query_start_loc=piece("starts", "int32", (5,)),
            output=piece("out", "int32", (4096,)),
            num_reqs=4,
            num_mapped=290,
            num_tokens=300,
            num_warps=4,
        )
    )
    assert witness.of(returned) == piece("out", "int32", (300,))
