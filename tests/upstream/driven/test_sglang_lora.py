"""SGLang's grouped GEMMs of adapters: shrink into empty memory, expand onto zeros."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.upstream.witness import launched, made, piece

SHRINK = "sglang/kernels/ops/lora/dense/sgemm_lora_a.py"
EXPAND = "sglang/kernels/ops/lora/dense/sgemm_lora_b.py"
FUSED_SHRINK = "sglang/kernels/ops/lora/dense/trtllm_lora_temp/sgemm_lora_a.py"
FUSED_EXPAND = "sglang/kernels/ops/lora/dense/trtllm_lora_temp/sgemm_lora_b.py"


def batch(witness, permuted=False):
    """Three segments of at most 40 tokens, for two adapters."""
    named = {
        name: witness.tensor(name, "int32", (length,))
        for name, length in {
            "seg_lens": 3,
            "seg_indptr": 4,
            "weight_indices": 3,
            "lora_ranks": 2,
        }.items()
    }
    return SimpleNamespace(
        bs=3,
        max_len=40,
        permutation=witness.tensor("permutation", "int32", (70,)) if permuted else None,
        scalings=witness.tensor("scalings", "float32", (2,)),
        **named,
    )


BATCH = {
    "seg_lens": piece("seg_lens", "int32", (3,)),
    "seg_indptr": piece("seg_indptr", "int32", (4,)),
    "weight_indices": piece("weight_indices", "int32", (3,)),
    "lora_ranks": piece("lora_ranks", "int32", (2,)),
    "sorted_token_ids": None,
    "SORTED_BY_ADAPTER": False,
    "BLOCK_S": 16,
}
SHRUNK = {
    **BATCH,
    "x": piece("x", "bfloat16", (70, 4096)),
    "weights": piece("weights", "bfloat16", (2, 48, 4096)),
    "output": piece("out", "bfloat16", (70, 48)),
    "N": 48,
    "K": 4096,
    "stack_num": 3,
    "x_stride_0": 4096,
    "x_stride_1": 1,
    "w_stride_0": 196608,  # 48 x 4096
    "w_stride_1": 4096,
    "w_stride_2": 1,
    "output_stride_0": 48,
    "output_stride_1": 1,
    "BLOCK_N": 16,
    "BLOCK_K": 256,
}
EXPANDED = {
    **BATCH,
    "x": piece("x", "bfloat16", (70, 16)),
    "weights": piece("weights", "bfloat16", (2, 1000, 16)),
    "output": piece("out", "bfloat16", (70, 1000)),
    "N": 1000,
    "K": 16,
    "x_stride_0": 16,
    "x_stride_1": 1,
    "w_stride_0": 16000,  # 1000 x 16
    "w_stride_1": 16,
    "w_stride_2": 1,
    "output_stride_0": 1000,
    "output_stride_1": 1,
    "BLOCK_N": 256,
    "BLOCK_K": 16,
    "scalings": piece("scalings", "float32", (2,)),
}
# 3 tiles of 16 tokens hold 40.
SHRINK_GRID = (9, 3)  # 3 x (48 / 16), segments
EXPAND_GRID = (12, 3)  # 3 x ceil(1000 / 256), segments


def shrink_inputs(witness):
    x = witness.tensor("x", "bfloat16", (70, 4096))
    return x, witness.tensor("weights", "bfloat16", (2, 48, 4096))


def expand_inputs(witness):
    x = witness.tensor("x", "bfloat16", (70, 16))
    return x, witness.tensor("weights", "bfloat16", (2, 1000, 16))


@pytest.mark.drives(SHRINK, "sgemm_lora_a_fwd")
def test_shrink_writes_every_segment_into_empty_memory(load, witness):
    returned = load().sgemm_lora_a_fwd(*shrink_inputs(witness), batch(witness), 3)
    witness.saw(
        made("out", "torch.empty", "bfloat16", (70, 48)),
        launched("_sgemm_lora_a_kernel", SHRINK_GRID, **SHRUNK),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (70, 48))


@pytest.mark.drives(SHRINK, "sgemm_lora_a_fwd")
def test_shrink_of_sorted_tokens_hands_on_their_order(load, witness):
    load().sgemm_lora_a_fwd(*shrink_inputs(witness), batch(witness, permuted=True), 3)
    order = {"sorted_token_ids": piece("permutation", "int32", (70,)), "SORTED_BY_ADAPTER": True}
    witness.saw(
        made("out", "torch.empty", "bfloat16", (70, 48)),
        launched("_sgemm_lora_a_kernel", SHRINK_GRID, **{**SHRUNK, **order}),
    )


@pytest.mark.drives(EXPAND, "sgemm_lora_b_fwd")
def test_expand_without_a_base_adds_onto_zeros(load, witness):
    returned = load().sgemm_lora_b_fwd(*expand_inputs(witness), batch(witness))
    witness.saw(
        made("out", "torch.zeros", "bfloat16", (70, 1000)),
        launched("_sgemm_lora_b_kernel", EXPAND_GRID, **EXPANDED),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (70, 1000))


@pytest.mark.drives(EXPAND, "sgemm_lora_b_fwd")
def test_expand_adds_onto_the_base_in_place(load, witness):
    base = witness.tensor("out", "bfloat16", (70, 1000))
    assert load().sgemm_lora_b_fwd(*expand_inputs(witness), batch(witness), base) is base
    witness.saw(launched("_sgemm_lora_b_kernel", EXPAND_GRID, **EXPANDED))


@pytest.mark.drives(FUSED_SHRINK, "shared_sink_sgemm_lora_a_fwd")
def test_shared_sink_shrink_splits_nothing(load, witness):
    returned = load().shared_sink_sgemm_lora_a_fwd(
        *shrink_inputs(witness), batch(witness), stack_num=3, padded_rank=True
    )
    more = {"SPLIT_K": 1, "ENABLE_PDL": False, "PADDED_RANK": True}
    witness.saw(
        made("out", "torch.empty", "bfloat16", (70, 48)),
        launched("_sgemm_lora_a_kernel", SHRINK_GRID, **SHRUNK, **more),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (70, 48))


def split_settings(enabled):
    off = SimpleNamespace(get=lambda: False)
    return SimpleNamespace(
        SGLANG_OPT_LORA_CUBLAS=off,
        SGLANG_OPT_LORA_CUBLAS_A=off,
        SGLANG_OPT_LORA_CUBLAS_B=off,
        SGLANG_ENABLE_LORA_SHRINK_SPLIT_K=SimpleNamespace(get=lambda: enabled),
    )


@pytest.mark.drives(FUSED_SHRINK, "sgemm_lora_a_fwd")
@pytest.mark.parametrize("split", [False, True])
def test_fused_shrink_adds_onto_zeros_only_when_it_splits(load, witness, split):
    module = load()
    module.lora_envs = split_settings(split)
    module.get_pdl_launch_metadata = lambda: (False, {})
    module.sgemm_lora_a_fwd(*shrink_inputs(witness), batch(witness), 3)
    # 16 tiles of 256 hold 4096; 9 programs leave 188 multiprocessors idle: 16 parts, each added
    # into float32. All 48 ranks are one block of 64.
    dtype, call, parts = ("float32", "torch.zeros", 16) if split else ("bfloat16", "torch.empty", 1)
    changed = {
        "output": piece("out", dtype, (70, 48)),
        "BLOCK_N": 64,
        "SPLIT_K": parts,
        "ENABLE_PDL": False,
        "PADDED_RANK": False,
    }
    options = {"num_warps": 4, "num_stages": 3} if split else {}
    witness.saw(
        made("out", call, dtype, (70, 48)),
        launched("_sgemm_lora_a_kernel", (3 * parts, 3), **{**SHRUNK, **changed, **options}),
    )


FUSED_DEFAULTS = {"APPLY_SCALING": True, "PADDED_RANK": True, "FLAT_GRID": False}


@pytest.mark.drives(FUSED_EXPAND, "shared_sink_sgemm_lora_b_fwd")
def test_shared_sink_expand_loads_and_stores_instead_of_adding_atomically(load, witness):
    load().shared_sink_sgemm_lora_b_fwd(
        *expand_inputs(witness), batch(witness), apply_scaling=False, padded_rank=True
    )
    more = {
        "APPLY_SCALING": False,
        "PADDED_RANK": True,
        "FLAT_GRID": True,
        "ATOMIC_ADD": False,
        "ENABLE_PDL": False,
    }
    witness.saw(
        made("out", "torch.zeros", "bfloat16", (70, 1000)),
        launched("_sgemm_lora_b_kernel", EXPAND_GRID, **EXPANDED, **more),
    )


@pytest.mark.drives(FUSED_EXPAND, "sgemm_lora_b_fwd")
def test_fused_expand_adds_atomically_onto_zeros(load, witness):
    module = load()
    module.lora_envs = split_settings(False)
    module.get_pdl_launch_metadata = lambda: (True, {"launch_pdl": True})
    module.sgemm_lora_b_fwd(*expand_inputs(witness), batch(witness))
    more = {**FUSED_DEFAULTS, "ATOMIC_ADD": True, "ENABLE_PDL": True, "launch_pdl": True}
    witness.saw(
        made("out", "torch.zeros", "bfloat16", (70, 1000)),
        launched("_sgemm_lora_b_kernel", (3, 4, 3), **EXPANDED, **more),
    )
