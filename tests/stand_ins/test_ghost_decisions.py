"""Decisions on ghosts: an assumption at import time, an error with its remedy at run time."""

from __future__ import annotations

import pytest

from pytest_sm120.errors import GhostValue
from pytest_sm120.stand_ins.execution import Assumption
from tests.stand_ins.bench import Bench

DECISIONS = [
    ("bool(thing)", "bool(lib.thing)", False),
    ("not thing", "bool(lib.thing)", True),
    ("thing == 3", "lib.thing == 3", False),
    ("3 == thing", "lib.thing == 3", False),
    ("thing == other", "lib.thing == lib.other", False),
    ("thing != 'a'", "lib.thing != 'a'", True),
    ("thing != other", "lib.thing != lib.other", True),
    ("thing < 3", "lib.thing < 3", False),
    ("3 < thing", "lib.thing > 3", False),
    ("thing <= 3", "lib.thing <= 3", False),
    ("thing > 3", "lib.thing > 3", False),
    ("thing >= (9, 0)", "lib.thing >= (9, 0)", False),
    ("1 in thing", "1 in lib.thing", False),
    ("len(thing)", "len(lib.thing)", 0),
    ("list(thing)", "iter(lib.thing)", []),
    ("int(thing)", "int(lib.thing)", 1),
    ("[5, 6][thing]", "index(lib.thing)", 6),
    ("float(thing)", "float(lib.thing)", 1.0),
    ("dict(**thing)", "iter(lib.thing.keys())", {}),
    ("(lambda *args: args)(*thing)", "iter(lib.thing)", ()),
    ("isinstance(list, thing)", "isinstance(<class 'list'>, lib.thing)", True),
    ("isinstance(thing, other)", "isinstance(lib.thing, lib.other)", False),
    ("issubclass(decimal.Decimal, thing)", "issubclass(Decimal, lib.thing)", False),
    ("isinstance(decimal.Decimal(1), thing)", "isinstance(Decimal, lib.thing)", False),
]
# What the answer that was assumed is called where it is not the value itself.
ANSWERS = {
    "not thing": "False",
    "list(thing)": "()",
    "[5, 6][thing]": "1",
    "dict(**thing)": "()",
    "(lambda *args: args)(*thing)": "()",
}


@pytest.mark.parametrize(("code", "question", "value"), DECISIONS)
def test_decision_at_import_is_answered_and_listed(
    bench: Bench, code: str, question: str, value: object
) -> None:
    module = bench.load(f"import decimal\nfrom lib import other, thing\nvalue = {code}\n")
    assert module.value == value
    answer = ANSWERS.get(code, repr(value))
    # Python asks for the length, too, where it builds a list.
    asked = [entry for entry in module.__sm120_assumptions__ if "len(" not in entry.question]
    wanted = [Assumption("target.py:3", question, answer)]
    assert (asked or module.__sm120_assumptions__) == wanted


@pytest.mark.parametrize(("code", "question", "value"), DECISIONS)
def test_decision_at_run_time_is_refused_with_its_remedy(
    bench: Bench, code: str, question: str, value: object
) -> None:
    module = bench.load(
        f"import decimal\nfrom lib import other, thing\ndef ask():\n    return {code}\n"
    )
    asked = "lib.thing.keys()" if "keys()" in question else "lib.thing"
    asked = "lib.other" if question.startswith("isinstance(lib.thing") else asked
    key = asked.removesuffix("()")
    remedy = f'provide={{"{key}": lambda *args: ...}})'
    if not asked.endswith("()"):
        remedy = (
            f'provide={{"{key}": ...}}), or set {key.removeprefix("lib.")} on the loaded module'
        )
    with pytest.raises(GhostValue) as raised:
        module.ask()
    assert str(raised.value) == (
        f"target.py:4: the code asked {question} at run time, but {asked} is a ghost: it was "
        "imported from something that is neither loaded nor provided, so it has no value. Any "
        "answer would send the test down a branch by accident. Give it a value: "
        f"sm120.load(..., {remedy}."
    )


@pytest.mark.parametrize(
    ("code", "name", "key", "value"),
    [
        ("lib.read() == 1", "lib.read()", "lib.read", "lambda *args: ..."),
        ("lib.table['a'] == 1", "lib.table['a']", "lib.table", "..."),
        ("lib.size + 1 == 1", "(lib.size + 1)", "lib.size", "..."),
        ("'x' + lib.name == 1", "('x' + lib.name)", "lib.name", "..."),
        ("-lib.size == 1", "(-lib.size)", "lib.size", "..."),
        ("abs(lib.size) == 1", "abs(lib.size)", "lib.size", "..."),
        ("lib.size() * 2 == 1", "(lib.size() * 2)", "lib.size", "lambda *args: ..."),
        ("lib.get().depth == 1", "lib.get().depth", "lib.get", "lambda *args: ..."),
    ],
)
def test_remedy_names_what_can_be_provided(
    bench: Bench, code: str, name: str, key: str, value: str
) -> None:
    module = bench.load(f"import lib\ndef ask():\n    return {code}\n")
    with pytest.raises(GhostValue) as raised:
        module.ask()
    assert str(raised.value) == (
        f"target.py:3: the code asked {name} == 1 at run time, but {name} is a ghost: it was "
        "imported from something that is neither loaded nor provided, so it has no value. Any "
        "answer would send the test down a branch by accident. Give it a value: "
        f'sm120.load(..., provide={{"{key}": {value}}}).'
    )


def test_long_value_is_shortened_in_the_question(bench: Bench) -> None:
    module = bench.load(f"import lib\nsame = lib.name == {'x' * 100!r}\n")
    [assumption] = module.__sm120_assumptions__
    assert assumption.question == f"lib.name == '{'x' * 56}..."


def test_value_of_sixty_characters_is_told_whole(bench: Bench) -> None:
    module = bench.load(f"import lib\nsame = lib.name == {'x' * 58!r}\n")
    [assumption] = module.__sm120_assumptions__
    assert assumption.question == f"lib.name == '{'x' * 58}'"


def test_assumption_reads_as_a_sentence() -> None:
    assumption = Assumption("target.py:3", "bool(lib.thing)", "False")
    assert str(assumption) == "target.py:3: bool(lib.thing) was taken as False"


def test_same_question_at_one_line_is_listed_once(bench: Bench) -> None:
    module = bench.load("import lib\nfor _ in range(3): bool(lib.thing)\n")
    assert len(module.__sm120_assumptions__) == 1


def test_ghost_equals_itself_without_an_assumption(bench: Bench) -> None:
    module = bench.load(
        """
        import lib
        same = lib.A == lib.A
        differs = lib.A != lib.A
        member = lib.A in (lib.A, lib.B)
        """
    )
    assert (module.same, module.differs, module.member) == (True, False, True)
    assert module.__sm120_assumptions__ == []


def test_ghost_compared_with_another_ghost_at_run_time_is_refused(bench: Bench) -> None:
    module = bench.load("from lib import Mode, mode\ndef ask(): return mode == Mode.FAST\n")
    with pytest.raises(GhostValue, match=r"the code asked lib\.mode == lib\.Mode\.FAST at run"):
        module.ask()


def test_path_of_a_ghost_is_its_name_at_import(bench: Bench) -> None:
    module = bench.load("import os\nfrom lib import folder\npath = os.path.join(folder, 'a')\n")
    assert module.path.replace("\\", "/") == "lib.folder/a"
    [assumption] = module.__sm120_assumptions__
    assert assumption.question == "os.fspath(lib.folder)"


def test_plain_data_is_known_not_to_be_of_a_missing_class(bench: Bench) -> None:
    module = bench.load(
        """
        from lib import Pool
        class Own: pass
        def ask(value): return isinstance(value, Pool), isinstance(Own(), Pool)
        """
    )
    assert module.ask([1]) == (False, False)
    assert module.ask(bench.tensor(4)) == (False, False)


def test_foreign_object_asked_for_a_missing_class_at_run_time_is_refused(bench: Bench) -> None:
    module = bench.load("from lib import Pool\ndef ask(value): return isinstance(value, Pool)\n")
    with pytest.raises(GhostValue, match=r"the code asked isinstance\(Foreign, lib\.Pool\)"):
        module.ask(Foreign())


class Foreign:
    pass


@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("torch.empty(4, dtype=thing)", "empty(dtype=lib.thing)"),
        ("torch.zeros(4).to(thing)", "to(lib.thing)"),
        ("torch.zeros(4).to(dtype=thing)", "to(dtype=lib.thing)"),
    ],
)
def test_ghost_given_as_dtype_is_named_as_that(bench: Bench, code: str, question: str) -> None:
    module = bench.load(f"import torch\nfrom lib import thing\ndef ask(): return {code}\n")
    with pytest.raises(GhostValue) as raised:
        module.ask()
    assert str(raised.value) == (
        f"target.py:3: the code asked {question} at run time, but lib.thing is a ghost: it was "
        "imported from something that is neither loaded nor provided, so it has no value. Any "
        "answer would send the test down a branch by accident. Give it a value: sm120.load(..., "
        'provide={"lib.thing": ...}), or set thing on the loaded module.'
    )
