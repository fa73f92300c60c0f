from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_sm120.errors import UsageError
from pytest_sm120.source import SourceFunction, SourceView

View = Callable[[str], SourceView]

RUNNERS = """
    import torch
    from functools import cache as once


    # Fills the scratch.
    @once  # per size
    @torch.inference_mode(False)
    def fill(size):
        '''Fills it.

            Really.
        '''
        def row():
            return torch.zeros(1, dtype=torch.uint8)
        return [row(), torch.empty(size), helper()]


    class Runner:
        def prepare(self):
            return torch.ones(3)


    class Pool:
        async def prepare(self):
            return helper()
    """


def refusal(view: SourceView, name: str) -> str:
    with pytest.raises(UsageError) as caught:
        view.function(name)
    return str(caught.value).replace(str(view.path), "target.py")


def described(function: SourceFunction) -> dict[str, object]:
    return {name: value for name, value in vars(function).items() if not name.startswith("_")}


def test_function_is_described_in_full(view: View) -> None:
    found = view(RUNNERS).function("fill")
    assert described(found) == {
        "name": "fill",
        "qualified_name": "fill",
        "line": 9,
        "end_line": 16,
        "comment": "Fills the scratch.",
        "docstring": "Fills it.\n\nReally.",
        "source": "@once  # per size\n"
        "@torch.inference_mode(False)\n"
        "def fill(size):\n"
        "    '''Fills it.\n"
        "\n"
        "        Really.\n"
        "    '''\n"
        "    def row():\n"
        "        return torch.zeros(1, dtype=torch.uint8)\n"
        "    return [row(), torch.empty(size), helper()]",
        "decorators": ("functools.cache", "torch.inference_mode"),
    }


def test_function_without_extras_has_empty_ones(view: View) -> None:
    found = view("x = 1\ndef f(): pass").function("f")
    assert (found.comment, found.docstring, found.decorators) == ("", "", ())


@pytest.mark.parametrize(
    "text",
    [
        "# why\ndef f(): pass",
        "@a\n# why\ndef f(): pass",
        "# why\n@a\n@b\ndef f(): pass",
        "class A:\n    # why\n    async def f(self): pass",
        "class A:\n    x = 1  # other\n    # why\n    def f(self): pass  # other",
        "# other\n\n# why\ndef f():  # other\n    # other\n    pass",
        "def e():\n    pass\n    # other\n# why\ndef f(): pass",
    ],
)
def test_comment_of_a_function_is_the_block_above_it(view: View, text: str) -> None:
    assert view(text).function("f").comment == "why"


@pytest.mark.parametrize(
    ("name", "line"), [("Runner.prepare", 20), ("Pool.prepare", 25), ("row", 14), ("fill.row", 14)]
)
def test_function_is_found_by_plain_or_qualified_name(view: View, name: str, line: int) -> None:
    assert view(RUNNERS).function(name).line == line


def test_qualified_name_wins_over_plain_names(view: View) -> None:
    found = view("class A:\n    def f(self): pass\ndef f(): pass").function("f")
    assert found.line == 3


def test_allocations_of_a_function_are_its_own_and_those_nested(view: View) -> None:
    found = view(RUNNERS).function("fill")
    assert [call.call for call in found.allocations()] == ["torch.zeros", "torch.empty"]


def test_filters_work_inside_a_function(view: View) -> None:
    found = view(RUNNERS).function("fill").allocations(call="zeros", dtype="uint8")
    assert [call.qualified_function for call in found] == ["fill.row"]


def test_calls_of_a_function_are_its_own(view: View) -> None:
    found = view(RUNNERS)
    lines = [call.line for call in found.function("fill").calls("helper")]
    assert (lines, len(found.calls("helper"))) == ([16], 2)


def test_calls_in_the_signature_belong_to_the_outside(view: View) -> None:
    assert view("@g()\ndef f(x=g()): pass").function("f").calls("g") == []


def test_missing_function_is_explained_with_close_matches(view: View) -> None:
    assert refusal(view(RUNNERS), "prepair") == (
        "target.py defines no function 'prepair'. "
        "Close matches: Runner.prepare, Pool.prepare. "
        'Name a function of that file, plain ("prepare") or qualified ("Runner.prepare").'
    )


def test_missing_function_is_explained_when_none_is_close(view: View) -> None:
    assert refusal(view(RUNNERS), "qqq") == (
        "target.py defines no function 'qqq'. "
        "No name in it is close. "
        'Name a function of that file, plain ("prepare") or qualified ("Runner.prepare").'
    )


def test_ambiguous_function_is_explained_with_qualified_names(view: View) -> None:
    assert refusal(view(RUNNERS), "prepare") == (
        "target.py defines 2 functions 'prepare': "
        "Runner.prepare (line 20), Pool.prepare (line 25). "
        "function() answers for one function. Ask by the qualified name."
    )


def test_function_defined_twice_is_explained_with_lines(view: View) -> None:
    assert refusal(view("if x:\n    def f(): pass\nelse:\n    def f(): pass"), "f") == (
        "target.py defines 2 functions 'f': f (line 2), f (line 4). "
        "function() answers for one function. "
        "Ask for the calls of the whole file and choose by line."
    )
