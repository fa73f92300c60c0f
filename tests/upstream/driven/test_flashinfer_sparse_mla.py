"""FlashInfer's sparse MLA on sm_120: which scratch of the caller a decode is given."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.upstream.witness import called, piece

PREPARED = "flashinfer/mla/_sparse_mla_sm120/_prepared.py"
API = "flashinfer/mla/_sparse_mla_sm120/_api.py"
PARENT = "flashinfer.mla._sparse_mla_sm120"


@pytest.fixture
def run(load):
    """Run the target with a plan for a split decode of 3 tokens, 16 heads and 4 splits."""
    module = load(real=[f"{PARENT}._api"])
    execute = module.get_sparse_mla_sm120_module().execute_attention

    def call(workspace, **tensors):
        plan = SimpleNamespace(
            workspace=[(None, None, workspace)], scratch_shape=(3, 16, 4, 512), execute=execute
        )
        module._functional_plan = lambda *_: plan
        return module.caller_run(
            *(tensors[name] for name in ("q", "cache", "indices", "output", "lse")),
            0.125,
            1,
            0,
            512,
            *[None] * 5,
            tensors["mid"],
            tensors["mid lse"],
            False,
        )

    return call


def arguments(witness, mid, mid_lse):
    return {
        "q": witness.tensor("q", "bfloat16", (3, 16, 576)),
        "cache": witness.tensor("cache", "uint8", (50, 64, 1, 656)),
        "indices": witness.tensor("indices", "int32", (3, 1, 2048)),
        "output": witness.tensor("output", "bfloat16", (3, 16, 512)),
        "lse": witness.tensor("lse", "float32", (8, 16)),
        "mid": witness.tensor("mid", "bfloat16", mid),
        "mid lse": witness.tensor("mid lse", "float32", mid_lse),
    }


def executed(mid, mid_lse):
    return called(
        f"{PARENT}._execution.get_sparse_mla_sm120_module().execute_attention",
        piece("q", "bfloat16", (3, 16, 576)),
        piece("cache", "uint8", (50, 64, 1, 656)),
        piece("indices", "int32", (3, 2048)),  # without the axis of the one head
        piece("output", "bfloat16", (3, 16, 512)),
        0.125,
        *[None] * 5,
        mid,
        mid_lse,
        piece("lse", "float32", (3, 16)),  # as many rows as there are tokens
        1.0,
    )


@pytest.mark.drives(API, "_decode_scratch_views")
@pytest.mark.drives(PREPARED, "caller_run")
@pytest.mark.parametrize("capacity", [(3, 16, 4, 512), (8, 32, 4, 512)])
def test_scratch_of_the_caller_is_packed_from_its_first_byte(run, witness, capacity):
    tensors = arguments(witness, capacity, capacity[:3])
    run(workspace=1, **tensors)
    # Its own shape, not strides of the larger one: 3 x 16 x 4 x 512 elements in a row.
    mid, mid_lse = (
        piece("mid", "bfloat16", (3, 16, 4, 512)),
        piece("mid lse", "float32", (3, 16, 4)),
    )
    witness.saw(called(f"{PARENT}._execution.get_sparse_mla_sm120_module"), executed(mid, mid_lse))


@pytest.mark.drives(PREPARED, "caller_run")
def test_prefill_gets_its_own_output_where_no_scratch_is_read(run, witness):
    tensors = arguments(witness, (1, 1, 1, 1), (1, 1, 1))
    run(workspace=0, **tensors)
    output = piece("output", "bfloat16", (3, 16, 512))
    # The same bytes as float32: half as many elements in a row.
    words = piece("output", "float32", (3, 16, 256))
    witness.saw(called(f"{PARENT}._execution.get_sparse_mla_sm120_module"), executed(output, words))


@pytest.mark.drives(PREPARED, "caller_run")
@pytest.mark.parametrize(
    ("mid", "mid_lse", "message"),
    [
        (
            (8, 8, 4, 512),
            (8, 16, 4),
            "mid_out shape (8, 8, 4, 512) too small for required "
            "[num_tokens=3, num_heads=16, num_splits=4, d_v=512]",
        ),
        (
            (8, 16, 4, 512),
            (2, 16, 4),
            "mid_lse shape (2, 16, 4) too small for required "
            "[num_tokens=3, num_heads=16, num_splits=4]",
        ),
    ],
    ids=["too few heads", "too few tokens"],
)
def test_scratch_that_is_too_small_is_refused_before_the_launch(
    run, witness, mid, mid_lse, message
):
    with pytest.raises(ValueError) as caught:
        run(workspace=1, **arguments(witness, mid, mid_lse))
    assert str(caught.value) == message
    witness.saw(called(f"{PARENT}._execution.get_sparse_mla_sm120_module"))
