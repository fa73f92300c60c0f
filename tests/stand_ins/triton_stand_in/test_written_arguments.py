"""What a kernel may do to the memory behind its arguments."""

from __future__ import annotations

import linecache
from textwrap import dedent, indent
from types import ModuleType
from typing import Any

import pytest

from pytest_sm120.stand_ins.triton_stand_in.written_arguments import find_effects

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
    "call of an item": ("table[0](a)", "a"),
    "read whose name starts like another": ("p = load_block(a)\ntl.store(p, 0)", "a"),
    "write whose name starts like another": ("store_block(n, a)", "a n"),
    "atomic load": ("x = tl.atomic_load(a)\ntl.atomic_poll(a, 1)\ntl.store(b + x, 0)", "b"),
    "atomic store": ("tl.atomic_store(a, 1)", "a"),
    "name of the language": ("store(a, load(b))", "a"),
    "store into a descriptor": ("tl.store_tensor_descriptor(desc=a, value=b)", "a"),
    "scatter": ("a.scatter(tl.load(b), n, n)", "a"),
    "method of a pointer": ("(a + n).store(1)", "a n"),
    "item of a tuple": ("a[0].store(b)", "a"),
    "assembly": ("tl.inline_asm_elementwise('st', '=r', [a, tl.load(b)], tl.int32, False, 1)", "a"),
    "assembly of values": ("tl.inline_asm_elementwise('ex2', '=r', [tl.load(a)], args=[n])", "n"),
    "function of one vendor": ("gl.nvidia.tma.copy_to_global(a, smem)", "a"),
    "load of one vendor": ("gl.amd.cdna3.buffer_load(a, n)", ""),
    "functions handed on": ("gl.warp_specialize([(f, (a, b))], [1], [24])", "a b"),
    "unknown method": ("p = a\np.flush(n)", "a n"),
    "unknown method of an item": ("table[0].flush(a)", "a"),
    "function of Python": ("x = min(n, len(a))\nprint(b)\ntl.store(b + x, 0)", "a b n"),
    "dtype of a pointer": ("tl.store(a, tl.load(b).to(a.dtype.element_ty))", "a"),
    "dtype in the address": ("tl.store(a + tl.zeros((4,), b.dtype.element_ty), 0)", "a"),
    "comprehension": ("ps = [p for p in (a, b)]\ntl.store(ps[0], 0)", "a b"),
    "with": ("with scope(a) as p:\n    tl.store(p, 0)\nwith tl.scope():\n    pass", "a"),
    "local called like the language": ("math = a\nmath.store(0)", "a"),
}


ACCUMULATING = {
    "add": ("tl.atomic_add(a, tl.load(b))", "a"),
    "all others": (
        "".join(f"tl.atomic_{name}(a, 1)\n" for name in "max min and or xor xchg cas".split()),
        "a",
    ),
    "alias": ("p = a + n\ntl.atomic_max(p, tl.load(b))", "a n"),
    "descriptor": ("d = tl.make_tensor_descriptor(a, [4])\nd.atomic_add([0], tl.load(b))", "a"),
    "pointer": ("a.atomic_xchg(1)", "a"),
    "store": ("tl.store(a, 1)\ntl.atomic_store(b, 1)", ""),
    "read": ("tl.atomic_load(a)\ntl.atomic_poll(b, 1)", ""),
    "helper": ("helper(a)", ""),
}


def make(body: str, helpers: str = "") -> Any:
    source = helpers + "def kernel(a, b, n):\n" + indent(body, "    ") + "\n"
    name = f"<{abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(source, name, "exec"), namespace)
    return namespace["kernel"]


@pytest.mark.parametrize("case", CASES)
def test_written_arguments_are_those_that_reach_an_address(case: str) -> None:
    body, written = CASES[case]
    assert find_effects(make(body)).written == set(written.split())


@pytest.mark.parametrize("case", ACCUMULATING)
def test_accumulated_arguments_are_those_that_reach_an_atomic(case: str) -> None:
    body, accumulated = ACCUMULATING[case]
    assert find_effects(make(body)).accumulated == set(accumulated.split())


HELPERS = """
def put(ptr, value=0, *more):
    tl.store(ptr, value)

def count(ptr, by):
    tl.atomic_add(ptr, by)
    return tl.load(by)

def shift(ptr, by):
    return ptr + tl.load(by)

def outer(x, y):
    count(shift(y, x), x)

def endless(x, y):
    endless(y, 0)

def read(ptr):
    if ptr is None:
        return
    return tl.load(ptr)

class Holder:
    put = put

"""

FOLLOWED = {
    "positions": ("put(a, b)", "a", ""),
    "names": ("put(value=a, ptr=b)", "b", ""),
    "star": ("put(*a, b)", "a b", ""),
    "two stars": ("put(a, **b)", "a b", ""),
    "more": ("put(a, 0, b, n)", "a", ""),
    "wrong arguments": ("count(a)", "a", ""),
    "result that is a value": ("x = count(a, b)\ntl.store(x, 0)", "a", "a"),
    "result that is a pointer": ("tl.store(shift(a, b), 0)", "a", ""),
    "helper of a helper": ("outer(a, b)", "b", "b"),
    "recursion": ("endless(a, b)", "b", ""),
    "only read": ("x = read(a)\ntl.store(b + x, 0)", "b", ""),
    "in a class": ("Holder.put(a, b)", "a b", ""),
    "called like a function of Python": ("print(a, b)", "a", ""),
}


@pytest.mark.parametrize("case", FOLLOWED)
def test_helper_does_to_its_arguments_what_its_text_says(case: str) -> None:
    body, written, accumulated = FOLLOWED[case]
    kernel = make(body, HELPERS)
    if "print" in body:
        kernel.__globals__["print"] = kernel.__globals__["put"]
    effects = find_effects(kernel)
    assert effects.written == set(written.split())
    assert effects.accumulated == set(accumulated.split())
    assert effects.alone is False


def test_helper_of_another_module_is_followed() -> None:
    kernel = make("ops.put(a, b)\nops.absent(n)")
    ops = ModuleType("ops")
    ops.put = make("put(a, b)", HELPERS).__globals__["put"]  # type: ignore[attr-defined]  # set here
    kernel.__globals__["ops"] = ops
    assert find_effects(kernel).written == {"a", "n"}


def test_what_stands_above_the_kernel_is_no_part_of_it() -> None:
    above = "def tuned(value):\n    return lambda fn: fn\n\na = 0\n@tuned(tuned(a))\n"
    effects = find_effects(make("tl.store(b, 0)", above))
    assert effects.written == {"b"}
    assert effects.alone is True


def test_every_argument_counts_as_written_when_the_source_is_that_of_something_else() -> None:
    kernel = make("pass")
    name = kernel.__code__.co_filename
    linecache.cache[name] = (9, None, ["import os\n"], name)
    assert find_effects(kernel).written == {"a", "b", "n"}


def test_every_argument_counts_as_written_when_there_is_no_source() -> None:
    namespace: dict[str, Any] = {}
    exec(dedent("def kernel(a, b): pass\n"), namespace)
    assert find_effects(namespace["kernel"]).written == {"a", "b"}
