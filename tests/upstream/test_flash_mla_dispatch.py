"""SGLang's functions around the page split, down to the call into FlashInfer."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import pytest

from pytest_sm120 import Scratch
from pytest_sm120.errors import ContractBroken, GhostValue
from tests.upstream.test_split_scratch import COMMENTED, TARGET, make_variant

CONSUMER = "flashinfer.mla._sparse_mla_sm120._sparse_mla_sm120_paged_attention"
DECODE_LIMIT = "flashinfer.mla._sparse_mla_sm120._DECODE_MAX_TOKENS"
SCRATCH = Scratch(
    key="flash_mla_sm120_split:{device}",
    init="zeros",
    dtype="uint8",
    shape=lambda pages: (pages * 4, 37440),
)
PAGES, HEADS, TOPK, HEAD_DIM = 4, 64, 128, 512


@pytest.fixture
def mla(sm120, sglang):
    resources = SimpleNamespace(buffers=sm120.registry())
    return sm120.load(
        sglang / TARGET,
        provide={
            "sglang.srt.runtime_context.get_resources": lambda: resources,
            DECODE_LIMIT: 64,
        },
    )


def arguments(sm120, rows):
    cache = sm120.tensor(
        (PAGES, 256, 1, 584),
        dtype="float8_e4m3fn",
        device="cuda:0",
        strides=(149760, 584, 584, 1),
    )
    return {
        "q": sm120.tensor((rows, 1, HEADS, HEAD_DIM), dtype="bfloat16", device="cuda:0"),
        "k_cache": cache,
        "indices": sm120.values([[[7] * TOPK]] * rows, dtype="int32", device="cuda:0"),
        "topk_length": None,
        "attn_sink": None,
        "head_dim_v": HEAD_DIM,
        "softmax_scale": 0.125,
    }


def positional(given):
    names = ["q", "k_cache", "indices", "topk_length", "attn_sink", "head_dim_v", "softmax_scale"]
    return [given[name] for name in names] + [None, None, None]


@pytest.mark.parametrize("rows", [64, 65])
def test_flash_mla_flashinfer_hands_the_split_pages_to_the_consumer(sm120, mla, rows):
    output, lse = mla._flash_mla_flashinfer(*positional(arguments(sm120, rows)))
    [call] = sm120.recording.calls(CONSUMER)
    q, pages, indices, out, out_lse, scale = call.args
    assert q.shape == (rows, HEADS, HEAD_DIM) and q.dtype == "bfloat16"
    assert pages.shape == (PAGES * 4, 64, 1, 584) and pages.strides == (37440, 584, 584, 1)
    assert indices.shape == (rows, TOPK) and indices.dtype == "int32"
    assert out.shape == (rows, HEADS, HEAD_DIM) and out_lse.shape == (rows, HEADS)
    assert scale == 0.125 and call.kwargs["d_v"] == HEAD_DIM
    mid_out = call.kwargs["mid_out"]
    if rows <= 64:
        assert mid_out.shape == (rows, HEADS, TOPK // 64, HEAD_DIM)
        assert call.kwargs["mid_lse"].shape == (rows, HEADS, TOPK // 64)
    else:
        assert mid_out is None and call.kwargs["mid_lse"] is None
    assert output.shape == (rows, 1, HEADS, HEAD_DIM) and lse is None
    [scratch] = sm120.recording.allocations(dtype="uint8")
    assert pages.shares_storage_with(scratch)


@pytest.mark.parametrize("rows", [64, 65])
def test_prefill_hands_the_split_pages_to_the_consumer(sm120, mla, rows):
    output, lse = mla._flash_mla_sm120_prefill(*positional(arguments(sm120, rows)))
    [call] = sm120.recording.calls(CONSUMER)
    assert [view.shape for view in call.args[:5]] == [
        (rows, HEADS, HEAD_DIM),
        (PAGES * 4, 64, 1, 584),
        (rows, TOPK),
        (rows, HEADS, HEAD_DIM),
        (rows, HEADS),
    ]
    assert call.args[5] == 0.125
    assert dict(call.kwargs) == {
        "topk_length": None,
        "attn_sink": None,
        "extra_kv_cache": None,
        "extra_indices": None,
        "extra_topk_length": None,
        "mid_out": None,
        "mid_lse": None,
    }
    assert output.shape == (rows, 1, HEADS, HEAD_DIM) and lse is None
    [allocated] = sm120.recording.allocations("Tensor.new_empty")
    assert allocated.dtype == "bfloat16" and allocated.shares_storage_with(call.args[3])


@pytest.mark.parametrize(
    ("rows", "takes_decode"), [(64, True), (65, False)], ids=["decode", "prefill"]
)
def test_entry_point_sends_at_most_64_rows_to_the_decode_path(
    sm120, mla, monkeypatch, rows, takes_decode
):
    monkeypatch.setattr(mla, "_sm120_default_backend", "flashinfer")
    output, _ = mla.flash_mla_with_kvcache_sm120(**arguments(sm120, rows))
    [call] = sm120.recording.calls("_sparse_mla_sm120_paged_attention")
    assert call.name == CONSUMER
    expected = "_flash_mla_flashinfer" if takes_decode else "_flash_mla_sm120_prefill"
    assert call.function == expected
    assert (call.kwargs["mid_out"] is not None) == takes_decode
    assert output.shape == (rows, 1, HEADS, HEAD_DIM)
    [launch] = sm120.recording.launches("_page_split_kernel")
    assert launch.grid == (16,) and launch.args["HAS_MASK"] is True


def test_entry_point_refuses_to_guess_the_backend_when_none_was_set(sm120, mla):
    with pytest.raises(GhostValue) as caught:
        mla.flash_mla_with_kvcache_sm120(**arguments(sm120, rows=64))
    backend = "sglang.srt.environ.envs.SGLANG_SM120_FLASHMLA_BACKEND.get"
    assert str(caught.value) == (
        f"flash_mla_sm120.py:316: the code asked {backend}() == 'flashinfer' at run time, but "
        f"{backend}() is a ghost: it was imported from something that is neither loaded nor "
        "provided, so it has no value. Any answer would send the test down a branch by accident. "
        f'Give it a value: sm120.load(..., provide={{"{backend}": lambda *args: ...}}), or set '
        "_sm120_default_backend on the loaded module."
    )
    assert sm120.recording.calls(CONSUMER) == []


def test_fixed_scratch_and_mask_keep_their_contracts_in_any_order(sm120, sglang, tmp_path):
    resources = SimpleNamespace(buffers=sm120.registry())
    mla = sm120.load(
        make_variant(sglang, tmp_path / "fixed", COMMENTED) / TARGET,
        provide={"sglang.srt.runtime_context.get_resources": lambda: resources},
    )

    def split(pages, device):
        kv = sm120.tensor((pages, 149760), dtype="uint8", device=device)
        touched = sm120.values([7, -1], dtype="int32", device=device)
        mla._split_kv_pages_to_64(kv, 256, touched_indices=touched)

    mask = Scratch(
        key="flash_mla_sm120_mask:{device}",
        init="empty",
        dtype="int8",
        shape=lambda pages: (pages,),
        cleared_each_call=True,
    )
    for contract in (SCRATCH, mask):
        result = sm120.check(contract, split, thorough=True)
        assert result.findings == [] and result.unjudged == []


def test_scratch_for_two_million_tokens_costs_no_memory_and_names_its_size(sm120, mla):
    def split(pages, device):
        kv = sm120.tensor((pages, 149760), dtype="uint8", device=device)
        mla._split_kv_pages_to_64(kv, 256)

    pages = 2_097_152 // 256
    tracemalloc.start()
    with pytest.raises(ContractBroken) as caught:
        sm120.check(SCRATCH, split, sizes=[pages], devices=["cuda:0"])
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # What is held is records and the lines of the report; a thousandth of the scratch is plenty.
    assert most_bytes < 2**20
    scratch, *_ = sm120.recording.allocations(dtype="uint8")
    assert scratch.bytes == 32768 * 37440
    assert (
        "Cost of the initial value: one memset of 1.14 GiB (1,226,833,920 bytes) per "
        "(re)allocation, at size 8192." in str(caught.value).splitlines()
    )
