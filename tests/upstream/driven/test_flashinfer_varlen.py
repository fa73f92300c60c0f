"""FlashInfer's attention over packed segments: plan tables, workspaces by stream."""

from __future__ import annotations

import pytest

from tests.upstream.witness import called, made, piece

QUANT = "flashinfer/diffusion_ops/cake_minimax_h3_sm120_quant_varlen_attention.py"
NVFP4 = "flashinfer/diffusion_ops/cake_minimax_h3_sm120_nvfp4_varlen_attention.py"


@pytest.mark.drives(QUANT, "_workspace")
def test_workspace_is_kept_by_device_and_stream_and_grows_to_what_is_asked(load, sm120, witness):
    module, dtype = load(), sm120.tensor((1,), "uint8").dtype
    first = module._workspace(0, "q8", 3, dtype)
    assert module._workspace(0, "q8", 16, dtype) is first  # never less than 16
    module._workspace(0, "k8", 20, dtype)
    grown = module._workspace(0, "q8", 17, dtype)
    key = "_WORKSPACES[(0, {})]['{}']"
    witness.saw(
        made("first", "torch.empty", "uint8", (16,)),
        made("k", "torch.empty", "uint8", (20,), kept=key.format(0, "k8")),
        made("grown", "torch.empty", "uint8", (17,), kept=key.format(0, "q8")),
    )
    with sm120.session.other_stream():
        own = module._workspace(0, "q8", 5, dtype)
    stream = list(module._WORKSPACES)[-1][1]
    own_key = key.format(stream, "q8")
    witness.saw(made("own", "torch.empty", "uint8", (16,), kept=own_key).under("other stream"))
    assert stream != 0 and witness.of((grown, own)) == (
        piece("grown", "uint8", (17,)),
        piece("own", "uint8", (16,)),
    )


@pytest.mark.drives(QUANT, "_workspace")
def test_workspace_of_the_oldest_stream_is_dropped_with_the_ninth(load, sm120, witness):
    module, dtype = load(), sm120.tensor((1,), "uint8").dtype
    for _ in range(9):
        with sm120.session.other_stream():
            module._workspace(0, "q8", 32, dtype)
    made_first, *others = sm120.recording.allocations()
    assert len(others) == 8 and len(module._WORKSPACES) == 8
    assert sm120.recording.freed_at(made_first) is not None
    assert [sm120.recording.freed_at(other) for other in others] == [None] * 8


@pytest.mark.drives(QUANT, "_plan")
def test_plan_numbers_blocks_of_128_rows_and_spreads_the_longest_first(load, sm120):
    module = load()
    device = sm120.tensor((1,), device="cuda:0").device
    # Segments of 200, 0 and 100 tokens, with 2 heads; the second has no block.
    plan = module._plan((0, 200, 200, 300), 2, device)
    assert module._plan((0, 200, 200, 300), 2, device) is plan
    tables = {
        "cu_seqlens": [0, 200, 200, 300],
        "seg_begin": [0, 200, 200],
        "seg_len": [200, 0, 100],
        "seg_tile_begin": [0, 2, 2, 3],
        "tile_table": [0, 0, 0, 1, 2, 0],  # segment and block
        # Segment, and head in the upper half above the block. Six units of 188 multiprocessors
        # are one round. Tokens 0 to 199 touch two key blocks, as 200 to 299 do: all cost the
        # same, and the round is the reverse of segment, head, block.
        "unit_table": [2, 65536, 2, 0, 0, 65537, 0, 65536, 0, 1, 0, 0],
    }
    assert {name: sm120.numpy(getattr(plan, name)).tolist() for name in tables} == tables
    assert [(each.call, each.dtype, each.device) for each in sm120.recording.allocations()] == [
        ("torch.tensor", "int32", "cuda:0")
    ] * 6
    assert (plan.grid, plan.num_tiles, plan.num_kblocks, plan.padded_tokens) == (6, 3, 3, 384)


@pytest.mark.drives(NVFP4, "_token_segment_ids")
def test_padded_tokens_repeat_the_last_segment(load, sm120):
    module = load(real=[QUANT.removesuffix(".py").replace("/", ".")])
    device = sm120.tensor((1,), device="cuda:1").device
    ids = module._token_segment_ids((0, 3, 3, 5), 8, device)
    assert module._token_segment_ids([0, 3, 3, 5], 8, device) is ids
    assert sm120.numpy(ids).tolist() == [0, 0, 0, 2, 2, 2, 2, 2]
    [kept] = [each for each in sm120.recording.allocations() if each.registered_as]
    assert (kept.call, kept.dtype, kept.shape, kept.device) == (
        "Tensor.to",
        "int32",
        (8,),
        "cuda:1",
    )
    assert kept.registered_as == "_TOK_SEG[((0, 3, 3, 5), 8, 1)]"


PLAN = {
    "cu_seqlens": [0, 200, 300],
    "seg_begin": [0, 200],
    "seg_len": [200, 100],
    "seg_tile_begin": [0, 2, 3],
    "tile_table": [0, 0, 0, 1, 1, 0],
    "unit_table": [1, 65536, 1, 0, 0, 65537, 0, 65536, 0, 1, 0, 0],
}
SCALE = 1 / 128**0.5


def packed(witness):
    """Return Q, K and V of 300 tokens with 2 heads, and where the two segments begin."""
    tensors = [witness.tensor(name, "bfloat16", (300, 2, 128)) for name in ("q", "k", "v")]
    return *tensors, witness.tensor("cu", "int32", (3,))


@pytest.mark.drives(QUANT, "minimax_h3_sm120_varlen_attention_fp8")
def test_attention_in_eight_bits_is_given_the_plan_and_eight_workspaces(load, witness):
    module = load()
    q, k, v, cu = packed(witness)
    returned = module.minimax_h3_sm120_varlen_attention_fp8(
        q, k, v, cu, cu_seqlens_host=(0, 200, 300)
    )
    key = "_WORKSPACES[(0, 0)]['{}']"
    workspaces = {
        "q8": ("uint8", 76800),  # 300 x 2 x 128
        "k8": ("uint8", 76800),
        "vt8": ("uint8", 98304),  # the tokens padded to three blocks: 2 x 128 x 384
        "q_scale": ("float32", 600),
        "k_scale": ("float32", 16),  # 2 x 3, and never less than 16
        "v_scale": ("float32", 512),  # 2 segments x 2 x 128
        "mean_k": ("float32", 512),
        "partials": ("float32", 1536),  # 3 blocks x 2 heads x 256
    }
    plan = "_PLANS[((0, 200, 300), 2, 0, 188)].{}"
    generator = (
        "flashinfer.jit.cake_minimax_h3_sm120_quant_varlen_attention"
        ".gen_minimax_h3_sm120_quant_varlen_attention_module"
    )
    out = piece("out", "bfloat16", (300, 2, 128))
    witness.saw(
        made("out", "torch.empty_like", "bfloat16", (300, 2, 128)),
        *(
            made(name, "torch.tensor", "int32", (len(values),), kept=plan.format(name))
            for name, values in PLAN.items()
        ),
        *(
            made(name, "torch.empty", dtype, (size,), kept=key.format(name))
            for name, (dtype, size) in workspaces.items()
        ),
        called(generator),
        called(f"{generator}().build_and_load"),
        called(
            f"{generator}().build_and_load().minimax_h3_sm120_varlen_attention_fp8",
            *(piece(name, "bfloat16", (300, 2, 128)) for name in ("q", "k", "v")),
            piece("cu_seqlens", "int32", (3,)),
            out,
            *(piece(name, "int32", (len(PLAN[name]),)) for name in list(PLAN)[1:]),
            *(piece(name, dtype, (size,)) for name, (dtype, size) in workspaces.items()),
            2,  # segments
            3,  # blocks of rows
            6,  # units: each block of each head
            6,  # programs
            SCALE,
        ),
    )
    assert witness.of(returned) == out


@pytest.mark.drives(NVFP4, "minimax_h3_sm120_varlen_attention_nvfp4")
def test_attention_in_four_bits_zeroes_only_counters_and_barrier(load, sm120, witness):
    module = load(real=[QUANT.removesuffix(".py").replace("/", ".")])
    q, k, v, cu = packed(witness)
    drive = module.minimax_h3_sm120_varlen_attention_nvfp4
    drive(q, k, v, cu, cu_seqlens_host=(0, 200, 300))
    workspaces = [
        ("q4", "uint8", 38400),  # 300 x 2 x 64 bytes
        ("k4", "uint8", 38400),
        ("q_sf", "uint8", 4800),  # a scale for 16 elements
        ("k_sf", "uint8", 6144),  # 2 heads x 3 key blocks x 128 x 8
        ("qm4", "uint8", 384),  # 3 blocks x 2 x 64
        ("qm_sf", "uint8", 48),
        ("vt4", "uint8", 49152),  # 2 x 128 x 384 / 2
        ("v_sf", "uint8", 6144),
        ("q_mean", "float32", 768),  # 3 x 2 x 128
        ("mean_k", "float32", 512),  # 2 segments x 2 x 128
        ("partials", "float32", 512),  # a segment of up to 512 tokens is one tile
    ]
    zeroed = [("counters", "uint32", 16), ("barrier", "uint32", 16)]  # 2 x 2 and 4 are too few
    first = {
        each.registered_as: (each.call, each.dtype, each.shape)
        for each in sm120.recording.allocations(device="cuda:0")
        if "WORKSPACES" in str(each.registered_as)
    }
    assert list(first.values()) == [
        *(("torch.empty", dtype, (size,)) for _, dtype, size in workspaces),
        *(("torch.zeros", dtype, (size,)) for _, dtype, size in zeroed),
    ]
    before = len(sm120.recording.allocations())
    drive(q, k, v, cu, q, cu_seqlens_host=(0, 200, 300))
    assert len(sm120.recording.allocations()) == before  # not even an output

    one, two = sm120.recording.calls("minimax_h3_sm120_varlen_attention_nvfp4")
    assert one.args[9:22] == two.args[9:22] and two.args[6].shares_storage_with(two.args[0])
    shapes = [(view.dtype, view.shape) for view in one.args[9:22]]
    assert shapes == [(dtype, (size,)) for _, dtype, size in [*workspaces, *zeroed]]
    assert one.args[22:] == (2, 2, 3, 6, 6, SCALE)  # two statistics tiles
