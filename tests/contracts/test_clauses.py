"""Each defect of a target breaks the clauses that it truly breaks, and no others."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import pytest

from pytest_sm120.contracts import Scratch, check
from pytest_sm120.contracts.clauses import CLAUSES
from pytest_sm120.errors import ContractBroken
from tests.contracts.fake_targets import CONTRACT, Options, SplitScratch

EMPTY: Options = {"call": "torch.empty", "fill": None}
MINUS_ONE = replace(CONTRACT, init=("full", -1))
CLEARED = replace(CONTRACT, cleared_each_call=True)
ONE_DEVICE: Options = {"devices": ["cuda:0"]}


def names_of_broken(target, contract=CONTRACT, **options):
    try:
        check(contract, target, bench=target.bench, **options)
    except ContractBroken as error:
        lines = str(error).splitlines()
        return [line.split(": ")[0].split(". ")[1] for line in lines if line[:1].isdigit()]
    return []


GOOD: dict[str, tuple[Options, Scratch]] = {
    "zeros": ({}, CONTRACT),
    "zero_ after empty": ({**EMPTY, "filled_rows": lambda rows: (0, rows)}, CONTRACT),
    "full of 0": ({"call": "torch.full"}, CONTRACT),
    "full of -1": ({"call": "torch.full", "fill": -1}, MINUS_ONE),
    "full of NaN": ({"call": "torch.full", "fill": nan}, replace(CONTRACT, init=("full", nan))),
    "empty": (EMPTY, replace(CONTRACT, init="empty")),
    "cleared on every call": ({**EMPTY, "cleared": lambda rows: rows}, CLEARED),
    "born in inference mode": (
        {"leaves_inference": False},
        replace(CONTRACT, allow_inference=True),
    ),
    "no shape": ({}, replace(CONTRACT, shape=None)),
    "key of a function": (
        {"key": lambda device: ("ws", int(device[-1]))},
        replace(CONTRACT, key=lambda device: ("ws", int(device[-1]))),
    ),
    "more buffers": ({"more_keys": ("other",)}, CONTRACT),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_target_breaks_no_clause(name):
    fields, contract = GOOD[name]
    assert names_of_broken(SplitScratch(**fields), contract) == []


def test_good_target_holds_every_clause_that_is_asked_for():
    target = SplitScratch(cleared=lambda rows: rows)
    result = check(CLEARED, target, bench=target.bench)
    asked = [clause for clause in result.clauses if not clause.reason.startswith("not asked for")]
    assert {clause.outcome for clause in asked} == {"held"} and len(asked) == 16
    assert len(result.clauses) == len(CLAUSES)


INITIAL = ["initial value", "growth initial value"]
DEFECTS: dict[str, tuple[Options, Scratch, list[str]]] = {
    "empty": (EMPTY, CONTRACT, INITIAL),
    "half of it set": ({**EMPTY, "filled_rows": lambda rows: (0, rows // 2)}, CONTRACT, INITIAL),
    "its end set": ({**EMPTY, "filled_rows": lambda rows: (1, rows)}, CONTRACT, INITIAL),
    "another value": ({"call": "torch.full", "fill": 7}, CONTRACT, INITIAL),
    "zeros for -1": ({}, MINUS_ONE, INITIAL),
    "zeros for nothing": ({}, replace(CONTRACT, init="empty"), INITIAL),
    "empty on growth": ({"growth": ("torch.empty", None)}, CONTRACT, INITIAL[1:]),
    "zeros on growth alone": (
        {**EMPTY, "growth": ("torch.zeros", 0)},
        CONTRACT,
        INITIAL[:1],
    ),
    "no guard": ({"guard": lambda has, needs: False}, CONTRACT, ["growth re-allocates"]),
    "guard with !=": (
        {"guard": int.__ne__},
        CONTRACT,
        ["reuse on smaller size", "never shrinks"],
    ),
    "guard with <=": ({"guard": int.__le__}, CONTRACT, ["reuse on same size"]),
    "always allocates": (
        {"guard": lambda has, needs: True},
        CONTRACT,
        ["reuse on same size", "reuse on smaller size", "never shrinks"],
    ),
    "no device in the key": (
        {"key": lambda device: "split"},
        CONTRACT,
        ["registered under its key", "one per device"],
    ),
    "one slot for all devices": (
        {"key": lambda device: "split", "replaced_when_device_differs": True},
        CONTRACT,
        ["registered under its key", "one per device"],
    ),
    "first device in the key": (
        {"key": lambda device: "split:cuda:0", "replaced_when_device_differs": True},
        CONTRACT,
        ["one per device"],
    ),
    "fixed device": ({"device": "cuda:0"}, CONTRACT, ["device follows the input"]),
    "not stored": ({"stored": False}, CONTRACT, ["registered under its key"]),
    "other key": (
        {"key": "page_split:{}".format},
        CONTRACT,
        ["registered under its key"],
    ),
    "wrong dtype": ({"dtype": "int8"}, CONTRACT, ["dtype", "growth dtype"]),
    "wrong shape": ({"row": lambda rows: 32}, CONTRACT, ["shape", "growth shape"]),
    "wrong shape on growth": (
        {"row": lambda rows: 16 if rows <= 16 else 32},
        CONTRACT,
        ["growth shape"],
    ),
    "born in inference mode": (
        {"leaves_inference": False},
        CONTRACT,
        ["not allocated in inference mode"],
    ),
    "not cleared": ({}, CLEARED, ["cleared on every call"]),
    "cleared in part": (
        {"cleared": lambda rows: rows - 1},
        CLEARED,
        ["cleared on every call"],
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_breaks_its_own_clauses_only(name):
    fields, contract, broken = DEFECTS[name]
    assert names_of_broken(SplitScratch(**fields), contract) == broken


ABOUT_DEVICES = {"no device in the key", "fixed device"}


@pytest.mark.parametrize("name", [name for name in DEFECTS if name not in ABOUT_DEVICES])
def test_defect_is_found_on_one_device_unless_it_is_about_devices(name):
    fields, contract, broken = DEFECTS[name]
    expected = [clause for clause in broken if clause != "one per device"]
    assert names_of_broken(SplitScratch(**fields), contract, **ONE_DEVICE) == expected


def test_allocation_under_capture_breaks_reuse_under_capture():
    target = SplitScratch()
    target.guard = lambda has, needs: has < needs or target.bench.capturing
    assert names_of_broken(target) == ["reuse under capture"]


def outcomes(target, contract=CONTRACT, **options):
    result = check(contract, target, bench=target.bench, **options)
    return {clause.name: clause.reason for clause in result.clauses if clause.outcome == "skipped"}


def test_clauses_are_skipped_with_the_reason_when_sizes_and_devices_are_few():
    assert outcomes(SplitScratch(), sizes=[4], devices=["cuda:0"]) == {
        "reuse on same size": 'sizes= names no size for the step "same"',
        "reuse on smaller size": 'sizes= names no size for the step "smaller"',
        "growth re-allocates": 'sizes= names no size for the step "larger"',
        "growth initial value": 'sizes= names no size for the step "larger"',
        "growth dtype": 'sizes= names no size for the step "larger"',
        "growth shape": 'sizes= names no size for the step "larger"',
        "never shrinks": 'sizes= names no size for the step "smaller"',
        "one per device": "devices= names one device",
        "cleared on every call": "not asked for (cleared_each_call=False)",
        "one per stream": "not asked for (per_stream=False)",
        "one per dtype": "not asked for (per_dtype=None)",
        "one for every spelling": "not asked for (any_spelling=False)",
        "kept alive for graphs": "not asked for (outlives_graphs=False)",
        "not grown under capture": "not asked for (grows_outside_capture=False)",
        "not handed out": "not asked for (private=False)",
    }
