"""vLLM's persistent FlashInfer workspaces: kept in one global for all devices."""

from __future__ import annotations

import pytest

from pytest_sm120 import Scratch
from pytest_sm120.errors import ContractBroken
from tests.upstream.witness import made, piece

FLASHINFER_MLA = "vllm/v1/attention/backends/mla/flashinfer_mla.py"


@pytest.mark.drives(FLASHINFER_MLA, "_get_workspace_buffer")
def test_workspace_grows_once_when_the_lse_is_wanted(load, witness):
    module = load()
    first = module._get_workspace_buffer(False)
    assert module._get_workspace_buffer(False) is first
    witness.saw(
        made("plain", "torch.zeros", "int8", (134217728,), kept="_fi_workspace")  # 128 MiB
    )
    grown = module._get_workspace_buffer(True)
    assert module._get_workspace_buffer(False) is grown
    witness.saw(made("lse", "torch.zeros", "int8", (268435456,), kept="_fi_workspace"))
    assert witness.of(grown) == piece("lse", "int8", (268435456,))


@pytest.mark.drives(FLASHINFER_MLA, "_get_workspace_buffer")
def test_workspace_contract_is_broken_since_its_device_is_not_a_parameter(load, sm120):
    module = load()

    def workspace(size, device):
        q = sm120.tensor((size, 128, 576), dtype="bfloat16", device=device)
        return q, module._get_workspace_buffer(False)

    with pytest.raises(ContractBroken) as caught:
        sm120.check(
            Scratch(
                key="_fi_workspace",
                init="zeros",
                dtype="int8",
                shape=(134217728,),
                allow_inference=True,
            ),
            drive=workspace,
        )
    assert str(caught.value) == (
        'The contract for "_fi_workspace" is broken in 1 of 10 clauses.\n\n'
        "1. one per device: flashinfer_mla.py:88: "
        '_get_workspace_buffer keeps "_fi_workspace" for cuda:0, '
        "and the call on cuda:1 allocates none of its own. "
        "A kernel cannot follow a pointer into the other device's memory. "
        "Put the device into the key: cuda:0 and cuda:1 each need a buffer. "
        'Where it is meant for one device only, pass devices=["cuda:0"].'
        "\n\nNot judged: growth re-allocates (a call of size 8 needs no more than is there; pass "
        "larger sizes)."
    )


@pytest.mark.drives(FLASHINFER_MLA, "_get_multi_ctas_kv_counter_buffer")
def test_counter_contract_is_broken_since_the_first_device_gets_all_calls(load, sm120):
    module = load()
    with pytest.raises(ContractBroken) as caught:
        sm120.check(
            Scratch(
                key="_fi_multi_ctas_kv_counter",
                init="zeros",
                dtype="uint8",
                shape=lambda size: (size * 1024,),
                allow_inference=True,
            ),
            drive=lambda size, device: module._get_multi_ctas_kv_counter_buffer(
                size * 1024, sm120.tensor((1,), device=device).device
            ),
        )
    assert str(caught.value) == (
        'The contract for "_fi_multi_ctas_kv_counter" is broken in 1 of 14 clauses.\n\n'
        "1. one per device: flashinfer_mla.py:114: "
        '_get_multi_ctas_kv_counter_buffer keeps "_fi_multi_ctas_kv_counter" for cuda:0, '
        "and the call on cuda:1 allocates none of its own. "
        "A kernel cannot follow a pointer into the other device's memory. "
        "Put the device into the key: cuda:0 and cuda:1 each need a buffer. "
        'Where it is meant for one device only, pass devices=["cuda:0"].'
    )
