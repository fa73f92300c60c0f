"""Each defect is planted in a loaded module; the comparison with its source must tell it."""

from __future__ import annotations

import ast
import sys

import pytest

from tests.benchmarks.loaded_files import make_fixture
from tests.benchmarks.reading import hear_lines
from tests.benchmarks.source_differences import beside, differences

TEXT = """\
import functools
from lib import thing, Base
from os import path
import triton
A = 3
B = A * 2 + 1
USE_X = False
G = thing.x
def f(a, b=1): return a
def g(x): return x
@triton.jit
def k(p): pass
class C(Base):
    def m(self): return 1
class D(dict):
    def n(self, q): return 2
if A > 2:
    T = 1
else:
    E = 1
try:
    raise ImportError
except ImportError:
    F = 1
"""


class Other:
    def m(self):
        return 1


@pytest.fixture
def loaded(tmp_path):
    """The module's names and the lines that ran."""
    path = tmp_path / "t.py"
    path.write_text(TEXT, encoding="utf-8")
    ran: set[int] = set()
    before = sys.gettrace()
    sys.settrace(lambda frame, event, _: hear_lines(frame, str(path), ran))
    sm120 = make_fixture(tmp_path)
    try:
        module = sm120.load("t.py")
    finally:
        sys.settrace(before)
    yield dict(vars(module)), ran
    sm120.session.close()


def compare(held, ran):
    return list(differences(beside(held, ast.parse(TEXT), ran)))


def test_loaded_module_agrees_with_its_text(loaded):
    assert compare(*loaded) == []


PLANTED = {
    "name missing": (lambda held: held.pop("f"), "line 9: f was bound and is missing"),
    "other constant": (lambda held: held.update(A=4), "line 5: A is 4, the text says 3"),
    "other type": (lambda held: held.update(USE_X=0), "line 7: USE_X is 0, the text says False"),
    "branch not taken": (
        lambda held: held.update(E=1),
        "E is held and was bound by no statement that ran",
    ),
    "flag a ghost": (
        lambda held: held.update(USE_X=held["thing"]),
        "line 7: USE_X reads like a flag and is <ghost lib.thing>",
    ),
    "def a ghost": (
        lambda held: held.update(f=held["thing"]),
        "line 9: f is a Ghost without the function's code",
    ),
    "other def": (
        lambda held: held.update(f=held["g"]),
        "line 9: f has the code of g, line 10",
    ),
    "kernel peeled": (
        lambda held: held.update(k=held["k"].fn),
        "line 12: k is decorated with triton.jit, but is a function",
    ),
    "class a ghost": (lambda held: held.update(C=held["thing"]), "line 13: C is a Ghost, no class"),
    "method lost": (
        lambda held: held.update(D=type("D", (dict,), {})),
        "line 15: D has no method n, but None",
    ),
    "handler's name lost": (lambda held: held.pop("F"), "line 24: F was bound and is missing"),
}


@pytest.mark.parametrize(("plant", "told"), PLANTED.values(), ids=PLANTED)
def test_planted_defect_is_told(loaded, plant, told):
    held, ran = loaded
    plant(held)
    assert told in compare(held, ran)


def test_base_that_is_lost_is_told(loaded):
    held, ran = loaded
    held["C"] = Other
    assert any("C does not derive from Base" in line for line in compare(held, ran))


def test_statement_that_did_not_run_is_told(loaded):
    held, ran = loaded
    assert "line 6: the statement did not run" in compare(held, ran - {6})
