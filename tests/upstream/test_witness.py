"""What a witness compares: each case changes one thing of what was expected, and is told."""

from __future__ import annotations

import pytest

from tests.upstream.witness import called, filled, launched, made, ordered, piece, stored

CODE = """
import torch
import triton
import triton.language as tl
from consumer import attend

_cache = {}

@triton.jit
def _copy(src, dst, state, N: tl.constexpr):
    tl.store(dst + tl.program_id(0), tl.load(src + tl.program_id(0)))

def run(x):
    buffer = torch.empty((4, 8), dtype=torch.int32, device=x.device)
    _cache["buffer"] = buffer
    rows = buffer[1:]
    rows.zero_()
    _copy[(3,)](x, rows.T, True, N=8, num_warps=2)
    attend(rows, scale=1)
    return rows

def capture(x, kept):
    with torch.inference_mode(), torch.cuda.graph(torch.cuda.CUDAGraph()):
        kept["rows"] = x[2:]
        torch.zeros(3, device="cuda")
"""
BUFFER = made("buffer", "torch.empty", "int32", (4, 8), kept="_cache['buffer']")
CLEAR = filled("zero_", piece("buffer", "int32", (3, 8), first_byte=32), 0)
ARGS = {
    "src": piece("x", "int32", (3, 8)),
    "dst": piece("buffer", "int32", (8, 3), strides=(1, 8), first_byte=32),
    "state": True,
    "N": 8,
    "num_warps": 2,
}
CALL = called("consumer.attend", piece("buffer", "int32", (3, 8), first_byte=32), scale=1)
EXPECTED = (BUFFER, CLEAR, launched("_copy", (3,), **ARGS), CALL)


@pytest.fixture
def target(sm120, tmp_path):
    path = tmp_path / "target.py"
    path.write_text(CODE, encoding="utf-8")
    return sm120.load(path)


def run(target, witness):
    return target.run(witness.tensor("x", "int32", (3, 8)))


def with_launch(grid=(3,), **changed):
    return (BUFFER, CLEAR, launched("_copy", grid, **{**ARGS, **changed}), CALL)


def with_buffer(*arguments, **named):
    return (made(*arguments, **named), *EXPECTED[1:])


KEPT = {"kept": "_cache['buffer']"}
MISTAKEN = {
    "nothing": (),
    "one too few": EXPECTED[:-1],
    "one too many": (*EXPECTED, CLEAR),
    "another order": (BUFFER, CALL, *EXPECTED[1:3]),
    "another call": with_buffer("buffer", "torch.zeros", "int32", (4, 8), **KEPT),
    "another dtype": with_buffer("buffer", "torch.empty", "int64", (4, 8), **KEPT),
    "another shape": with_buffer("buffer", "torch.empty", "int32", (8, 4), **KEPT),
    "other strides": with_buffer("buffer", "torch.empty", "int32", (4, 8), strides=(1, 4), **KEPT),
    "another device": with_buffer(
        "buffer", "torch.empty", "int32", (4, 8), device="cuda:1", **KEPT
    ),
    "no key": with_buffer("buffer", "torch.empty", "int32", (4, 8)),
    "another state": (BUFFER.under("capturing"), *EXPECTED[1:]),
    "another grid": with_launch((3, 1)),
    "a whole number for a truth": with_launch(state=1),
    "a real number for a whole one": with_launch(N=8.0),
    "another option": with_launch(num_warps=4),
    "an option too many": with_launch(num_stages=3),
    "another memory": with_launch(src=piece("buffer", "int32", (3, 8))),
    "other strides of a view": with_launch(dst=piece("buffer", "int32", (8, 3), first_byte=32)),
    "another first byte": with_launch(
        dst=piece("buffer", "int32", (8, 3), strides=(1, 8), first_byte=0)
    ),
    "another value": (BUFFER, filled("zero_", ARGS["dst"], 1), *EXPECTED[2:]),
    "another callee": (*EXPECTED[:3], called("consumer.other", ARGS["src"], scale=1)),
}


def test_witness_agrees_with_what_was_done(target, witness):
    rows = run(target, witness)
    witness.saw(*EXPECTED)
    assert witness.of([rows, {"x": 3}]) == [
        piece("buffer", "int32", (3, 8), first_byte=32),
        {"x": 3},
    ]


@pytest.mark.parametrize("mistaken", MISTAKEN.values(), ids=MISTAKEN)
def test_witness_tells_one_mistake(target, witness, mistaken):
    run(target, witness)
    with pytest.raises(AssertionError, match=r"^Expected \(-\) is not what was recorded \(\+\)"):
        witness.saw(*mistaken)


def test_mistake_is_told_beside_what_was_recorded(target, witness):
    run(target, witness)
    with pytest.raises(AssertionError) as caught:
        witness.saw(*with_launch(N=16))
    assert "-     N = 16\n" in str(caught.value) and "+     N = 8\n" in str(caught.value)


def test_witness_tells_only_what_is_new(target, witness):
    run(target, witness)
    witness.saw(*EXPECTED)
    witness.saw()


def test_witness_tells_states_stores_and_graphs(target, witness, sm120):
    target.capture(witness.tensor("x", "int32", (3, 8)), sm120.registry())
    witness.saw(
        ordered("capture_begin").under("inference other stream"),
        stored("rows", piece("x", "int32", (1, 8), first_byte=64)),
        made("zeros", "torch.zeros", "float32", (3,)).under("inference capturing other stream"),
        ordered("capture_end").under("inference other stream"),
    )
