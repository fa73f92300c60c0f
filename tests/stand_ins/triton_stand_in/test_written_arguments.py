"""Which arguments a kernel may write through."""

from __future__ import annotations

import linecache
from textwrap import dedent, indent
from typing import Any

import pytest

from pytest_sm120.stand_ins.triton_stand_in.written_arguments import find_written_arguments

CASES = {
    "store": ("tl.store(a + 1, tl.load(b))", "a"),
    "keyword address": ("tl.store(value=tl.load(b), pointer=a)", "a"),
    "atomic": ("tl.atomic_add(b + tl.load(a), 1)", "b"),
    "nothing": ("x = tl.load(a) + tl.load(b)", ""),
    "alias": ("p = a\nq = p + 4\ntl.store(q, 0)", "a"),
    "alias after use": ("p = b\nfor i in range(3):\n    tl.store(p, 0)\n    p = a", "a b"),
    "address from a load": ("i = tl.load(b)\ntl.store(a + i, 0)", "a"),
    "nested load in the address": ("tl.store(a + tl.load(b + 1), 0)", "a"),
    "augmented": ("p = a\np += n\ntl.store(p, 0)", "a n"),
    "annotated": ("p: int = a\ntl.store(p, 0)", "a"),
    "annotation alone": ("p: int\ntl.store(a, 0)", "a"),
    "walrus": ("tl.store((p := a) + 1, 0)\ntl.store(p, 0)", "a"),
    "tuple": ("p, q = a, b\ntl.store(q, 0)", "a b"),
    "loop over pointers": ("for p in (a, b):\n    tl.store(p, 0)", "a b"),
    "either": ("p = a if n else b\ntl.store(p, 0)", "a b n"),
    "block pointer": ("p = tl.make_block_ptr(a, (n,))\ntl.store(p, 0)", "a n"),
    "descriptor": ("d = tl.make_tensor_descriptor(a, [4])\nd.store([0], tl.load(b))", "a"),
    "helper": ("helper(a, n=b)", "a b"),
    "helper of a module": ("kernels.helper(a)", "a"),
    "language function": ("tl.maximum(a, b)\ntl.math.exp(a)\nlibdevice.tanh(b)", ""),
    "method of a value": ("x = tl.load(a)\nx.to(b)", ""),
    "method of a parameter": ("a.to(b)", ""),
    "call of a call": ("tl.load(a).to(b)", ""),
    "call of an item": ("table[0](a)", ""),
}


def make(body: str) -> Any:
    source = "def kernel(a, b, n):\n" + indent(body, "    ") + "\n"
    name = f"<{abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(source, name, "exec"), namespace)
    return namespace["kernel"]


@pytest.mark.parametrize("case", CASES)
def test_written_arguments_are_those_that_reach_an_address(case: str) -> None:
    body, written = CASES[case]
    assert find_written_arguments(make(body)) == set(written.split())


def test_every_argument_counts_as_written_when_the_source_is_that_of_something_else() -> None:
    kernel = make("pass")
    name = kernel.__code__.co_filename
    linecache.cache[name] = (9, None, ["import os\n"], name)
    assert find_written_arguments(kernel) == {"a", "b", "n"}


def test_every_argument_counts_as_written_when_there_is_no_source() -> None:
    namespace: dict[str, Any] = {}
    exec(dedent("def kernel(a, b): pass\n"), namespace)
    assert find_written_arguments(namespace["kernel"]) == {"a", "b"}
