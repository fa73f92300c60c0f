"""FlashInfer's public operators: what they convert, allocate and hand to a compiled module."""

from __future__ import annotations

import pytest

from tests.upstream.witness import built, called, made, piece

CASCADE = "flashinfer/cascade.py"
ACTIVATION = "flashinfer/activation.py"
SAMPLING = "flashinfer/sampling.py"
TOP_K = "flashinfer/topk.py"
PAGE = "flashinfer/page.py"
UTILS = ["flashinfer.utils"]


@pytest.mark.drives(CASCADE, "merge_state")
def test_merged_state_has_scales_of_32_bits(load, witness):
    v_a, v_b = (witness.tensor(name, "float16", (5, 4, 64)) for name in ("v a", "v b"))
    s_a = witness.tensor("s a", "float16", (5, 4))
    s_b = witness.tensor("s b", "float32", (5, 4))
    returned = load().merge_state(v_a, s_a, v_b, s_b)
    module, build = built("flashinfer.jit.cascade.gen_cascade_module")
    merged = piece("v", "float16", (5, 4, 64)), piece("s", "float32", (5, 4))
    witness.saw(
        made("wide s a", "Tensor.to", "float32", (5, 4)),
        made("v", "torch.empty_like", "float16", (5, 4, 64)),
        made("s", "torch.empty_like", "float32", (5, 4)),
        *build,
        called(
            f"{module}.merge_state",
            piece("v a", "float16", (5, 4, 64)),
            piece("wide s a", "float32", (5, 4)),
            piece("v b", "float16", (5, 4, 64)),
            piece("s b", "float32", (5, 4)),
            *merged,
        ),
    )
    assert witness.of(returned) == merged


@pytest.mark.drives(CASCADE, "merge_state_in_place")
def test_scales_of_16_bits_are_merged_into_a_copy_that_nobody_gets(load, witness):
    v, other = (witness.tensor(name, "float16", (6, 8, 128)) for name in ("v", "other v"))
    s, other_s = (witness.tensor(name, "float16", (6, 8)) for name in ("s", "other s"))
    assert load().merge_state_in_place(v, s, other, other_s) is None
    module, build = built("flashinfer.jit.cascade.gen_cascade_module")
    witness.saw(
        made("copy of s", "Tensor.to", "float32", (6, 8)),
        made("copy of other s", "Tensor.to", "float32", (6, 8)),
        *build,
        called(
            f"{module}.merge_state_in_place",
            piece("v", "float16", (6, 8, 128)),
            # The kernel updates this one; s keeps the scale of before.
            piece("copy of s", "float32", (6, 8)),
            piece("other v", "float16", (6, 8, 128)),
            piece("copy of other s", "float32", (6, 8)),
            None,
        ),
    )


@pytest.mark.drives(CASCADE, "merge_states")
def test_merged_states_lose_the_axis_of_the_states(load, witness):
    v = witness.tensor("v", "bfloat16", (7, 3, 2, 128))
    s = witness.tensor("s", "float32", (7, 3, 2))
    returned = load().merge_states(v, s)
    module, build = built("flashinfer.jit.cascade.gen_cascade_module")
    merged = piece("merged", "bfloat16", (7, 2, 128)), piece("merged s", "float32", (7, 2))
    witness.saw(
        made("merged", "torch.empty", "bfloat16", (7, 2, 128)),
        made("merged s", "torch.empty", "float32", (7, 2)),
        *build,
        called(
            f"{module}.merge_states",
            piece("v", "bfloat16", (7, 3, 2, 128)),
            piece("s", "float32", (7, 3, 2)),
            *merged,
        ),
    )
    assert witness.of(returned) == merged


@pytest.mark.drives(ACTIVATION, "silu_and_mul")
@pytest.mark.parametrize("given", [False, True])
def test_activation_halves_the_last_axis_unless_it_is_given_the_output(load, witness, given):
    x = witness.tensor("x", "bfloat16", (2, 3, 2046))
    out = witness.tensor("out", "bfloat16", (2, 3, 1023)) if given else None
    returned = load(real=UTILS).silu_and_mul(x, out, enable_pdl=True)
    module, build = built("flashinfer.jit.gen_act_and_mul_module", "silu")
    half = piece("out", "bfloat16", (2, 3, 1023))
    allocated = [] if given else [made("out", "torch.empty", "bfloat16", (2, 3, 1023))]
    launch = called(f"{module}.silu_and_mul", half, piece("x", "bfloat16", (2, 3, 2046)), True)
    witness.saw(*allocated, *build, launch)
    assert witness.of(returned) == half


@pytest.mark.drives(SAMPLING, "softmax")
def test_softmax_shares_one_mebibyte_of_each_device_between_calls(load, witness):
    module = load(real=UTILS)
    logits = witness.tensor("logits", "bfloat16", (3, 1000))
    temperature = witness.tensor("temperature", "float16", (3,))
    compiled, build = built("flashinfer.jit.sampling.gen_sampling_module")
    workspace = made(
        "workspace",
        "torch.empty",
        "uint8",
        (1048576,),
        kept="_cache_buf[('softmax_workspace', 'cuda:0')]",
    )
    for before in ([workspace, *build], []):
        returned = module.softmax(logits, temperature, enable_pdl=False)
        witness.saw(
            *before,
            made("wide", "Tensor.float", "float32", (3, 1000)),
            made("probabilities", "torch.empty_like", "float32", (3, 1000)),
            made("wide temperature", "Tensor.float", "float32", (3,)),
            called(
                f"{compiled}.softmax",
                piece("workspace", "uint8", (1048576,)),
                piece("wide", "float32", (3, 1000)),
                piece("probabilities", "float32", (3, 1000)),
                piece("wide temperature", "float32", (3,)),
                0.0,  # not looked at beside a tensor
                False,
            ),
        )
        assert witness.of(returned) == piece("probabilities", "float32", (3, 1000))


@pytest.mark.drives(TOP_K, "top_k")
def test_deterministic_top_k_takes_zeroed_row_states_and_sorts_on_the_device(load, witness):
    module = load(real=UTILS)
    x = witness.tensor("x", "float32", (4, 50000))
    returned = module.top_k(x, 100, sorted=True, deterministic=True, tie_break=0)
    compiled, build = built("flashinfer.jit.topk.gen_topk_module")
    key = "_cache_buf[('radix_topk_row_states_cuda:0', 'cuda:0')]"
    witness.saw(
        made("states", "torch.zeros", "uint8", (1048576,), kept=key),
        made("top", "torch.empty", "float32", (4, 100)),
        *build,
        made("narrow", "torch.empty", "int32", (4, 100)),
        called(
            f"{compiled}.radix_topk",
            piece("x", "float32", (4, 50000)),
            piece("narrow", "int32", (4, 100)),
            piece("top", "float32", (4, 100)),
            piece("states", "uint8", (1048576,)),
            100,
            True,
            True,
            0,
            False,
        ),
        made("indices", "Tensor.long", "int64", (4, 100)),
    )
    assert witness.of(returned) == (
        piece("top", "float32", (4, 100)),
        piece("indices", "int64", (4, 100)),
    )


SLOTS = "nvfp4_quantize_append_paged_kv_cache_with_slot_mapping"


def slot_arguments(witness):
    """Return rows, slots and the stacked caches: K of each page before its V."""
    return (
        witness.tensor("key", "bfloat16", (12, 4, 128)),
        witness.tensor("value", "bfloat16", (12, 4, 128)),
        witness.tensor("slots", "int64", (9,)),
        witness.tensor("cache", "uint8", (10, 2, 16, 4, 64)),
        witness.tensor("scales", "float8_e4m3fn", (10, 2, 16, 4, 8)),
    )


@pytest.mark.drives(PAGE, SLOTS)
def test_stacked_cache_is_split_and_numbers_become_tensors_of_the_device(load, witness):
    module = load(real=UTILS)
    getattr(module, SLOTS)(*slot_arguments(witness), 0.5, 0.25)
    compiled, build = built("flashinfer.jit.page.gen_page_module")
    pages, scales = (8192, 256, 64, 1), (1024, 32, 8, 1)
    witness.saw(
        made("k scale", "torch.tensor", "float32", (1,), fill=0.5),
        made("v scale", "torch.tensor", "float32", (1,), fill=0.25),
        *build,
        called(
            f"{compiled}.{SLOTS}",
            piece("key", "bfloat16", (12, 4, 128)),
            piece("value", "bfloat16", (12, 4, 128)),
            piece("slots", "int64", (9,)),
            piece("cache", "uint8", (10, 16, 4, 64), pages),
            piece("cache", "uint8", (10, 16, 4, 64), pages, 4096),  # after 16 x 4 x 64
            piece("scales", "float8_e4m3fn", (10, 16, 4, 8), scales),
            piece("scales", "float8_e4m3fn", (10, 16, 4, 8), scales, 512),
            piece("k scale", "float32", (1,)),
            piece("v scale", "float32", (1,)),
            0,  # tokens before heads
        ),
    )


@pytest.mark.drives(PAGE, SLOTS)
def test_numbers_are_refused_as_scales_while_a_graph_is_captured(load, sm120, witness):
    module = load(real=UTILS)
    arguments = slot_arguments(witness)
    getattr(module, SLOTS)(*arguments, 0.5, 0.5)
    before = len(sm120.recording.records())
    with sm120.session.capture(), pytest.raises(ValueError) as caught:
        getattr(module, SLOTS)(*arguments, 0.5, 0.5)
    assert str(caught.value) == (
        "k_scale must be a contiguous float32 CUDA tensor on cuda:0 during CUDA graph capture"
    )
    assert len(sm120.recording.records()) == before
