"""Clauses that only some contracts ask for: what cannot be judged says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_sm120.contracts import ContractResult, check
from pytest_sm120.errors import ContractBroken
from tests.contracts.fake_targets import CONTRACT, FakeBench, Options, SplitScratch

FIELDS: dict[str, Options] = {
    "one per stream": {"per_stream": True},
    "one per dtype": {"per_dtype": "int8"},
    "one for every spelling": {"any_spelling": True},
    "kept alive for graphs": {"outlives_graphs": True},
    "not grown under capture": {"grows_outside_capture": True},
    "not handed out": {"private": True},
}
# Those for which the code under test is called once more.
CALLING = [name for name in FIELDS if name != "not handed out"]


def outcome(name, drive, bench, **options):
    contract = replace(CONTRACT, allow_inference=True, **FIELDS[name])
    try:
        clauses = check(contract, drive, bench=bench, **options).clauses
    except ContractBroken as broken:
        assert isinstance(broken.result, ContractResult)
        clauses = broken.result.clauses
    [clause] = [clause for clause in clauses if clause.name == name]
    return clause.reason or clause.outcome


@pytest.mark.parametrize("name", FIELDS)
def test_clause_is_not_judged_when_the_buffer_is_not_found(name):
    target = SplitScratch(stored=False)

    def drive(size, device, dtype="uint8"):
        target(size, device)

    assert outcome(name, drive, target.bench) == (
        'the buffer was not found (see "registered under its key")'
    )


@pytest.mark.parametrize("name", CALLING)
def test_clause_is_not_judged_when_an_earlier_call_fails(name):
    target = SplitScratch()

    def drive(size, device, dtype="uint8"):
        if device == "cuda:1":
            raise KeyError(device)
        target(size, device)

    assert outcome(name, drive, target.bench) == (
        "the step \"second device\" (size 4 on cuda:1) raised KeyError: 'cuda:1'"
    )


@pytest.mark.parametrize("name", ["one per stream", "one per dtype"])
def test_own_memory_is_not_judged_when_the_call_works_in_none(name):
    target = SplitScratch()
    bench = target.bench

    def drive(size, device, dtype="uint8"):
        if bench.stream == 0 and dtype == "uint8":
            target(size, device)

    reason = outcome(name, drive, bench)
    assert reason.endswith("(size 4 on cuda:0) was given no buffer by any launch or call")


def test_growth_under_capture_is_not_judged_when_nothing_grows():
    # A larger call works in a view of what is there: it allocates nothing at all.
    target = SplitScratch()

    def drive(size, device):
        if size <= 8:
            target(size, device)

    reason = outcome("not grown under capture", drive, target.bench)
    assert reason == "a call of size 32 allocated no other buffer"


def test_graphs_are_not_judged_when_nothing_grows():
    target = SplitScratch()
    reason = outcome(
        "kept alive for graphs", lambda size, device: target(min(size, 8), device), target.bench
    )
    assert reason == "a call of size 16 allocated no other buffer"


def test_graphs_are_not_judged_when_no_capture_took_the_buffer():
    bench = FakeBench()
    target = SplitScratch(bench)
    reason = outcome(
        "kept alive for graphs", lambda size, device: target.scratch(size * 4, device), bench
    )
    assert reason == "no launch and no call was given the buffer under capture"


def test_another_first_device_has_one_spelling_less():
    target = SplitScratch()
    devices = ["cuda:1", "cuda:0"]
    seen = []

    def drive(size, device):
        seen.append(device)
        target(size, str(device))

    assert outcome("one for every spelling", drive, target.bench, devices=devices) == "held"
    assert [str(device) for device in seen[6:]] == ["cuda:1"]
