"""Siblings: what is refused, what cannot be judged, and what differs."""

from __future__ import annotations

import re

import pytest

from pytest_sm120 import Siblings
from pytest_sm120.contracts import check
from pytest_sm120.errors import ContractBroken, UsageError
from tests.contracts.fake_targets import Driven, FakeBench, Options

__sm120_target__ = True

PAIR = Siblings(keys=["a:{device}", "b:{device}"], allow_inference=True)
REFUSED: dict[str, tuple[Options, str]] = {
    "one text": (
        {"keys": "ab"},
        "Siblings(keys='ab') does not name two buffers. They are compared with each other. Write"
        ' their keys in a list, e.g. keys=["positions", "lengths"].',
    ),
    "one key": (
        {"keys": ["ab"]},
        "Siblings(keys=['ab']) does not name two buffers. They are compared with each other. Write"
        ' their keys in a list, e.g. keys=["positions", "lengths"].',
    ),
    "tuple": (
        {"keys": ["ab", ("ab", 1)]},
        "Siblings(keys=('ab', 1)) is neither a text nor a function. A key is a template such as"
        ' "split:{device}", or a function of the device. For other keys write a function, e.g.'
        ' key=lambda device: ("ws", device).',
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_siblings_are_refused_when_a_field_cannot_be_understood(name):
    fields, message = REFUSED[name]
    with pytest.raises(UsageError) as caught:
        Siblings(**fields)
    assert str(caught.value) == message


class Pair:
    """A target that keeps two buffers; ``use`` follows in every call."""

    def __init__(self, use=lambda bench, first, second, size: None, keys=("a:{}", "b:{}")):
        self.bench, self.use, self.keys = FakeBench(), use, keys
        self.buffers = self.bench.registry()

    def __call__(self, size, device):
        kept = []
        for key in self.keys:
            named = key.format(device)
            if named not in self.buffers or self.buffers[named].view.shape[0] < size:
                self.buffers[named] = self.bench.allocate("torch.zeros", (size, 4), device=device)
            kept.append(self.buffers[named])
        self.use(self.bench, kept[0], kept[-1], size)


def outcome(target, contract=PAIR, **options):
    try:
        result = check(contract, target, bench=target.bench, **options)
    except ContractBroken as error:
        return re.sub(r"fake_targets\.py:\d+", "fake_targets.py:N", str(error))
    return {clause.name: clause.reason or clause.outcome for clause in result.clauses}


def test_siblings_that_are_treated_alike_are_accepted():
    assert outcome(Pair()) == {
        "kept under their keys": "held",
        "guarded alike": "not asked for (allow_inference=True)",
        "reset alike": "held",
        "one each per device": "held",
        "grow together": "held",
    }


def test_clauses_without_their_step_say_why():
    found = outcome(Pair(), sizes=[4], devices=["cuda:0"])
    assert found["grow together"] == 'sizes= names no size for the step "larger"'
    assert found["one each per device"] == "devices= names one device"


def test_growth_of_none_is_not_judged():
    found = outcome(Pair(), sizes=[4, 4, 2])
    assert found["grow together"] == 'sizes= names no size for the step "larger"'
    fixed = Pair()
    inner = fixed.__call__
    fixed_size = Driven(fixed.bench, lambda size, device: inner(16, device))
    assert outcome(fixed_size)["grow together"] == "the larger call allocated no other buffer"


def test_clause_that_does_not_exist_is_refused():
    contract = Siblings(keys=PAIR.keys, may_differ=["growth"])
    with pytest.raises(UsageError) as caught:
        check(contract, Pair(), bench=FakeBench())
    assert str(caught.value) == (
        "Siblings(may_differ=) names 'growth'. The clauses are: kept under their keys, guarded"
        " alike, reset alike, one each per device, grow together. Write it as in the report."
    )


def test_clause_in_which_they_may_differ_is_not_asked_for():
    contract = Siblings(keys=PAIR.keys, allow_inference=True, may_differ=["reset alike"])
    target = Pair(use=lambda bench, first, second, size: bench.fill(first))
    assert outcome(target, contract)["reset alike"] == (
        "not asked for (may_differ=['reset alike'])"
    )


def test_sibling_that_is_not_found_is_told_with_what_is_kept():
    contract = Siblings(keys=["a:{device}", "c:{device}"])
    assert outcome(Pair(), contract) == (
        'The contract for the siblings "a:{device}" and "c:{device}" is broken in 2 of 2'
        " clauses.\n\n"
        '1. kept under their keys: fake_targets.py:N: the step "first" (size 4 on cuda:0) kept'
        ' nothing under "c:{device}", but "a:cuda:0" (fake_targets.py:N), "b:cuda:0"'
        " (fake_targets.py:N). Buffers are found where they are looked up. Correct the contract's"
        " keys=, or keep them in a dict that sm120.registry() made, in an object given to"
        " sm120.watch, or in a global of the target.\n\n"
        '2. guarded alike: fake_targets.py:N: allocate allocates "a:cuda:0" with torch.zeros in'
        " inference mode. It outlives that mode, and torch refuses to write into it outside"
        " (zero_(), copy_()). Allocate each of them under torch.inference_mode(False), or set"
        " allow_inference=True when only kernels write them.\n\n"
        "Not judged: reset alike, one each per device, grow together (not all of them were found"
        ' (see "kept under their keys")).'
    )


def test_nothing_kept_at_all_is_said():
    target = Driven(FakeBench(), lambda size, device: None)
    assert outcome(target, Siblings(keys=PAIR.keys)) == (
        'The contract for the siblings "a:{device}" and "b:{device}" is broken in 1 of 1'
        " clauses.\n\n"
        '1. kept under their keys: the step "first" (size 4 on cuda:0) kept nothing under'
        ' "a:{device}" and "b:{device}", but nothing at all. Buffers are found where they are'
        " looked up. Correct the contract's keys=, or keep them in a dict that sm120.registry()"
        " made, in an object given to sm120.watch, or in a global of the target.\n\n"
        "Not judged: guarded alike, reset alike, one each per device, grow together (not all of"
        ' them were found (see "kept under their keys")).'
    )


def test_all_that_are_born_in_inference_mode_are_named():
    report = outcome(Pair(), Siblings(keys=PAIR.keys))
    assert report.splitlines()[-1] == (
        '1. guarded alike: fake_targets.py:N: allocate allocates "a:cuda:0" with torch.zeros in'
        ' inference mode. So is "b:cuda:0". It outlives'
        " that mode, and torch refuses to write into it outside (zero_(), copy_()). Allocate each"
        " of them under torch.inference_mode(False), or set allow_inference=True when only kernels"
        " write them."
    )


def test_drive_that_fails_at_once_leaves_nothing_judged():
    bench = FakeBench()

    def drive(size, device):
        raise KeyError(device)

    assert outcome(Driven(bench, drive)) == (
        'The contract for the siblings "a:{device}" and "b:{device}" could not be judged to the'
        " end.\n\n"
        "In the step \"first\" (size 4 on cuda:0) drive raised KeyError: 'cuda:0'. That call and"
        " those after it were not judged."
    )


def fill_first(bench, first, second, size):
    bench.fill(first)
    bench.launch("kernel", a=first, b=second)


def fill_both(bench, first, second, size):
    fill_first(bench, first, second, size)
    bench.fill(second)


def fill_parts(bench, first, second, size):
    bench.fill(first.rows(1))
    bench.fill(first.rows(first.view.shape[0], 1))


@pytest.mark.parametrize("use", [fill_first, fill_both, fill_parts])
def test_reset_of_one_is_told_when_it_comes_before_the_launch(use):
    report = outcome(Pair(use=use))
    assert report.partition("\n\n")[2] == (
        '1. reset alike: fake_targets.py:N: fill sets all of "a:cuda:0" anew in the step "same"'
        ' (size 4 on cuda:0), and not all of "b:cuda:0". What a larger call left in the other is'
        ' still there, beside the new values of the one. Reset "b:cuda:0" in the same place, too.'
    )


def test_part_that_is_set_resets_nothing():
    target = Pair(use=lambda bench, first, second, size: bench.fill(first.rows(1)))
    assert outcome(target)["reset alike"] == "held"


def test_devices_that_share_all_of_them_are_told():
    contract = Siblings(keys=["a", "b"], allow_inference=True)
    assert outcome(Pair(keys=("a", "b")), contract).partition("\n\n")[2] == (
        '1. one each per device: The call on cuda:1 makes no buffer there for "a" and "b". A'
        " kernel cannot follow a pointer into the other device's memory. Put the device into every"
        " key."
    )


def test_title_of_key_functions_is_their_first_key():
    contract = Siblings(keys=[lambda device: ("a", device), "b"])
    assert contract.title == "the siblings ('a', 'cuda:0') and \"b\""
