from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_sm120.source import SourceView

View = Callable[[str], SourceView]


@pytest.mark.parametrize(
    ("text", "name", "call"),
    [
        ("mask.zero_()", "zero_", "mask.zero_"),
        ("mask.zero_()", "mask.zero_", "mask.zero_"),
        ("self.buf[key].zero_()", "zero_", "self.buf[...].zero_"),
        ("get().buffers.get(key)", "buffers.get", "get().buffers.get"),
        ("(a + b).sum()", "sum", "(...).sum"),
        ("'x'.join(y)", "join", "(...).join"),
        ("make(1)(2)", "make()", "make()"),
        ("import torch\ntorch.inference_mode(False)", "torch.inference_mode", None),
        ("import torch\ntorch.inference_mode(False)", "inference_mode", "torch.inference_mode"),
        ("import torch.nn.functional as F\nF.pad(x)", "torch.nn.functional.pad", None),
        ("from torch import nn\nnn.functional.pad(x)", "functional.pad", "torch.nn.functional.pad"),
        ("_split[grid](x)", "_split", "_split"),
        ("_split[(n,)](x, N=4)", "_split", "_split"),
        ("from .kernels import split\nsplit[grid](x)", "split", ".kernels.split"),
        ("from . import split\nsplit()", "split", ".split"),
        ("from ..a.b import c\nc.d()", "b.c.d", "..a.b.c.d"),
        ("def a(): pass\ndef b(): pass\nk = a if x else b\nk[grid]()", "a", "a | b"),
        ("def a(): pass\ndef b(): pass\nk = a if x else b\nk[grid]()", "b", "a | b"),
        ("x.new_empty(4)", "x.new_empty", "Tensor.new_empty"),
        ("x.new_empty(4)", "Tensor.new_empty", None),
        ("async def f():\n    (await g).h()", "h", "(...).h"),
    ],
)
def test_call_is_found_by_its_resolved_name_or_last_parts(
    view: View, text: str, name: str, call: str | None
) -> None:
    assert [one.call for one in view(text).calls(name)] == [call or name]


@pytest.mark.parametrize("name", ["ero_", "th.zero_", "ask.zero_", "mask", "zero"])
def test_call_is_not_found_by_a_part_of_a_part(view: View, name: str) -> None:
    assert view("mask.zero_()").calls(name) == []


def test_alias_hides_the_written_name(view: View) -> None:
    assert view("import torch as th\nth.empty(4)").calls("th.empty") == []


def test_call_that_allocates_nothing_has_no_dtype(view: View) -> None:
    assert [one.dtype for one in view("f(dtype=bool)").calls("f")] == [None]


def test_calls_come_in_text_order(view: View) -> None:
    found = view("f(2,\n  f(3))\nx.f(1).f(4)\n@f(5)\ndef g(a=f(6)):\n    f(7)\nf(8)").calls("f")
    assert [one.arguments[0] for one in found] == ["2", "3", "1", "4", "5", "6", "7", "8"]


@pytest.mark.parametrize(
    ("text", "function", "qualified"),
    [
        ("x()", "<module>", "<module>"),
        ("class A:\n    y = x()", "<module>", "<module>"),
        ("def f():\n    x()", "f", "f"),
        ("async def f():\n    x()", "f", "f"),
        ("class A:\n    def f(self):\n        x()", "f", "A.f"),
        ("def f():\n    def g():\n        x()", "g", "f.g"),
        ("def f():\n    class A:\n        y = x()", "f", "f"),
        ("def f():\n    return lambda: [x() for y in z]", "f", "f"),
        ("def f():\n    return {x() for y in z}", "f", "f"),
        ("def f():\n    return {y: x() for y in z}", "f", "f"),
        ("def f():\n    return sum(x() for y in z)", "f", "f"),
        ("def f(a=x()):\n    pass", "<module>", "<module>"),
        ("def f(a: x()) -> int:\n    pass", "<module>", "<module>"),
        ("class A:\n    @x()\n    def f(self):\n        pass", "<module>", "<module>"),
    ],
)
def test_function_of_a_call_is_the_def_that_runs_it(
    view: View, text: str, function: str, qualified: str
) -> None:
    [found] = view(text).calls("x")
    assert (found.function, found.qualified_function) == (function, qualified)


def test_view_shows_its_path(view: View) -> None:
    found = view("x = 1")
    assert repr(found) == f"SourceView(path={found.path!r})"
