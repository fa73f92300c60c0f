"""FlashInfer's workspaces: what they grow by, what is zeroed, and what their keys leave out."""

from __future__ import annotations

import pytest

from tests.upstream.witness import made, piece

UTILS = "flashinfer/utils.py"
GDN = "flashinfer/gdn_kernels/experimental/kernel/gdn_fused_decode_cuda_sm120_persistent.py"
VARLEN = "flashinfer/diffusion_ops/cake_minimax_h3_sm120_nvfp4_varlen_attention.py"
STREAM_K = "flashinfer/experimental/cake_nvfp4_per_token/cake_backend.py"


@pytest.mark.drives(UTILS, "_get_cache_buf")
def test_cache_buffer_grows_by_name_and_device_and_retires_the_old_one(load, sm120, witness):
    module = load()
    first, second = (sm120.tensor((1,), device=f"cuda:{index}").device for index in (0, 1))
    old = module._get_cache_buf("topk", 100, first)
    assert module._get_cache_buf("topk", 50, first) is old
    module._get_cache_buf("topk", 100, second)
    module._get_cache_buf("rows", 100, first, zero_init=True)
    grown = module._get_cache_buf("topk", 101, first)
    key = "_cache_buf[('{}', '{}')]"
    witness.saw(
        made("old", "torch.empty", "uint8", (100,), kept="_cache_buf_retired[0]"),
        made(
            "second",
            "torch.empty",
            "uint8",
            (100,),
            device="cuda:1",
            kept=key.format("topk", "cuda:1"),
        ),
        made("rows", "torch.zeros", "uint8", (100,), kept=key.format("rows", "cuda:0")),
        made("grown", "torch.empty", "uint8", (101,), kept=key.format("topk", "cuda:0")),
    )
    assert witness.of(grown) == piece("grown", "uint8", (101,))
    assert module._cache_buf_retired == [old]


@pytest.mark.drives(UTILS, "_get_range_buf")
def test_range_buffer_is_made_for_each_power_of_two(load, sm120, witness):
    module, device = load(), sm120.tensor((1,), device="cuda:0").device
    returned = [module._get_range_buf(length, device) for length in (100, 128, 129)]
    witness.saw(
        made("128", "torch.arange", "int32", (128,), kept="_cache_buf[('range_128', 'cuda:0')]"),
        made("256", "torch.arange", "int32", (256,), kept="_cache_buf[('range_256', 'cuda:0')]"),
    )
    assert [witness.of(part) for part in returned] == [
        piece("128", "int32", (100,)),
        piece("128", "int32", (128,)),
        piece("256", "int32", (129,)),
    ]


@pytest.mark.drives(GDN, "_get_barrier")
def test_grid_barrier_is_two_zeroed_words_for_each_device(load, sm120, witness):
    module = load()
    for device in ("cuda:0", "cuda:1"):
        barrier = module._get_barrier(sm120.tensor((1,), device=device).device)
        assert module._get_barrier(sm120.tensor((1,), device=device).device) is barrier
        key = f"_barrier_cache['{device}']"
        witness.saw(made("words", "torch.zeros", "int32", (2,), device=device, kept=key))


@pytest.mark.drives(GDN, "_get_scratch")
def test_decode_scratch_holds_160_partials_for_each_row_and_column(load, witness):
    module = load()
    hidden = witness.tensor("hidden", "bfloat16", (3, 2048))
    conv = witness.tensor("conv", "bfloat16", (9, 8192, 3))
    returned = module._get_scratch((2048, 64), hidden, conv, 64)
    assert module._get_scratch((2048, 64), hidden, conv, 64) is returned
    # The key: geometry, rows, width of the convolution, device; the partials are 160 x 3 x 64.
    key = "_scratch_cache[((2048, 64), 3, 8192, 'cuda:0')]"
    witness.saw(
        made("conv out", "torch.empty", "bfloat16", (3, 8192), kept=f"{key}[0]"),
        made("partials", "torch.empty", "float32", (30720,), kept=f"{key}[1]"),
    )
    assert witness.of(returned) == (
        piece("conv out", "bfloat16", (3, 8192)),
        piece("partials", "float32", (30720,)),
    )


@pytest.mark.drives(VARLEN, "_zero_workspace")
def test_zeroed_workspace_holds_at_least_16_elements_and_grows_to_what_is_asked(
    load, sm120, witness
):
    module, dtype = load(), sm120.tensor((1,), "int32").dtype
    first = module._zero_workspace(0, "counters", 5, dtype)
    assert module._zero_workspace(0, "counters", 16, dtype) is first
    module._zero_workspace(0, "counters", 17, dtype)
    module._zero_workspace(1, "counters", 40, dtype)
    witness.saw(
        made("first", "torch.zeros", "int32", (16,)),
        made("grown", "torch.zeros", "int32", (17,), kept="_ZERO_WORKSPACES[(0, 'counters')]"),
        made(
            "other",
            "torch.zeros",
            "int32",
            (40,),
            device="cuda:1",
            kept="_ZERO_WORKSPACES[(1, 'counters')]",
        ),
    )


@pytest.mark.drives(STREAM_K, "_stream_k_workspace")
def test_stream_k_zeroes_flags_for_each_number_of_slices_and_shares_the_floats(
    load, sm120, witness
):
    module, device = load(), sm120.tensor((1,), device="cuda:1").device
    first = module._stream_k_workspace(device, 4096, 12, 2)
    second = module._stream_k_workspace(device, 0, 0, 4)
    third = module._stream_k_workspace(device, 4097, 12, 2)
    witness.saw(
        made("floats", "torch.empty", "float32", (4096,), device="cuda:1"),
        made(
            "flags of 2",
            "torch.zeros",
            "uint32",
            (12,),
            device="cuda:1",
            kept="_STREAM_K_FLAGS[(1, 2)]",
        ),
        made(
            "flags of 4",
            "torch.zeros",
            "uint32",
            (1,),  # never none
            device="cuda:1",
            kept="_STREAM_K_FLAGS[(1, 4)]",
        ),
        made(
            "grown",
            "torch.empty",
            "float32",
            (4097,),
            device="cuda:1",
            kept="_STREAM_K_WORKSPACE[1]",
        ),
    )
    assert second[0] is first[0] and third[1] is first[1]
    assert witness.of(third[0]) == piece("grown", "float32", (4097,))
