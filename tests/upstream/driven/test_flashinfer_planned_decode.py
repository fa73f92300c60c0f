"""FlashInfer's decode with a plan: how it is split, what the plan owns, when it is made anew."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.upstream.witness import piece

DECODE = "flashinfer/experimental/deepseek_v41/decode.py"
# The file serves that generation only; its card has 148 multiprocessors.
pytestmark = pytest.mark.sm120(arch="sm_100")


@pytest.fixture
def names():
    return []


@pytest.fixture
def module(load, names):
    """Load the file with the compiler of CUDA 13.2 and no cache on disk."""

    def build(stem, name, compile_kernel, *, extra_key_files):
        names.append(name)
        return compile_kernel()

    parent = "flashinfer.experimental.deepseek_v41"
    return load(
        real=[
            f"{parent}._utils",
        ],
        provide={
            "flashinfer.jit.cute_dsl_core.build_and_load_cute_dsl_kernel": build,
            "cutlass.CUDA_VERSION": SimpleNamespace(major=13, minor=2),
        },
    )


def arguments(witness, batch, selected):
    """Return the inputs; ``selected`` pages of the compressed cache for each request, or 0."""
    return (
        witness.tensor("q", "bfloat16", (batch, 1, 64, 512)),
        witness.tensor("window", "uint8", (20, 64, 1, 528)),
        witness.tensor("global", "uint8", (30, 64, 1, 288)) if selected else None,
        witness.tensor("window ids", "int32", (batch, 1, 128)),
        witness.tensor("global ids", "int32", (batch, 1, selected)) if selected else None,
        witness.tensor("sink", "float32", (64,)),
    )


def owned(batch, length, workspace_bytes):
    """Return call, dtype, shape and fill of what a plan owns, by its field of the plan.

    A split needs a workspace; lengths and windows are constants.
    """
    workspace = {"workspace": ("torch.empty", "int8", (workspace_bytes,), None)}
    return {
        **(workspace if workspace_bytes else {}),
        "out": ("torch.empty_like", "bfloat16", (batch, 1, 64, 512), None),
        "lse": ("torch.empty", "float32", (batch, 64, 1), None),
        "lengths": ("torch.full", "int32", (batch,), length),
        "window_valid": ("torch.full", "int32", (batch,), 128),
        "empty_cache": ("torch.empty", "uint8", (1, 64, 1, 288), None),
        "empty_indices": ("torch.full", "int32", (batch, 1, 64), -1),
    }


def launched_with(batch, selected, workspace_bytes):
    """Return the tensors of a launch by position."""
    cache, ids = piece("empty_cache", "uint8", (1, 18432)), ("empty_indices", "int32", (batch, 64))
    if selected:
        cache = piece("global", "uint8", (30, 18432))  # pages of 64 x 288 bytes
        ids = ("global ids", "int32", (batch, selected))
    workspace = piece("workspace", "int8", (workspace_bytes,)) if workspace_bytes else None
    lengths = piece("lengths", "int32", (batch,))
    return {
        0: piece("q", "bfloat16", (batch, 1, 64, 512)),
        1: piece("window", "uint8", (20, 33792)),  # 64 x 528
        2: cache,
        3: piece("window ids", "int32", (batch, 128)),
        4: piece(*ids),
        5: piece("out", "bfloat16", (batch, 1, 64, 512)),
        6: piece("lse", "float32", (batch, 1, 64)),
        7: workspace,
        9: lengths,
        10: None,
        11: lengths,
        12: piece("window_valid", "int32", (batch,)),
        15: piece("sink", "float32", (64,)),
    }


@pytest.mark.drives(DECODE, "decode")
@pytest.mark.parametrize(
    ("batch", "selected", "workspace", "name"),
    [
        # 128 tokens are 2 chunks of 64, though a small batch asks for 10 splits;
        # 4 x 64 heads x 2 splits x 513 floats.
        (4, 0, 1050624, "c0_split1_dq8_phase8_i64_nativefp41_ws0_ctas0_sm148_meta160"),
        # 640 tokens are 10 chunks; 3 x 64 x 10 x 513 floats.
        (3, 512, 3939840, "c512_split1_dq8_phase8_i64_nativefp41_ws0_ctas0_sm148_meta160"),
        # Half way: offsets of 32 bits; 64 x 64 x 2 x 513 floats.
        (64, 512, 16809984, "c512_split1_dq8_phase2_i32_nativefp41_ws0_ctas0_sm148_meta160"),
        # One wave is not made persistent.
        (148, 512, 0, "c512_split0_dq16_phase2_i64_nativefp41_ws1_ctas0_sm148_meta160"),
        # Two waves of 100 blocks, not one of 148 and one of 52.
        (200, 512, 0, "c512_split0_dq16_phase2_i64_nativefp41_ws1_ctas100_sm148_meta161"),
    ],
)
def test_plan_owns_what_its_split_needs_and_is_compiled_for_it(
    module, names, sm120, witness, batch, selected, workspace, name
):
    given = arguments(witness, batch, selected)
    out, lse, plan = module.decode(*given)
    assert module.decode(*given, plan=plan) == (out, lse, plan)
    fields = owned(batch, 128 + selected, workspace)
    for field in fields:
        witness.knows(field, getattr(plan, field))
    # Nothing more for the second call.
    allocated = sm120.recording.allocations()
    assert [(each.call, each.dtype, each.shape, each.fill) for each in allocated] == list(
        fields.values()
    )
    assert names == [f"h64_s1_{name}"]
    launches = sm120.recording.calls("cutlass.cute.compile()")
    assert len(launches) == 2 and out is plan.out and lse is plan.lse
    for launch in launches:
        told = witness.of(launch.args)
        expected = launched_with(batch, selected, workspace)
        assert {place: told[place] for place in expected} == expected
    assert [call.args for call in sm120.recording.calls("cutlass.Int32")][1:] == [(plan.split,)] * 2


@pytest.mark.drives(DECODE, "decode")
def test_plan_of_another_shape_is_refused_before_anything_is_allocated(module, sm120, witness):
    _, _, plan = module.decode(*arguments(witness, 4, 0))
    before = len(sm120.recording.records())
    with pytest.raises(ValueError) as caught:
        module.decode(*arguments(witness, 5, 0), plan=plan)
    assert str(caught.value) == "decode plan declaration mismatch"
    assert len(sm120.recording.records()) == before


@pytest.mark.drives(DECODE, "decode")
def test_capture_without_a_plan_is_refused_and_with_one_allocates_nothing(module, sm120, witness):
    given = arguments(witness, 4, 0)
    _, _, plan = module.decode(*given)
    before = len(sm120.recording.allocations())
    with sm120.session.capture():
        with pytest.raises(ValueError) as caught:
            module.decode(*given)
        module.decode(*given, plan=plan)
    assert str(caught.value) == "prepare a decode plan before CUDA Graph capture"
    assert len(sm120.recording.allocations()) == before
    assert [call.capturing for call in sm120.recording.calls("cutlass.cute.compile()")] == [
        False,
        True,
    ]
