"""What import-time code is told about things that are not there, by what it looks like."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_sm120.errors import GhostValue, TargetError
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.ghosts import Ghosts
from pytest_sm120.stand_ins.import_guesses import (
    asks_for_a_flag,
    decorates,
    expected_by_assertion,
    names_used_on_functions,
)
from tests.stand_ins.bench import Bench


def answers(module: object) -> list[tuple[str, str]]:
    return [(one.question, one.answer) for one in module.__sm120_assumptions__]  # type: ignore[attr-defined]  # every target has them


@pytest.mark.parametrize(
    "name",
    [
        *("lib.is_ready", "lib.has_x", "lib.use_fast", "lib.supports_tma", "lib._can_fuse"),
        *("lib.fast_path_available", "lib.tma_supported", "lib.x_enabled", "lib.get_bool_env_var"),
        *("lib.envs.LIB_USE_FAST.get", "lib.envs.ENABLE_X.is_set", "lib.bool_from_env"),
    ],
)
def test_name_that_reads_like_a_question_asks_for_a_flag(name: str) -> None:
    assert asks_for_a_flag(name)


@pytest.mark.parametrize(
    "name",
    ["lib.make", "lib.envs.LIB_CACHE_DIR.get", "lib.issue", "lib.user", "get", "lib.register_op"],
)
def test_other_name_asks_for_no_flag(name: str) -> None:
    assert not asks_for_a_flag(name)


def test_flag_is_a_plain_bool_and_listed(bench: Bench) -> None:
    module = bench.load(
        "import lib\nuse_fast = lib.get_bool_env_var('LIB_USE_FAST') and lib.is_hip()\n"
        "_use_slow = lib.envs.LIB_USE_SLOW.get()\n"
    )
    assert module.use_fast is False and module._use_slow is False
    assert answers(module) == [
        ("bool(lib.get_bool_env_var())", "False"),
        ("bool(lib.envs.LIB_USE_SLOW.get())", "False"),
    ]


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        ("get_bool_env_var('LIB_X', 'true')", None, True),
        ("get_bool_env_var('LIB_X', True)", None, True),
        ("get_bool_env_var('LIB_X', 'true')", "0", False),
        ("get_bool_env_var('LIB_X')", "1", True),
        ("get_bool_env_var('LIB_X')", None, False),
        ("get_bool_env_var(lib.NAME)", None, False),
        ("get_bool_env_var()", None, False),
    ],
)
def test_flag_of_the_environment_is_what_it_says_or_the_default(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, asked: str, said: str | None, expected: bool
) -> None:
    monkeypatch.delenv("LIB_X", raising=False)
    if said is not None:
        monkeypatch.setenv("LIB_X", said)
    assert bench.load(f"import lib\nflag = lib.{asked}\n").flag is expected


@pytest.mark.parametrize("name", ["use_kernel_from_hub", "support_torch_compile", "has_state"])
def test_decorator_is_no_question_whatever_its_name(bench: Bench, name: str) -> None:
    module = bench.load(f"import lib\n@lib.{name}(\n    'x'\n)\ndef scale(x):\n    return x\n")
    assert module.scale(3) == 3 and answers(module) == []


def test_flag_is_undecided_at_run_time(bench: Bench) -> None:
    module = bench.load("import lib\ndef ask():\n    return bool(lib.is_ready())\n")
    with pytest.raises(GhostValue, match=r"target.py:3: the code asked bool\(lib.is_ready\(\)\)"):
        module.ask()


@pytest.mark.parametrize("asked", ["has_quack()", "is_quack_available()", "HAS_QUACK"])
def test_package_that_the_file_imports_is_there(bench: Bench, asked: str) -> None:
    module = bench.load(
        f"import lib\nif not lib.{asked}:\n    raise ImportError('no quack')\nimport quack\n"
    )
    assert answers(module) == [(f"bool(lib.{asked})", "True")]


def test_package_that_the_file_does_not_import_is_not_said_to_be_there(bench: Bench) -> None:
    module = bench.load("import lib\nfast = bool(lib.has_quack())\n")
    assert module.fast is False


ASSERTIONS = [
    "assert lib.SIZE == 3",
    "assert 3 <= lib.SIZE",
    "assert frozenset([1]) == lib.NAMES",
    "assert not lib.BROKEN",
    "assert (\n    lib.A % 2 == 0\n    and lib.B % 2 == 0\n)",
]


@pytest.mark.parametrize("statement", ASSERTIONS)
def test_assertion_about_what_is_not_there_holds(bench: Bench, statement: str) -> None:
    assert bench.load(f"import lib\n{statement}\nafter = 1\n").after == 1


def test_assertion_about_what_is_known_fails_as_ever(bench: Bench) -> None:
    with pytest.raises(TargetError, match="importing target raised AssertionError"):
        bench.load("import lib\nassert 2 == 3\n")


def test_comparison_beside_an_assertion_is_not_expected_to_hold(bench: Bench) -> None:
    module = bench.load("import lib\nassert lib.A == 1\nsame = lib.A == 1\n")
    assert module.same is False


DECORATED = """
import lib

@lib.register_op
def scale(x):
    return x

@scale.register_input_generator
def inputs():
    return scale.later

twice = scale.fn
"""


def test_decorated_function_has_what_the_module_uses_of_it(bench: Bench) -> None:
    module = bench.load(DECORATED)
    assert module.scale(3) == 3 and module.inputs.__name__ == "inputs"
    assert repr(module.twice) == "<ghost lib.register_op().fn>"
    assert not hasattr(module.scale, "later")


def test_decoration_at_run_time_lends_nothing(bench: Bench) -> None:
    module = bench.load("import lib\ndef scale(x):\n    return x\nwrap = lib.wrap\n")
    assert module.wrap(module.scale) is module.scale


def test_attribute_that_a_function_has_is_kept(bench: Bench) -> None:
    module = bench.load("import lib\n@lib.wrap\ndef scale(x):\n    return x\nn = scale.__name__\n")
    assert module.n == "scale"


def test_nothing_is_guessed_outside_of_a_target() -> None:
    ghost = Ghosts(Execution()).named("lib.is_ready")
    assert expected_by_assertion(ghost) is None and not decorates(ghost)


def test_attributes_are_those_that_run_while_the_module_is_imported() -> None:
    import ast

    tree = ast.parse("@f.a\ndef g(x=f.b):\n    f.c\n@f.d\nclass C:\n    y = f.e\nz = lambda: f.g\n")
    assert names_used_on_functions(tree) == {"f": {"a", "b", "d", "e"}}


def test_object_of_a_class_with_a_ghost_base_has_its_attributes_during_import(
    bench: Bench,
) -> None:
    module = bench.load(
        "import lib\nclass Act(lib.CustomOp):\n    def __init__(self):\n"
        "        self.register_buffer('x', 1)\nact = Act()\n"
    )
    with pytest.raises(AttributeError, match="'Act' object has no attribute 'register_buffer'"):
        module.act.register_buffer("y", 2)


def test_environment_takes_a_ghost_as_the_text_that_it_is_as_a_path(bench: Bench) -> None:
    module = bench.load("import os, lib\nos.environ['LIB_DIR'] = lib.envs.DIR.get()\n")
    assert answers(module) == [("os.fspath(lib.envs.DIR.get())", "'lib.envs.DIR.get()'")]
    assert os.environ["LIB_DIR"] == "lib.envs.DIR.get()"
    bench.loader.close()
    assert "LIB_DIR" not in os.environ
    with pytest.raises(TypeError, match="str expected"):
        os.environ["LIB_DIR"] = 3  # type: ignore[assignment]  # what the standard library refuses


def test_name_with_underscores_is_there_when_it_is_imported(bench: Bench) -> None:
    module = bench.load("from lib.version import __version__\n")
    assert repr(module.__version__) == "<ghost lib.version.__version__>"


def test_name_with_underscores_is_there_when_the_target_spells_it(bench: Bench) -> None:
    module = bench.load("import lib\nsaved = lib.Params.__extract_values__\n")
    assert repr(module.saved) == "<ghost lib.Params.__extract_values__>"
    assert not hasattr(module.lib, "__array__")


def test_file_of_a_sibling_is_the_real_one(bench: Bench) -> None:
    sibling = bench.write("lib/norm.py", "SIZE = 3\n")
    module = bench.load("from lib import norm, gone\nfiles = norm.__file__, gone.__file__\n")
    assert Path(module.files[0]) == sibling
    assert repr(module.files[1]) == "<ghost lib.gone.__file__>"


def test_replace_takes_a_ghost_for_a_dataclass(bench: Bench) -> None:
    module = bench.load(
        "import dataclasses\nfrom dataclasses import replace\nimport lib\n"
        "@dataclasses.dataclass\nclass Own:\n    x: int = 1\n"
        "made = replace(lib.SPEC, x=2)\nown = dataclasses.replace(Own(), x=2)\n"
    )
    assert repr(module.made) == "<ghost lib.SPEC.replace()>" and module.own.x == 2


def test_slice_with_a_known_end_has_as_many_items(bench: Bench) -> None:
    module = bench.load("import lib\nmajor, minor = map(int, lib.version.split('.')[:2])\n")
    assert (module.major, module.minor) == (1, 1)


@pytest.mark.parametrize("asked", ["finfo", "iinfo"])
def test_limits_of_a_dtype_that_is_not_there_are_not_there(bench: Bench, asked: str) -> None:
    module = bench.load(f"import torch, lib\nlimit = torch.{asked}(lib.fp8).max\n")
    assert repr(module.limit) == f"<ghost lib.fp8.{asked}.max>"


def test_environment_that_is_a_plain_dictionary_is_left_as_it_is(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {"LIB_X": "1"})
    module = bench.load("import os\nsaid = os.environ['LIB_X']\n")
    bench.loader.close()
    assert module.said == "1" and os.environ == {"LIB_X": "1"}


def test_order_to_do_something_asks_for_no_flag() -> None:
    assert not any(asks_for_a_flag(f"lib.{name}_cache") for name in ("enable", "disable", "allow"))
