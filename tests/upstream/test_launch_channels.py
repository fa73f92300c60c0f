"""A launch behind a wrapper that is not loaded, and what a real kernel is seen to write.

The other ways in which host code launches are driven in ``tests/upstream/driven``; the table in
docs/launches.md says where.
"""

from __future__ import annotations

import pytest

from tests.upstream.witness import piece

SPARSE = "vllm/v1/attention/backends/mla/sparse_utils.py"
TOPK_TOPP = "vllm/v1/sample/ops/topk_topp_triton.py"
LAUNCHERS = [
    "vllm.model_executor.warmup.jit_warmup",
    "vllm.model_executor.warmup.jit_warmup_triton_helper",
]


@pytest.fixture
def batch(witness):
    return (
        witness.tensor("requests", "int32", (5,)),
        witness.tensor("table", "int32", (3, 40)),
        witness.tensor("indices", "int32", (5, 2176)),
    )


@pytest.mark.drives(SPARSE, "triton_convert_req_index_to_global_index")
def test_class_over_a_wrapper_that_is_not_there_tells_its_kernel_grid_and_arguments(
    load, witness, batch, sm120
):
    witness.knows(
        "out", load().triton_convert_req_index_to_global_index(*batch, NUM_TOPK_TOKENS=2176)
    )
    [call] = sm120.recording.calls("sparse_mla_index_remap_kernel")
    assert call.name == f"{SPARSE[:-3].replace('/', '.')}.ConvertReqIndexToGlobalIndexKernel"
    assert witness.of(dict(call.bound)) == {
        "req_id": piece("requests", "int32", (5,)),
        "block_table": piece("table", "int32", (3, 40)),
        "token_indices": piece("indices", "int32", (5, 2176)),
        "out": piece("out", "int32", (5, 2176)),
        "valid_counts": None,
        "prefill_workspace_request_ids": None,
        "prefill_workspace_starts": None,
        "idx_mapping": None,
        "workspace_rank_stride": 0,
        "max_num_blocks_per_req": 40,
        "BLOCK_SIZE": 64,
        "BLOCK_STRIDE_ROWS": 64,
        "BLOCK_N": 128,
        "NUM_TOPK_TOKENS": 2176,
        "HAS_PREFILL_WORKSPACE": False,
        "HAS_IDX_MAPPING": False,
        "COUNT_VALID": False,
        "COMPACT_TO_FRONT": False,
        "DCP_SIZE": 1,
        "DCP_RANK": 0,
        "DCP_INTERLEAVE": 1,
    }
    grid, added = call.returned
    assert grid == (5, 17)  # 2176 / 128 tiles
    assert (added["ti_stride0"], added["bt_stride0"], added["num_warps"]) == (2176, 40, 4)
    assert sm120.recording.launches() == []


@pytest.mark.drives(TOPK_TOPP, "_topk_topp")
def test_function_under_a_dispatcher_that_is_not_there_tells_its_kernel_and_its_answer(
    load, witness, sm120
):
    logits = witness.tensor("logits", "float32", (3, 1000))
    tables = [witness.tensor(name, "float32", (200,)) for name in ("buffer", "std", "sigma")]
    k = witness.tensor("k", "int32", (3,))
    load()._topk_topp(logits, *tables, k, None, float("-inf"), 188)
    [call] = sm120.recording.calls("_topk_topp_kernel")
    assert call.name == "vllm.v1.sample.ops.topk_topp_triton._topk_topp"
    assert (witness.of(call.bound["k"]), call.bound["num_sm"]) == (piece("k", "int32", (3,)), 188)
    grid, added = witness.of(call.returned)
    assert grid == (3,)
    assert added["P"] == piece("logits", "float32", (3, 1000))  # stands for what is not given
    assert (added["VOCAB_SIZE"], added["TOPK_ENABLED"], added["TOPP_ENABLED"]) == (
        1000,
        True,
        False,
    )


@pytest.mark.drives(SPARSE, "triton_convert_req_index_to_global_index")
def test_kernel_is_seen_to_write_its_output_and_to_add_to_its_counts(load, batch, sm120):
    module = load(real=LAUNCHERS)
    module.triton_convert_req_index_to_global_index(
        *batch, NUM_TOPK_TOKENS=2176, return_valid_counts=True
    )
    [launch] = sm120.recording.launches()
    assert launch.written == ("out_ptr", "valid_count_ptr")
    assert launch.accumulated == ("valid_count_ptr",)
