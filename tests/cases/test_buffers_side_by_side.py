"""Buffers that one owner keeps side by side are reset, guarded, keyed and grown alike."""

from __future__ import annotations

from pytest_sm120 import Scratch, Siblings

REPLAY = """
    import torch

    class Replay:
        def __init__(self, capacity, device):
            with torch.inference_mode(False):
                self.positions = torch.zeros(capacity, dtype=torch.int64, device=device)
                self.lengths = torch.ones(capacity, dtype=torch.int64, device=device)

        def prepare(self, positions, lengths):
            count = positions.shape[0]
            self.lengths.fill_(1)
            self.positions[:count].copy_(positions)
            self.lengths[:count].copy_(lengths)

    runners = {}

    def prepare(positions, lengths):
        device = positions.device
        if device not in runners:
            runners[device] = Replay(8, device)
        runners[device].prepare(positions, lengths)
"""
ALIKE = Siblings(
    keys=["runners['{device}'].positions", "runners['{device}'].lengths"],
)
TITLE = (
    "The contract for the siblings \"runners['{device}'].positions\" and"
    " \"runners['{device}'].lengths\""
)


def prepare(sm120, module):
    def drive(size, device):
        positions = sm120.tensor((size,), dtype="int64", device=device)
        module.prepare(positions, sm120.tensor((size,), dtype="int64", device=device))

    return drive


def test_replay_buffer_that_keeps_the_tail_of_a_larger_batch_is_told(sm120, load, broken):
    assert broken(ALIKE, prepare(sm120, load(REPLAY))) == (
        f"{TITLE} is broken in 1 of 4 clauses.\n\n"
        "1. reset alike: target.py:12: prepare sets all of \"runners['cuda:0'].lengths\" anew in"
        ' the step "same" (size 4 on cuda:0), and not all of "runners[\'cuda:0\'].positions". What'
        " a larger call left in the other is still there, beside the new values of the one. Reset"
        " \"runners['cuda:0'].positions\" in the same place, too."
    )


def test_replay_buffers_that_are_both_reset_are_accepted(sm120, load):
    mended = REPLAY.replace(
        "self.lengths.fill_(1)\n", "self.lengths.fill_(1)\n            self.positions.zero_()\n"
    )
    result = sm120.check(ALIKE, prepare(sm120, load(mended)))
    assert [clause.outcome for clause in result.clauses] == ["held"] * 4 + ["skipped"]


LAZY = """
    import torch

    _scratch = {}
    _flags = {}

    def run(count, device):
        if device not in _scratch:
            with torch.inference_mode(False):
                _scratch[device] = torch.zeros(count, device=device)
            _flags[device] = torch.zeros(16, dtype=torch.int32, device=device)
        elif _scratch[device].numel() < count:
            with torch.inference_mode(False):
                _scratch[device] = torch.zeros(count, device=device)
        _scratch[device].add_(1)
"""
LAZY_ALIKE = Siblings(keys=["_scratch['{device}']", "_flags['{device}']"])
LAZY_TITLE = "The contract for the siblings \"_scratch['{device}']\" and \"_flags['{device}']\""


def test_sibling_without_the_guard_against_inference_mode_is_told(load, broken):
    module = load(LAZY)
    assert broken(LAZY_ALIKE, module.run) == (
        f"{LAZY_TITLE} is broken in 2 of 5 clauses.\n\n"
        "1. guarded alike: target.py:11: run allocates \"_flags['cuda:0']\" with torch.zeros in"
        " inference mode, and \"_scratch['cuda:0']\" is allocated outside it. It outlives that"
        " mode, and torch refuses to write into it outside (zero_(), copy_()). Allocate each of"
        " them under torch.inference_mode(False), or set allow_inference=True when only kernels"
        " write them.\n\n"
        "2. grow together: target.py:14: run allocates \"_scratch['cuda:0']\" with torch.zeros"
        ' again in the step "larger" (size 8 on cuda:0), and "_flags[\'{device}\']" stays as it'
        " was. What describes the larger call has no room in the smaller buffer. Let one guard"
        " decide for all of them."
    )


def test_sibling_that_need_not_grow_is_accepted_when_the_contract_says_so(sm120, load):
    module = load(LAZY.replace("            _flags[device]", "                _flags[device]"))
    contract = Siblings(keys=LAZY_ALIKE.keys, may_differ=["grow together"])
    sm120.check(contract, module.run)


SEPARATE = """
    import torch

    _scratch = {}
    _flags = {}

    def run(count, device):
        if device not in _scratch:
            _scratch[device] = torch.zeros(count, device=device)
        if "flags" not in _flags:
            _flags["flags"] = torch.zeros(16, dtype=torch.int32, device=device)
"""


def test_sibling_that_all_devices_share_is_told(load, broken):
    contract = Siblings(keys=["_scratch['{device}']", "_flags['flags']"], allow_inference=True)
    assert broken(contract, load(SEPARATE).run) == (
        "The contract for the siblings \"_scratch['{device}']\" and \"_flags['flags']\" is broken"
        " in 1 of 3 clauses.\n\n"
        "1. one each per device: target.py:9: The call on cuda:1 makes no buffer there for"
        " \"_flags['flags']\", though it makes \"_scratch['cuda:1']\". A kernel cannot follow a"
        " pointer into the other device's memory. Put the device into every key."
    )


BORN_INSIDE = """
    import torch

    _store = {}

    def buffer(count, device):
        if device not in _store or _store[device].numel() < count:
            _store[device] = torch.zeros(count, device=device)
        return _store[device]

    def run(count, device):
        buffer(count, device).zero_()
"""
STORE = Scratch(key="_store['{device}']", init="zeros", dtype="float32", shape=lambda size: (size,))


def test_buffer_that_is_born_in_inference_mode_is_told(load, broken):
    report = broken(STORE, load(BORN_INSIDE).run)
    assert report.splitlines()[-1] == (
        "1. not allocated in inference mode: target.py:8: buffer allocates \"_store['cuda:0']\""
        " with torch.zeros in inference mode. It outlives that mode, and torch refuses to write"
        " into it outside (zero_(), copy_()). Allocate under torch.inference_mode(False), or set"
        " allow_inference=True in the contract when only kernels write it."
    )


def test_buffer_that_is_born_outside_inference_mode_is_accepted(sm120, load):
    guarded = BORN_INSIDE.replace(
        "            _store[device] = torch",
        "            with torch.inference_mode(False):\n                _store[device] = torch",
    )
    sm120.check(STORE, load(guarded).run)
