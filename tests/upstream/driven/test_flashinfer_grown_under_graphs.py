"""FlashInfer's workspaces under captured graphs and on two streams: whose memory they are."""

from __future__ import annotations

import pytest

from pytest_sm120 import Scratch
from pytest_sm120.errors import ContractBroken

UTILS = "flashinfer/utils.py"
VARLEN = "flashinfer/diffusion_ops/cake_minimax_h3_sm120_nvfp4_varlen_attention.py"
STREAM_K = "flashinfer/experimental/cake_nvfp4_per_token/cake_backend.py"


@pytest.mark.drives(UTILS, "_get_cache_buf")
def test_retired_cache_buffer_stays_alive_for_the_graph_that_holds_it(load, sm120):
    module = load()

    def drive(size, device):
        device = sm120.tensor((1,), device=device).device
        buffer = module._get_cache_buf("rows", size, device, zero_init=True)
        module.gen_spdlog_module().build_and_load().take(buffer)

    result = sm120.check(
        Scratch(
            key="_cache_buf[('rows', '{device}')]",
            init="zeros",
            dtype="uint8",
            shape=lambda size: (size,),
            allow_inference=True,
            outlives_graphs=True,
        ),
        drive=drive,
    )
    outcomes = {clause.name: clause.outcome for clause in result.clauses}
    assert outcomes["kept alive for graphs"] == "held"


def why_counters_are_broken(module, sm120, **asked):
    """Return what the contract of the zeroed workspace says, with what is asked besides."""

    def drive(segments, device):
        like = sm120.tensor((1,), "uint32", device)
        counters = module._zero_workspace(like.device.index, "counters", segments * 56, like.dtype)
        module._minimax_h3_sm120_varlen_attention_nvfp4_impl(
            *[None] * 20, counters, None, segments, 0, 0, 0, 188, 0.5
        )

    with pytest.raises(ContractBroken) as caught:
        sm120.check(
            Scratch(
                key=lambda device: f"_ZERO_WORKSPACES[({device[-1]}, 'counters')]",
                init="zeros",
                dtype="uint32",
                shape=lambda segments: (segments * 56,),
                allow_inference=True,
                **asked,
            ),
            drive=drive,
        )
    return str(caught.value)


@pytest.mark.drives(VARLEN, "_zero_workspace")
def test_zeroed_workspace_contract_is_broken_since_growth_drops_what_a_graph_holds(load, sm120):
    assert why_counters_are_broken(load(), sm120, outlives_graphs=True) == (
        "The contract for \"_ZERO_WORKSPACES[(0, 'counters')]\" is broken in 1 of 15 clauses."
        "\n\n"
        "1. kept alive for graphs: cake_minimax_h3_sm120_nvfp4_varlen_attention.py:180: "
        "_zero_workspace allocates \"_ZERO_WORKSPACES[(0, 'counters')]\" with torch.zeros again in "
        'the step "growth under a graph" '
        "(size 16 on cuda:0), and nothing holds the memory of uint32[448] on cuda:0 any longer, "
        "which a captured graph points at. Each replay of that graph writes to memory that belongs "
        "to somebody else. Keep the old buffer in a list beside the new one, or refuse to grow "
        "after a capture."
    )


@pytest.mark.drives(VARLEN, "_zero_workspace")
def test_zeroed_workspace_contract_is_broken_since_streams_share_it(load, sm120):
    assert why_counters_are_broken(load(), sm120, per_stream=True) == (
        "The contract for \"_ZERO_WORKSPACES[(0, 'counters')]\" is broken in 1 of 15 clauses."
        "\n\n"
        "1. one per stream: cake_minimax_h3_sm120_nvfp4_varlen_attention.py:236: "
        "_minimax_h3_sm120_varlen_attention_nvfp4_impl calls "
        "flashinfer.jit.cake_minimax_h3_sm120_nvfp4_varlen_attention"
        ".gen_minimax_h3_sm120_nvfp4_varlen_attention_module().build_and_load()"
        ".minimax_h3_sm120_varlen_attention_nvfp4 "
        'with "_ZERO_WORKSPACES[(0, \'counters\')]" in the step "other stream" '
        "(size 4 on cuda:0), the buffer of the calls before. Two streams that run at the same time "
        "overwrite each other's contents. Put the current stream into the key."
    )


@pytest.mark.drives(STREAM_K, "_stream_k_workspace")
def test_stream_k_contract_is_broken_since_growth_drops_what_a_graph_holds(load, sm120):
    module = load()

    def drive(size, device):
        device = sm120.tensor((1,), device=device).device
        workspaces = module._stream_k_workspace(device, size * 64, 1, 2)
        module.load_cake_nvfp4_per_token_module("sm_100a").run(*workspaces)

    with pytest.raises(ContractBroken) as caught:
        sm120.check(
            Scratch(
                key=lambda device: f"_STREAM_K_WORKSPACE[{device[-1]}]",
                init="empty",
                dtype="float32",
                shape=lambda size: (size * 64,),
                allow_inference=True,
                outlives_graphs=True,
            ),
            drive=drive,
        )
    assert str(caught.value) == (
        'The contract for "_STREAM_K_WORKSPACE[0]" is broken in 1 of 15 clauses.'
        "\n\n"
        "1. kept alive for graphs: cake_backend.py:1386: _stream_k_workspace allocates "
        '"_STREAM_K_WORKSPACE[0]" with torch.empty again in the step "growth under a graph" '
        "(size 16 on cuda:0), and nothing holds the memory of float32[512] on cuda:0 any longer, "
        "which a captured graph points at. Each replay of that graph writes to memory that belongs "
        "to somebody else. Keep the old buffer in a list beside the new one, or refuse to grow "
        "after a capture."
    )
