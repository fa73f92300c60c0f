"""Buffers that a function keeps: in what it closes over, in a default, in the results it caches."""

from __future__ import annotations

import pytest

from pytest_sm120 import Scratch

HEAD = """
    import functools
    import torch

    def _make(count, device):
        with torch.inference_mode(False):
            return torch.zeros(count, device=device)

"""
CLOSURE = """
    def _maker():
        kept = {}

        def run(count, device):
            if device not in kept or kept[device].numel() < count:
                kept[device] = _make(count, device)
            return kept[device]

        return run

    run = _maker()
"""
DEFAULT = """
    def run(count, device, _kept={}):
        if device not in _kept or _kept[device].numel() < count:
            _kept[device] = _make(count, device)
        return _kept[device]
"""
KEYWORD_DEFAULT = DEFAULT.replace("device, _kept", "device, *, _kept")
CACHED = """
    @functools.cache
    def _workspace(device, rows=16):
        return _make(rows, device)

    def run(count, device):
        return _workspace(device, rows=16) if count == 3 else _workspace(device)
"""
BOUNDED = CACHED.replace("functools.cache", "functools.lru_cache(maxsize=4)")
CASES = {
    "closure": (CLOSURE, "run.kept['{device}']"),
    "default": (DEFAULT, "run._kept['{device}']"),
    "default of a keyword": (KEYWORD_DEFAULT, "run._kept['{device}']"),
    "cache": (CACHED, "_workspace['{device}']"),
    "bounded cache": (BOUNDED, "_workspace['{device}']"),
}


@pytest.mark.parametrize("name", CASES)
def test_buffer_that_a_function_keeps_is_found_and_forgotten_afterwards(sm120, load, name):
    text, key = CASES[name]
    cached = "cache" in name
    contract = Scratch(
        key=key, init="zeros", dtype="float32", shape=lambda count: (16,) if cached else (count,)
    )
    target = load(HEAD + text)
    sm120.check(contract, target.run)
    # Everything is as before, so that it can be checked again.
    sm120.check(contract, target.run)


ONE_FOR_ALL = """
    def _maker():
        kept = None

        def run(count, device):
            nonlocal kept
            if kept is None or kept.numel() < count:
                kept = _make(count, device)
            return kept

        return run

    run = _maker()
"""


def test_variable_of_a_closure_is_found_and_put_back(load, broken):
    target = load(HEAD + ONE_FOR_ALL)
    contract = Scratch(key="run.kept", init="zeros", dtype="float32", shape=lambda count: (count,))
    first, second = broken(contract, target.run), broken(contract, target.run)
    assert first == second and first.partition("\n\n")[2] == (
        '1. one per device: target.py:7: _make keeps "run.kept" for cuda:0, and the call on cuda:1'
        " allocates none of its own. A kernel cannot follow a pointer into the other device's"
        " memory. Put the device into the key: cuda:0 and cuda:1 each need a buffer. Where it is"
        ' meant for one device only, pass devices=["cuda:0"].'
    )


def test_call_with_keywords_has_them_in_the_key_of_its_result(sm120, load):
    target = load(HEAD + CACHED)
    target.run(3, "cuda:0")
    [made] = sm120.recording.allocations()
    assert made.registered_as == "_workspace[('cuda:0', 'rows', 16)]"


def test_variable_that_has_no_value_yet_is_passed_over(sm120, load):
    target = load(
        HEAD
        + """
    def _maker():
        def run(count, device):
            return late

        if False:
            late = {}
        return run

    run = _maker()
"""
    )
    made = target._make(4, "cuda:0")
    assert sm120.recording.allocations()[0].registered_as is None and made is not None
