"""A key that names no device: whether that is a defect is judged, not refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_sm120.contracts import check
from pytest_sm120.errors import ContractBroken, UsageError
from pytest_sm120.recorder.holders import WatchedObject
from tests.contracts.fake_targets import CONTRACT, Driven, FakeBench, FakeTensor, SplitScratch
from tests.contracts.test_clauses import names_of_broken

ONE_KEY = replace(CONTRACT, key="split")
REMEDY = (
    " Put the device into the key: cuda:0 and cuda:1 each need a buffer. Where it is meant for one"
    ' device only, pass devices=["cuda:0"].'
)


def report(target, contract=ONE_KEY, **options):
    with pytest.raises(ContractBroken) as caught:
        check(contract, target, bench=target.bench, **options)
    return str(caught.value)


@pytest.mark.parametrize("key", ["split", lambda device: "split"])
def test_buffer_that_all_devices_get_breaks_one_clause(key):
    target = SplitScratch(key=lambda device: "split")
    told = report(target, replace(ONE_KEY, key=key))
    place = target.bench.recording.allocations()[0].site
    launch = target.bench.recording.launches()[0].site
    assert told == (
        'The contract for "split" is broken in 1 of 15 clauses.\n\n'
        f'1. one per device: {place}: allocate keeps "split" for cuda:0, and the call on cuda:1'
        " allocates none of its own and launches _split_kernel with the one on cuda:0"
        f" ({launch}). A kernel cannot follow a pointer into the other device's memory." + REMEDY
    )


def test_buffer_that_the_other_device_replaces_breaks_one_clause():
    target = SplitScratch(key=lambda device: "split", replaced_when_device_differs=True)
    told = report(target)
    place = target.bench.recording.allocations()[0].site
    assert told == (
        'The contract for "split" is broken in 1 of 14 clauses.\n\n'
        f"1. one per device: {place}: allocate keeps the buffers of cuda:0 and of cuda:1 under one"
        ' key, "split": the call on cuda:1 replaced the buffer of cuda:0. Calls that alternate'
        " between the devices then allocate every time." + REMEDY + "\n\nNot judged: reuse under"
        ' capture (the other device took its place (see "one per device")).'
    )


def test_buffer_for_one_device_is_accepted_when_that_device_alone_is_driven():
    target = SplitScratch(key=lambda device: "split")
    result = check(ONE_KEY, target, bench=target.bench, devices=["cuda:0"])
    assert {each.name: each.reason for each in result.unjudged} == {
        "one per device": "devices= names one device"
    }


NAMES_OF_ALIKE = [{"cuda:0": "alike:cuda:0", "cuda:1": "alike:cuda:1"}, {"cuda:1": "right"}]


@pytest.mark.parametrize("launched", [True, False])
@pytest.mark.parametrize("names", NAMES_OF_ALIKE)
def test_other_buffers_of_the_second_device_do_not_stand_for_the_one_that_is_missing(
    names, launched
):
    def drive(size, device):
        if launched:
            target(size, device)
        else:
            target.scratch(size * 4, device)
        if device in names:
            target.buffers[names[device]] = target.bench.allocate(
                "torch.empty", (16, 16), device=device
            )

    target = SplitScratch(key=lambda device: "split")
    driven = Driven(target.bench, drive)
    if launched or "cuda:0" in names:
        assert names_of_broken(driven, ONE_KEY) == ["one per device"]
    else:
        with pytest.raises(UsageError, match="Put {device} into the key"):
            check(ONE_KEY, driven, bench=target.bench)


def test_buffer_that_nobody_keeps_breaks_its_own_clause():
    assert names_of_broken(SplitScratch(stored=False), ONE_KEY) == ["registered under its key"]


def test_buffers_kept_by_device_in_what_the_key_names_are_one_per_device():
    target = SplitScratch(key="split[{}]".format)
    result = check(ONE_KEY, target, bench=target.bench)
    [clause] = [each for each in result.clauses if each.name == "one per device"]
    assert clause.outcome == "held"


class Owner:
    """One for each device, with a buffer in an attribute."""

    split: FakeTensor | None = None


def test_owners_of_each_device_may_call_the_attribute_alike():
    bench, owners = FakeBench(), {}

    def drive(size, device):
        if device not in owners:
            owners[device] = Owner()
            bench.recording.follow(WatchedObject(owners[device], bench.recording.add_store))
        owner = owners[device]
        if owner.split is None or owner.split.view.shape[0] < size * 4:
            with bench.inference_mode(False):
                owner.split = bench.allocate("torch.zeros", (size * 4, 16), device=device, fill=0)

    assert names_of_broken(Driven(bench, drive), ONE_KEY) == []


def test_buffer_that_was_replaced_but_is_kept_elsewhere_was_replaced():
    target = SplitScratch(key=lambda device: "split", replaced_when_device_differs=True)
    retired = target.bench.registry()

    def drive(size, device):
        retired[len(retired)] = target(size, device)

    assert names_of_broken(Driven(target.bench, drive), ONE_KEY) == ["one per device"]


def test_key_that_names_the_first_device_where_the_other_has_its_own_is_refused():
    target = SplitScratch()
    with pytest.raises(UsageError) as caught:
        check(replace(CONTRACT, key="split:cuda:0"), target, bench=target.bench)
    place = target.bench.recording.allocations()[-1].site
    assert str(caught.value) == (
        'Scratch(key=) is "split:cuda:0" on cuda:0 and on cuda:1, and the call on cuda:1 keeps'
        f' uint8[16, 16] on cuda:1 under "split:cuda:1" ({place}). The contract then says nothing'
        ' about that buffer. Put {device} into the key, or pass devices=["cuda:0"].'
    )


def test_key_of_the_first_device_is_refused_also_where_the_other_is_of_another_kind():
    keys = {"cuda:0": "left", "cuda:1": "right"}
    target = SplitScratch(key=keys.get)
    with pytest.raises(UsageError) as caught:
        check(replace(CONTRACT, key="left"), target, bench=target.bench)
    assert caught.value.cause.startswith('Scratch(key=) is "left" on cuda:0 and on cuda:1, and')


def test_replacing_is_told_in_any_order_of_calls():
    target = SplitScratch(key=lambda device: "split", replaced_when_device_differs=True)
    told = report(target, thorough=True)
    assert told.startswith('The contract for "split" is broken in 1 of 14 clauses.')
