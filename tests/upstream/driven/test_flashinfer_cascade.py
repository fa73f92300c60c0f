"""FlashInfer's Triton kernels that merge attention states, which it keeps to one generation."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

CASCADE = "flashinfer/triton/cascade.py"


@pytest.fixture
def cascade(load):
    """Load the file with its kernels and checks; they refuse all but capability 9."""
    return load(
        real=["flashinfer.triton.kernels.cascade", "flashinfer.triton.utils"],
        provide={"flashinfer.utils.get_compute_capability": lambda device: (9, 0)},
    )


@pytest.mark.drives(CASCADE, "merge_state")
def test_two_states_are_merged_into_scales_that_start_on_the_host(cascade, witness):
    v_a, v_b = (witness.tensor(name, "bfloat16", (5, 4, 64)) for name in ("v a", "v b"))
    s_a = witness.tensor("s a", "float32", (5, 4))
    s_b = witness.tensor("s b", "float16", (5, 4))
    returned = cascade.merge_state(v_a, s_a, v_b, s_b)
    merged = piece("v", "bfloat16", (5, 4, 64)), piece("s", "float32", (5, 4))
    witness.saw(
        made("s b wide", "Tensor.to", "float32", (5, 4)),  # only the one that is not float32
        made("v", "torch.empty_like", "bfloat16", (5, 4, 64)),
        made("s on host", "torch.empty", "float32", (5, 4), device="cpu"),
        made("s", "Tensor.to", "float32", (5, 4)),
        launched(
            "merge_state_kernel",
            (5,),
            v_a_ptr=piece("v a", "bfloat16", (5, 4, 64)),
            s_a_ptr=piece("s a", "float32", (5, 4)),
            v_b_ptr=piece("v b", "bfloat16", (5, 4, 64)),
            s_b_ptr=piece("s b wide", "float32", (5, 4)),
            v_merged_ptr=merged[0],
            s_merged_ptr=merged[1],
            num_heads=4,
            head_dim=64,
            bdx=64,
            bdy=4,
        ),
    )
    assert witness.of(returned) == merged


@pytest.mark.drives(CASCADE, "merge_state_in_place")
@pytest.mark.parametrize("masked", [False, True])
def test_state_is_merged_in_place_without_an_allocation(cascade, witness, masked):
    v, other = (witness.tensor(name, "float16", (6, 8, 128)) for name in ("v", "other v"))
    s, other_s = (witness.tensor(name, "float32", (6, 8)) for name in ("s", "other s"))
    mask = witness.tensor("mask", "uint8", (6,)) if masked else None
    assert cascade.merge_state_in_place(v, s, other, other_s, mask) is None
    witness.saw(
        launched(
            "merge_state_in_place_kernel",
            (6,),
            v_ptr=piece("v", "float16", (6, 8, 128)),
            s_ptr=piece("s", "float32", (6, 8)),
            v_other_ptr=piece("other v", "float16", (6, 8, 128)),
            s_other_ptr=piece("other s", "float32", (6, 8)),
            num_heads=8,
            head_dim=128,
            mask_ptr=piece("mask", "uint8", (6,)) if masked else None,
            bdx=128,
            bdy=8,
        )
    )


@pytest.mark.drives(CASCADE, "merge_states")
def test_states_of_one_token_are_merged_over_the_second_axis(cascade, witness):
    v = witness.tensor("v", "bfloat16", (7, 3, 2, 128))
    s = witness.tensor("s", "float32", (7, 3, 2))
    returned = cascade.merge_states(v, s)
    merged = piece("merged", "bfloat16", (7, 2, 128)), piece("merged s", "float32", (7, 2))
    witness.saw(
        made("merged", "torch.empty", "bfloat16", (7, 2, 128)),
        made("merged s", "torch.empty", "float32", (7, 2)),
        launched(
            "merge_states_kernel",
            (7,),
            v_ptr=piece("v", "bfloat16", (7, 3, 2, 128)),
            s_ptr=piece("s", "float32", (7, 3, 2)),
            v_merged_ptr=merged[0],
            s_merged_ptr=merged[1],
            num_index_sets=3,
            num_heads=2,
            head_dim=128,
            bdx=128,
            bdy=2,
        ),
    )
    assert witness.of(returned) == merged


@pytest.mark.drives(CASCADE, "variable_length_merge_states")
def test_ragged_states_are_merged_with_offsets_of_32_bits(cascade, witness):
    v = witness.tensor("v", "bfloat16", (20, 2, 64))
    s = witness.tensor("s", "float16", (20, 2))
    indptr = witness.tensor("indptr", "int64", (4,))
    returned = cascade.variable_length_merge_states(v, s, indptr)
    # Three requests, since there are four offsets.
    merged = piece("merged", "bfloat16", (3, 2, 64)), piece("merged s", "float32", (3, 2))
    witness.saw(
        made("wide s", "Tensor.to", "float32", (20, 2)),
        made("narrow", "Tensor.to", "int32", (4,)),
        made("merged", "torch.empty", "bfloat16", (3, 2, 64)),
        made("merged s", "torch.empty", "float32", (3, 2)),
        launched(
            "variable_length_merge_states_kernel",
            (3,),
            v_ptr=piece("v", "bfloat16", (20, 2, 64)),
            s_ptr=piece("wide s", "float32", (20, 2)),
            indptr=piece("narrow", "int32", (4,)),
            v_merged_ptr=merged[0],
            s_merged_ptr=merged[1],
            num_heads=2,
            head_dim=64,
            bdx=64,
            bdy=2,
        ),
    )
    assert witness.of(returned) == merged
