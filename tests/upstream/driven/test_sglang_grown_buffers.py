"""SGLang's buffers that only grow: what their keys leave out, and what they keep apart."""

from __future__ import annotations

import pytest

from pytest_sm120 import Scratch
from pytest_sm120.errors import ContractBroken
from tests.upstream.witness import made, piece

DP = "sglang/srt/layers/dp_attention.py"
GLUON = "sglang/kernels/ops/attention/minimax_sparse/prefill/gluon_prefill.py"
SHEAR = "sglang/kernels/ops/attention/flash_attn/cute/interface.py"
QSA = "sglang/kernels/kda_kernels/qwen38_qsa_sm121/kernel.py"


@pytest.mark.drives(DP, "get_tbo_persistent_buffer")
def test_overlap_buffer_breaks_the_contract_since_its_key_has_no_device(load, sm120):
    module = load()

    def drive(size, device):
        return module.get_tbo_persistent_buffer(
            "gather", size, 64, sm120.tensor((1,), "bfloat16").dtype, device
        )

    with pytest.raises(ContractBroken) as caught:
        sm120.check(
            Scratch(
                key="_TBO_PERSIST_BUF['gather']",
                init="empty",
                dtype="bfloat16",
                shape=lambda rows: (rows, 64),
                allow_inference=True,
            ),
            drive=drive,
        )
    assert str(caught.value) == (
        "The contract for \"_TBO_PERSIST_BUF['gather']\" is broken in 1 of 14 clauses.\n\n"
        "1. one per device: dp_attention.py:1239: get_tbo_persistent_buffer keeps "
        "\"_TBO_PERSIST_BUF['gather']\" for cuda:0, and the call on cuda:1 allocates none of its "
        "own. A kernel cannot follow a pointer into the other device's memory. Put the device into "
        "the key: cuda:0 and cuda:1 each need a buffer. "
        'Where it is meant for one device only, pass devices=["cuda:0"].'
    )


@pytest.mark.drives(DP, "_get_dp_gather_fp8_bufs")
def test_gather_buffers_ignore_a_wider_row(load, sm120, witness):
    module, device = load(), sm120.tensor((1,), device="cuda:0").device
    module._get_dp_gather_fp8_bufs(8, 256, device)
    wider = module._get_dp_gather_fp8_bufs(4, 512, device)
    key = "_dp_gather_fp8_bufs['cuda:0'][{}]"
    witness.saw(
        made("payload", "torch.empty", "uint8", (8, 256), kept=key.format(0)),
        made("scales", "torch.empty", "float32", (8, 2), kept=key.format(1)),  # 256 / 128
    )
    # Asked for 512 wide; the second call gets 256 wide rows.
    assert witness.of(wider) == (
        piece("payload", "uint8", (4, 256)),
        piece("scales", "float32", (4, 2)),
    )


@pytest.mark.drives(DP, "_get_dp_gather_fp8_bufs")
def test_gather_buffers_break_the_contract_when_the_width_grows(load, sm120):
    module = load()

    def drive(size, device):
        device = sm120.tensor((1,), device=device).device
        return module._get_dp_gather_fp8_bufs(8, size * 128, device)

    with pytest.raises(ContractBroken) as caught:
        sm120.check(
            Scratch(
                key="_dp_gather_fp8_bufs['{device}'][0]",
                init="empty",
                dtype="uint8",
                shape=lambda size: (8, size * 128),
                allow_inference=True,
            ),
            drive=drive,
        )
    assert str(caught.value) == (
        "The contract for \"_dp_gather_fp8_bufs['{device}'][0]\" is broken in 1 of 11 clauses."
        "\n\n"
        "1. growth re-allocates: dp_attention.py:777: _get_dp_gather_fp8_bufs keeps "
        '"_dp_gather_fp8_bufs[\'cuda:0\'][0]" in the shape (8, 512) for the step "larger" '
        "(size 8 on cuda:0), which needs (8, 1024). A launch that is sized for the call writes "
        "past the end of the buffer. Allocate again when the kept buffer is smaller than what the "
        "call needs."
    )


@pytest.mark.drives(GLUON, "_get_scratch")
def test_context_scratch_grows_by_1024_pages_for_each_device_and_dtype(load, sm120, witness):
    module = load()
    x = sm120.tensor((1,), "bfloat16", "cuda:0")
    first = module._get_scratch(x.device, x.dtype, 3)
    assert module._get_scratch(x.device, x.dtype, 1024) is first
    module._get_scratch(x.device, x.dtype, 1025)
    key = "_SCRATCH[('cuda:0', 'bfloat16')][{}]"
    # A page holds 128 x 64 elements.
    witness.saw(
        made("k", "torch.empty", "bfloat16", (8388608,)),
        made("v", "torch.empty", "bfloat16", (8388608,)),
        made("grown k", "torch.empty", "bfloat16", (16777216,), kept=key.format(0)),
        made("grown v", "torch.empty", "bfloat16", (16777216,), kept=key.format(1)),
    )
    assert witness.of(first) == (
        piece("k", "bfloat16", (8388608,)),
        piece("v", "bfloat16", (8388608,)),
    )


@pytest.mark.drives(SHEAR, "_shear_bias_empty")
def test_sheared_bias_is_a_typed_view_of_bytes_kept_by_stream(load, sm120, witness):
    module = load()
    module.is_fake_mode = lambda: False
    x = sm120.tensor((1,), "bfloat16", "cuda:0")
    view = module._shear_bias_empty((2, 3, 4), x.dtype, x.device)
    # 24 elements of 2 bytes, on device 0 and its default stream
    witness.saw(made("eager", "torch.empty", "uint8", (48,), kept="_shear_bias_workspace[(0, 0)]"))
    assert witness.of(view) == piece("eager", "bfloat16", (2, 3, 4))
    with sm120.session.other_stream():
        other = module._shear_bias_empty((2, 3, 4), x.dtype, x.device)
    [_, (_, stream)] = module._shear_bias_workspace
    key = f"_shear_bias_workspace[(0, {stream})]"
    witness.saw(made("other", "torch.empty", "uint8", (48,), kept=key).under("other stream"))
    assert stream != 0 and witness.of(other) == piece("other", "bfloat16", (2, 3, 4))


@pytest.mark.drives(SHEAR, "_shear_bias_empty")
def test_sheared_bias_is_not_kept_while_a_graph_is_captured(load, sm120, witness):
    module = load()
    module.is_fake_mode = lambda: False
    x = sm120.tensor((1,), "bfloat16", "cuda:0")
    with sm120.session.capture():
        view = module._shear_bias_empty((2, 3, 4), x.dtype, x.device)
    witness.saw(made("own", "torch.empty", "bfloat16", (2, 3, 4)).under("capturing"))
    assert witness.of(view) == piece("own", "bfloat16", (2, 3, 4))


@pytest.mark.drives(QSA, "_get_scratch")
def test_attention_scratch_zeroes_only_the_counters(load, sm120, witness):
    module, device = load(), sm120.tensor((1,), device="cuda:1").device
    returned = module._get_scratch(device)
    assert module._get_scratch(device) is returned
    key = "_scratch[1][{}]"
    # 128 requests x 2 heads x 8 splits x 16 rows; the accumulators have 256 elements a row.
    witness.saw(
        made("max", "torch.empty", "float32", (32768,), device="cuda:1", kept=key.format(0)),
        made("sum", "torch.empty", "float32", (32768,), device="cuda:1", kept=key.format(1)),
        made("acc", "torch.empty", "float32", (8388608,), device="cuda:1", kept=key.format(2)),
        made("counters", "torch.zeros", "int32", (256,), device="cuda:1", kept=key.format(3)),
    )
