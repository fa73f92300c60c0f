"""A broken contract is reported whole: headline, findings, hazard and cost."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

from pytest_sm120.contracts import ContractResult, check
from pytest_sm120.contracts.byte_counts import bytes_in_words
from pytest_sm120.contracts.results import ClauseResult
from pytest_sm120.errors import ContractBroken, HazardWarning
from tests.contracts.fake_targets import CONTRACT, FakeBench, Options, SplitScratch

EMPTY: Options = {"call": "torch.empty", "fill": None}
CONSUMED = replace(CONTRACT, consumer="flashinfer-python<=0.6.18")
AFFECTED = ["flashinfer-python==0.6.18"]
UNAFFECTED = ["flashinfer-python==0.7.2"]


def report(target, contract=CONTRACT, **options):
    """Return the report with the target's places cut to ALLOC and LAUNCH."""
    with pytest.raises(ContractBroken) as caught:
        check(contract, target, bench=target.bench, **options)
    recording = target.bench.recording
    text = str(caught.value).replace(recording.allocations()[0].site, "ALLOC")
    return text.replace(recording.launches()[0].site, "LAUNCH")


def test_torch_empty_is_reported_with_hazard_and_cost():
    pages = replace(CONSUMED, shape=lambda size: (size * 4, 37440))
    target = SplitScratch(**EMPTY, row=lambda rows: 37440)
    assert report(target, pages, versions=AFFECTED) == (
        'The contract for "split:{device}" is broken in 2 of 15 clauses.\n\n'
        '1. initial value: ALLOC: allocate allocates "split:cuda:0" with torch.empty; the contract'
        " asks for zeros. Rows that a launch skips keep what the allocator recycled. Allocate with"
        " torch.zeros.\n\n"
        '2. growth initial value: ALLOC: allocate allocates "split:cuda:0" with torch.empty when it'
        " grows to 1.14 MiB; the contract asks for zeros. Rows that a launch skips keep what the"
        " allocator recycled. Allocate with torch.zeros.\n\n"
        "Hazard: live: flashinfer-python 0.6.18 is in force (sm120_versions), and the contract"
        " names flashinfer-python<=0.6.18 as affected.\n"
        "Cost of the initial value: one memset of 585 KiB (599,040 bytes) per (re)allocation, at"
        " size 4."
    )


def test_latent_hazard_fails_like_a_live_one():
    assert report(SplitScratch(**EMPTY), CONSUMED, versions=UNAFFECTED).splitlines()[-2:] == [
        "Hazard: latent: flashinfer-python 0.7.2 is in force (sm120_versions), which is outside"
        " <=0.6.18; the contract still asks for it, since another version of the consumer makes it"
        " live again.",
        "Cost of the initial value: one memset of 256 bytes per (re)allocation, at size 4.",
    ]


def test_hazard_and_cost_are_left_out_when_only_other_clauses_are_broken():
    target = SplitScratch(guard=lambda has, needs: False)
    assert report(target, CONSUMED, versions=AFFECTED) == (
        'The contract for "split:{device}" is broken in 1 of 12 clauses.\n\n'
        '1. growth re-allocates: ALLOC: allocate keeps "split:cuda:0" in the shape (16, 16) for the'
        ' step "larger" (size 8 on cuda:0), which needs (32, 16). A launch that is sized for the'
        " call writes past the end of the buffer. Allocate again when the kept buffer is smaller"
        " than what the call needs."
    )


SOFT = replace(CONSUMED, latent="warn")


def test_softened_latent_hazard_warns_once_at_the_check():
    target = SplitScratch(**EMPTY)
    with pytest.warns(HazardWarning) as caught:
        result = check(SOFT, target, bench=target.bench, versions=UNAFFECTED)
    [warning] = caught
    place = target.bench.recording.allocations()[0].site
    assert str(warning.message).startswith(
        'The contract for "split:{device}" is broken in 2 of 15 clauses.\n\n'
        f'1. initial value: {place}: allocate allocates "split:cuda:0" with torch.empty;'
    )
    assert warning.filename == __file__
    assert [finding.code for finding in result.findings] == [
        "initial value",
        "growth initial value",
    ]


def test_softened_hazard_fails_when_it_is_live():
    assert "broken in 2 of 15" in report(SplitScratch(**EMPTY), SOFT, versions=AFFECTED)


def test_softened_hazard_lets_other_clauses_fail():
    target = SplitScratch(**EMPTY, leaves_inference=False)
    with pytest.warns(HazardWarning):
        text = report(target, SOFT, versions=UNAFFECTED)
    assert text == (
        'The contract for "split:{device}" is broken in 1 of 13 clauses.\n\n'
        "1. not allocated in inference mode: ALLOC: allocate allocates"
        ' "split:cuda:0" with torch.empty in inference mode. It outlives that mode, and torch'
        " refuses to write into it outside (zero_(), copy_()). Allocate under"
        " torch.inference_mode(False), or set allow_inference=True in the contract when only"
        " kernels write it."
    )


def test_softened_contract_does_not_warn_when_only_other_clauses_are_broken():
    target = SplitScratch(guard=lambda has, needs: False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = report(target, SOFT, versions=UNAFFECTED)
    assert text.splitlines()[0] == (
        'The contract for "split:{device}" is broken in 1 of 12 clauses.'
    )


def test_softened_contract_that_holds_does_not_warn():
    target = SplitScratch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(SOFT, target, bench=target.bench, versions=UNAFFECTED)


def test_waste_is_reported_with_its_size():
    text = report(SplitScratch(), replace(CONTRACT, init="empty"), sizes=[4])
    assert text == (
        'The contract for "split:{device}" is broken in 1 of 8 clauses.\n\n'
        '1. initial value: ALLOC: allocate allocates "split:cuda:0" with torch.zeros; the contract'
        " asks for no initial value. One memset of 256 bytes per (re)allocation is for nothing."
        " Allocate with torch.empty, or correct init= when something reads what nobody wrote.\n\n"
        'Not judged: reuse on same size (sizes= names no size for the step "same"); reuse on'
        ' smaller size, never shrinks (sizes= names no size for the step "smaller"); growth'
        " re-allocates, growth initial value, growth dtype, growth shape (sizes= names no size for"
        ' the step "larger").'
    )


def test_missing_clearing_is_reported_with_the_launch_and_its_bytes():
    minus_one = replace(CONTRACT, init=("full", -1), cleared_each_call=True)
    target = SplitScratch(call="torch.full", fill=-1)
    assert report(target, minus_one, sizes=[4, 4]) == (
        'The contract for "split:{device}" is broken in 1 of 10 clauses.\n\n'
        "1. cleared on every call: LAUNCH: launch launches _split_kernel with bytes 0 to 256 of"
        ' "split:cuda:0" in the step "same" (size 4 on cuda:0), and that call has not set all of'
        " them to -1 before. What an earlier call left there is still there. Call fill_(-1) on that"
        " part of the buffer before the first launch of every call.\n\n"
        "Cost of the initial value: one memset of 256 bytes per call, at size 4.\n\n"
        "Not judged: reuse on smaller size, never shrinks (sizes= names no size for the step"
        ' "smaller"); growth re-allocates, growth initial value, growth dtype, growth shape (sizes='
        ' names no size for the step "larger").'
    )


def test_missing_device_in_the_key_is_reported_with_both_devices():
    target = SplitScratch(key=lambda device: "split")
    assert report(target).split("\n\n")[2] == (
        '2. one per device: ALLOC: allocate keeps "split" for cuda:0, and the call on cuda:1'
        " allocates none of its own and launches _split_kernel with the one on cuda:0 (LAUNCH)."
        " A kernel cannot follow a pointer into the other device's memory. Put the device into the"
        " key: cuda:0 and cuda:1 each need a buffer."
    )


def test_one_slot_for_both_devices_is_reported():
    target = SplitScratch(key=lambda device: "split:cuda:0", replaced_when_device_differs=True)
    assert report(target).split("\n\n")[1] == (
        "1. one per device: ALLOC: allocate keeps the buffers of cuda:0 and of cuda:1 under one"
        ' key, "split:cuda:0": the call on cuda:1 replaced the buffer of cuda:0. Calls that'
        " alternate between the devices then allocate every time. Put the device into the key:"
        " cuda:0 and cuda:1 each need a buffer."
    )


def test_fixed_device_is_reported():
    assert report(SplitScratch(device="cpu"), devices=["cuda:0"]).split("\n\n")[1] == (
        '1. device follows the input: ALLOC: allocate allocates "split:cuda:0" with torch.zeros on'
        ' cpu in the step "first" (size 4 on cuda:0). The buffer must lie where the call\'s input'
        " lies. Allocate with device= of the input."
    )


def test_buffer_that_nothing_keeps_is_reported_with_its_place():
    assert report(SplitScratch(stored=False, more_keys=("a",)), replace(CONTRACT, key="b:{device}"))
    target = SplitScratch(stored=False)
    assert report(target) == (
        'The contract for "split:{device}" is broken in 1 of 1 clauses.\n\n'
        "1. registered under its key: ALLOC: allocate allocates uint8[16, 16] on cuda:0 with"
        " torch.zeros, and nothing that is looked into keeps it. A buffer that nothing keeps is"
        " allocated by every call. Keep it in a dict that sm120.registry() made, show its owner to"
        " sm120.watch(owner), or keep it in a global of the target. A temporary that is freed with"
        " each call needs no Scratch contract."
    )


def test_other_buffers_that_nothing_keeps_are_counted():
    def drive(size, device):
        target.bench.allocate("torch.empty", (4,), "int32")
        target(size, device)

    target = SplitScratch(stored=False)
    with pytest.raises(ContractBroken, match="keeps it. The same is true of 1 more of its alloc"):
        check(CONTRACT, drive, bench=target.bench)


def test_other_keys_are_listed_when_it_is_not_clear_which_is_meant():
    target = SplitScratch(key="a:{}".format, more_keys=("b", "c"))
    text = report(target, devices=["cuda:0"])
    assert text == (
        'The contract for "split:{device}" is broken in 1 of 1 clauses.\n\n'
        '1. registered under its key: ALLOC: allocate keeps no buffer under "split:cuda:0", but'
        ' uint8[16, 16] on cuda:0 under "a:cuda:0" (ALLOC) and uint8[16, 16] on cuda:0 under "b"'
        ' (ALLOC) and uint8[16, 16] on cuda:0 under "c" (ALLOC). The contract is about the buffer'
        ' that is looked up under its key. Keep it under "split:cuda:0", or correct the contract\'s'
        " key=.\n\n"
        "Not judged: one per device (devices= names one device)."
    )


def test_drive_that_makes_its_inputs_on_one_device_only_is_told_so():
    bench = FakeBench()
    buffers = bench.registry()

    def drive(size, device):
        pages = bench.allocate("torch.zeros", (size,), device="cuda:0")
        if "split:cuda:0" not in buffers or buffers["split:cuda:0"].view.shape[0] < size * 4:
            buffers["split:cuda:0"] = bench.allocate("torch.zeros", (size * 4, 16), fill=0)
        bench.launch("_split_kernel", src=pages, dst=buffers["split:cuda:0"])

    with pytest.raises(ContractBroken) as caught:
        check(replace(CONTRACT, allow_inference=True), drive, bench=bench)
    [launch] = {record.site for record in bench.recording.launches()}
    assert str(caught.value) == (
        'The contract for "split:{device}" is broken in 1 of 14 clauses.\n\n'
        f"1. one per device: {launch}: launch launches _split_kernel with tensors on cuda:0 only,"
        ' in the step "second device" (size 4 on cuda:1). Whether each device gets a buffer of its'
        " own shows only when the inputs lie there. Let drive make its inputs on the device that it"
        " is given."
    )


@pytest.mark.parametrize(
    ("call", "init", "remedy"),
    [
        ("torch.empty", "zeros", "torch.zeros"),
        ("Tensor.new_empty", "zeros", "Tensor.new_zeros"),
        ("torch.empty_like", "zeros", "torch.zeros_like"),
        ("torch.empty_strided", "zeros", "torch.zeros"),
        ("torch.empty", ("full", -1), "torch.full(..., -1)"),
        ("torch.empty_like", ("full", -1), "torch.full_like(..., -1)"),
        ("empty", "zeros", "torch.zeros"),
    ],
)
def test_remedy_spells_the_call_that_sets_the_value(call, init, remedy):
    text = report(SplitScratch(call=call, fill=None), replace(CONTRACT, init=init), sizes=[4])
    assert f"Allocate with {remedy}.\n" in text


def test_computed_contents_are_no_initial_value():
    text = report(SplitScratch(call="torch.arange", fill=None), sizes=[4])
    assert "with torch.arange, which sets its elements to values of its own; the contract" in text


def test_result_prints_one_line_for_each_clause():
    target = SplitScratch()
    lines = str(check(CONTRACT, target, bench=target.bench)).splitlines()
    assert lines[0] == 'The contract for "split:{device}" holds in all 15 clauses judged.'
    assert lines[1] == "  held     initial value"
    assert lines[15] == (
        "  skipped  cleared on every call            not asked for (cleared_each_call=False)"
    )
    assert len(lines) == 23


def test_result_without_clauses_prints_its_headline():
    text = str(ContractResult("x", (ClauseResult("a", "skipped", reason="b"),)))
    assert text == "The contract for x holds in all 0 clauses judged.\n  skipped  a  b"


@pytest.mark.parametrize(
    ("contract", "cost"),
    [
        (CONTRACT, 256),
        (replace(CONTRACT, init="empty"), 0),
        (replace(CONTRACT, init="empty", cleared_each_call=True), 256),
    ],
)
def test_cost_is_what_the_contract_asks_to_set(contract, cost):
    target = SplitScratch(
        **(EMPTY if contract.init == "empty" else {}),
        cleared=(lambda rows: rows) if contract.cleared_each_call else None,
    )
    assert check(contract, target, bench=target.bench).cost_bytes == cost


def test_cost_of_a_split_scratch_for_two_million_tokens():
    contract = replace(CONTRACT, shape=lambda size: (size * 4, 37440))
    target = SplitScratch(row=lambda rows: 37440)
    result = check(contract, target, bench=target.bench, sizes=[8192])
    assert bytes_in_words(result.cost_bytes) == "1.14 GiB"
