"""What some buffers owe besides: to captured graphs, to streams, to dtypes and to their callers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_sm120 import Scratch

WORKSPACE = """
    import torch
    import triton
    import triton.language as tl

    _workspaces = {}
    _retired = []

    @triton.jit
    def _use_kernel(workspace, BLOCK: tl.constexpr):
        tl.store(workspace + tl.arange(0, BLOCK), 0)

    def run(count, device, dtype="float32", result=None):
        key = str(torch.empty(0, device=device).device)
        kept = _workspaces.get(key)
        if kept is None or kept.numel() < count:
            with torch.inference_mode(False):
                kept = torch.empty(count, dtype=getattr(torch, dtype), device=device)
            _workspaces[key] = kept
        _use_kernel[(1,)](kept, BLOCK=16)
        return result
"""
PLAIN = Scratch(
    key="_workspaces['{device}']", init="empty", dtype="float32", shape=lambda size: (size,)
)
TITLE = "The contract for \"_workspaces['{device}']\""
MADE = "target.py:18: run allocates \"_workspaces['cuda:0']\" with torch.empty"


def told(report):
    headline, _, finding = report.partition("\n\n")
    assert headline.startswith(f"{TITLE} is broken in 1 of ")
    return finding.partition("\n\n")[0]


GRAPHS = replace(PLAIN, outlives_graphs=True)


def test_growth_that_drops_what_a_captured_graph_points_at_is_told(load, broken):
    assert told(broken(GRAPHS, load(WORKSPACE).run)) == (
        f'1. kept alive for graphs: {MADE} again in the step "growth under a graph" (size 16 on'
        " cuda:0), and nothing holds the memory of float32[8] on cuda:0 any longer, which a"
        " captured graph points at. Each replay of that graph writes to memory that belongs to"
        " somebody else. Keep the old buffer in a list beside the new one, or refuse to grow after"
        " a capture."
    )


RETIRING = WORKSPACE.replace(
    "            _workspaces[key] = kept",
    "            _retired.append(_workspaces.get(key))\n            _workspaces[key] = kept",
)
REFUSING = WORKSPACE.replace(
    "        if kept is None or",
    "        if kept is not None and count > 8:\n"
    '            raise RuntimeError("too large for the captured graphs")\n'
    "        if kept is None or",
)


@pytest.mark.parametrize("text", [RETIRING, REFUSING])
def test_growth_that_retires_the_old_buffer_or_refuses_is_accepted(sm120, load, text):
    result = sm120.check(GRAPHS, load(text).run)
    [clause] = [clause for clause in result.clauses if clause.name == "kept alive for graphs"]
    assert clause.outcome == "held"


def test_resize_that_moves_the_memory_is_told(load, broken):
    resizing = WORKSPACE.replace(
        "        if kept is None or",
        "        if kept is not None:\n"
        "            kept.resize_(max(count, kept.numel()))\n        if kept is None or",
    )
    assert told(broken(GRAPHS, load(resizing).run)).startswith(
        "1. kept alive for graphs: target.py:17: run allocates \"_workspaces['cuda:0']\" with"
        ' Tensor.resize_ again in the step "growth under a graph"'
    )


CAPTURED = replace(PLAIN, grows_outside_capture=True)


def test_growth_under_capture_that_is_kept_is_told(load, broken):
    assert told(broken(CAPTURED, load(WORKSPACE).run)) == (
        f'1. not grown under capture: {MADE} in the step "growth under capture" (size 32 on'
        " cuda:0), under capture, and keeps it. Memory that is allocated during capture belongs to"
        " that graph alone: later calls, which find it under the key, write to what the next replay"
        " writes to. Allocate for the largest size before a capture, and refuse to grow during one."
    )


PASSING = WORKSPACE.replace(
    "            _workspaces[key] = kept",
    "            if not torch.cuda.is_current_stream_capturing():\n"
    "                _workspaces[key] = kept",
)


@pytest.mark.parametrize("text", [PASSING, REFUSING])
def test_growth_under_capture_that_is_refused_or_not_kept_is_accepted(sm120, load, text):
    result = sm120.check(CAPTURED, load(text).run)
    [clause] = [clause for clause in result.clauses if clause.name == "not grown under capture"]
    assert clause.outcome == "held"


STREAMS = replace(PLAIN, per_stream=True)


def test_buffer_that_two_streams_share_is_told(load, broken):
    assert told(broken(STREAMS, load(WORKSPACE).run)) == (
        "1. one per stream: target.py:20: run launches _use_kernel with"
        ' "_workspaces[\'cuda:0\']" in the step "other stream" (size 4 on cuda:0), the buffer of'
        " the calls before. Two streams that run at the same time overwrite each other's contents."
        " Put the current stream into the key."
    )


def test_buffer_for_each_stream_is_accepted(sm120, load):
    keyed = WORKSPACE.replace(
        "        kept = _workspaces.get(key)",
        "        key = (key, torch.cuda.current_stream().cuda_stream)\n"
        "        kept = _workspaces.get(key)",
    )
    contract = replace(STREAMS, key=lambda device: (device, 0))
    sm120.check(contract, load(keyed).run)


DTYPES = replace(PLAIN, per_dtype="float16")


def test_buffer_that_two_dtypes_share_is_told(load, broken):
    assert told(broken(DTYPES, load(WORKSPACE).run)) == (
        "1. one per dtype: target.py:20: run launches _use_kernel with"
        ' "_workspaces[\'cuda:0\']" in the step "other dtype" (size 4 on cuda:0), which is driven'
        " with float16, the buffer of the calls before. A kernel that is compiled for the one dtype"
        " reads the bytes of the other wrongly. Put the dtype into the key."
    )


def test_buffer_for_each_dtype_is_accepted(sm120, load):
    keyed = WORKSPACE.replace("_workspaces.get(key)", "_workspaces.get((key, dtype))").replace(
        "_workspaces[key]", "_workspaces[key, dtype]"
    )
    sm120.check(replace(DTYPES, key=lambda device: (device, "float32")), load(keyed).run)


SPELLED = replace(PLAIN, any_spelling=True)


def test_key_that_is_the_device_as_it_was_spelled_is_told(load, broken):
    spelled = WORKSPACE.replace("str(torch.empty(0, device=device).device)", "str(device)")
    assert told(broken(SPELLED, load(spelled).run)) == (
        "1. one for every spelling: target.py:18: run allocates \"_workspaces['cuda']\" with"
        " torch.empty when the device is given as 'cuda', though that of cuda:0 was there. One"
        " device then has two buffers, and what is written to the one is not in the other. Build"
        " the key from the device of a tensor, which always has its index."
    )


def test_key_that_is_the_device_of_a_tensor_is_accepted(sm120, load):
    sm120.check(SPELLED, load(WORKSPACE).run)


PRIVATE = replace(PLAIN, private=True)


def test_buffer_that_is_handed_to_the_caller_is_told(load, broken):
    handing = WORKSPACE.replace("return result", "return {'out': kept[:count]}")
    assert told(broken(PRIVATE, load(handing).run)) == (
        '1. not handed out: target.py:18: the step "first" (size 4 on cuda:0) returns a view of'
        " \"_workspaces['cuda:0']\", which run allocates. The next call overwrites what the caller"
        " still holds. Return a copy, or allocate what is returned anew."
    )


def test_copy_that_is_handed_to_the_caller_is_accepted(sm120, load):
    copying = WORKSPACE.replace("return result", "return kept[:count].clone()")
    sm120.check(PRIVATE, load(copying).run)


def test_view_that_is_handed_out_on_purpose_is_accepted(sm120, load):
    handing = WORKSPACE.replace("return result", "return kept[:count]")
    sm120.check(PLAIN, load(handing).run)
