"""Random orders of calls find what the planned calls do not reach, and shorten it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_sm120.contracts import check
from pytest_sm120.contracts.any_order import search_any_order
from pytest_sm120.errors import ContractBroken, UsageError
from tests.contracts.fake_targets import CONTRACT, SplitScratch
from tests.contracts.test_clauses import DEFECTS, GOOD

# What only shows in the planned calls: in inference mode, under other keys, or on every launch.
NOT_OF_ORDER = {"other key", "born in inference mode", "not cleared", "cleared in part"}
DEVICES = ["cuda:0", "cuda:1"]


def search(target, contract=CONTRACT):
    deviation = search_any_order(contract, target, target.bench, [4, 4, 2, 8], DEVICES)
    return deviation and deviation.finding


@pytest.mark.parametrize("name", GOOD)
def test_good_target_holds_in_any_order(name):
    fields, contract = GOOD[name]
    target = SplitScratch(**fields)
    result = check(contract, target, bench=target.bench, thorough=True)
    assert result.clauses[-1].name == "any order of calls"
    assert result.clauses[-1].outcome == "held"


@pytest.mark.parametrize("name", [name for name in DEFECTS if name not in NOT_OF_ORDER])
def test_defect_is_found_in_some_order(name):
    fields, contract, _ = DEFECTS[name]
    assert search(SplitScratch(**fields), contract).code == "any order of calls"


class GrowsByHalf(SplitScratch):
    """Takes half as much again as it has when it grows."""

    def allocate(self, rows, device, grows):
        kept = self.buffers.get(self.key(device))
        more = kept.view.shape[0] * 3 // 2 if kept else 0
        return super().allocate(max(rows, more), device, grows)


def test_growth_by_a_factor_holds_in_any_order_when_the_shape_is_the_least():
    target = GrowsByHalf()
    contract = replace(CONTRACT, at_least=True)
    result = check(contract, target, bench=target.bench, sizes=[4, 4, 2, 5], thorough=True)
    assert result.clauses[-1].outcome == "held"


@pytest.mark.parametrize(("row", "rank"), [(8, (16,)), (16, (16, 1))])
def test_smaller_shape_and_another_rank_are_not_the_least(row, rank):
    target = SplitScratch(row=lambda rows: row)
    contract = replace(CONTRACT, shape=lambda size: (size * 4, *rank), at_least=True)
    with pytest.raises(ContractBroken, match=r"\. shape: "):
        check(contract, target, bench=target.bench)


def test_missing_growth_is_found_without_a_shape_never():
    target = SplitScratch(guard=lambda has, needs: False)
    assert search(target, replace(CONTRACT, shape=None)) is None


def test_missing_growth_prints_the_shortest_sequence():
    target = SplitScratch(guard=lambda has, needs: False)
    finding = search(target)
    assert finding.message.replace(finding.site, "ALLOC") == (
        'ALLOC: allocate keeps "split:cuda:0" in the shape (8, 16) for the step "call 2" (size 3 on'
        " cuda:0), which needs (12, 16). A launch that is sized for the call writes past the end of"
        " the buffer. The shortest sequence of calls that shows it is: 2 on cuda:0, 3 on cuda:0."
        " Allocate again when the kept buffer is smaller than what the call needs."
    )


def test_missing_device_in_the_key_prints_the_shortest_sequence():
    finding = search(SplitScratch(key=lambda device: "split"))
    assert finding.message == (
        'no buffer is kept under "split:cuda:1" after the step "call 2" (size 2 on cuda:1). Each'
        " device needs a buffer of its own. The shortest sequence of calls that shows it is: 2 on"
        " cuda:0, 2 on cuda:1. Put the device into the key."
    )


def test_one_slot_for_both_devices_prints_the_shortest_sequence():
    target = SplitScratch(key=lambda device: "split", replaced_when_device_differs=True)
    finding = search(target)
    assert finding.message.replace(finding.site, "ALLOC") == (
        'ALLOC: allocate allocates "split" with torch.zeros in the step "call 2" (size 2 on'
        " cuda:1), which is the key of the other device. Calls that alternate between the devices"
        " then allocate every time. The shortest sequence of calls that shows it is: 2 on cuda:0,"
        " 2 on cuda:1. Put the device into the key."
    )


def odd_sizes_allocate(target):
    """Let the guard fail on an odd size only, which the planned calls never pass."""
    target.guard = lambda has, needs: has < needs or needs % 8 == 4
    return target


def test_what_planned_calls_miss_breaks_the_contract():
    target = odd_sizes_allocate(SplitScratch())
    assert not check(CONTRACT, target, bench=target.bench).findings
    with pytest.raises(ContractBroken) as caught:
        check(CONTRACT, target, bench=target.bench, thorough=True)
    place = target.bench.recording.allocations()[0].site
    assert str(caught.value) == (
        'The contract for "split:{device}" is broken in 1 of 16 clauses.\n\n'
        f'1. any order of calls: {place}: allocate allocates "split:cuda:0" with torch.zeros again'
        ' in the step "call 2" (size 3 on cuda:0), though an earlier call needed as much. A'
        " persistent buffer is allocated once, and again only to grow. The shortest sequence of"
        " calls that shows it is: 3 on cuda:0, 3 on cuda:0. Allocate only when nothing is kept"
        " under the key or the kept buffer is smaller than what the call needs."
    )


def test_search_is_left_out_when_the_planned_calls_break_the_contract():
    target = SplitScratch(guard=int.__le__)
    with pytest.raises(ContractBroken, match="is broken in 1 of 14 clauses"):
        check(CONTRACT, target, bench=target.bench, thorough=True)


def test_search_is_left_out_when_a_planned_call_raised():
    calls = []

    def drive(size, device):
        calls.append(size)
        if size == 8:
            raise ValueError(size)
        target(size, device)

    target = SplitScratch()
    with pytest.raises(ContractBroken, match="could not be judged to the end"):
        check(CONTRACT, drive, bench=target.bench, thorough=True)
    assert calls == [4, 4, 2, 8]


def test_error_in_some_order_is_reported_and_kept_as_the_cause():
    def drive(size, device):
        if size == 5:
            raise ValueError("five")
        target(size, device)

    target = SplitScratch()
    with pytest.raises(ContractBroken) as caught:
        check(CONTRACT, drive, bench=target.bench, thorough=True)
    assert str(caught.value) == (
        'The contract for "split:{device}" is broken in 1 of 16 clauses.\n\n'
        '1. any order of calls: drive raised ValueError: five in the step "call 1" (size 5 on'
        " cuda:0). Each size and each device can be called at any time. The shortest sequence of"
        " calls that shows it is: 5 on cuda:0."
    )
    assert isinstance(caught.value.__cause__, ValueError)


def test_state_that_no_holder_shows_is_refused():
    calls = []

    def drive(size, device):
        calls.append(size)
        target.call, target.fill = ("torch.empty", None) if len(calls) == 9 else ("torch.zeros", 0)
        target(size, device)

    target = SplitScratch()
    with pytest.raises(UsageError) as caught:
        check(CONTRACT, drive, bench=target.bench, thorough=True)
    assert str(caught.value) == (
        "The same sequence of calls broke the contract once and held it once. Each sequence starts"
        " from what the holders held, so the target keeps state that none of them shows. Show the"
        " object that has it to sm120.watch(), or leave thorough=True out."
    )


def test_holders_are_put_back_after_the_search():
    target = SplitScratch()
    check(CONTRACT, target, bench=target.bench, thorough=True)
    assert target.buffers == {}
