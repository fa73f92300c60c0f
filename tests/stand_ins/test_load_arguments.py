from __future__ import annotations

from typing import Any

import pytest

from pytest_sm120.errors import UsageError
from pytest_sm120.stand_ins.load_arguments import check_load_arguments

REMEDY = (
    ' Write e.g. sm120.load("pkg/ops/split.py", provide={"pkg.runtime.get_buffers": dict}, '
    'real=["pkg.ops.layouts"]).'
)


def refusal(**changed: Any) -> str:
    given: dict[str, Any] = {"path": "a.py", "provide": {}, "real": (), "name": None}
    with pytest.raises(UsageError) as raised:
        check_load_arguments(**{**given, **changed})
    return str(raised.value)


@pytest.mark.parametrize("path", [None, 3, b"a.py"])
def test_path_of_a_wrong_type_is_refused(path: object) -> None:
    assert refusal(path=path) == (
        f"sm120.load was given path {path!r}. It is a text or a pathlib.Path.{REMEDY}"
    )


@pytest.mark.parametrize("provide", [["torch"], {3: 4}])
def test_provide_of_a_wrong_type_is_refused(provide: object) -> None:
    assert refusal(provide=provide) == (
        f"sm120.load was given provide= {provide!r}. It maps dotted names to objects.{REMEDY}"
    )


@pytest.mark.parametrize("real", [5, [5], ["a b"], "a..b"])
def test_real_of_a_wrong_type_is_refused(real: object) -> None:
    assert refusal(real=real) == (
        f"sm120.load was given real= {real!r}. It lists dotted names of modules.{REMEDY}"
    )


@pytest.mark.parametrize("name", [5, ".", "a b", ""])
def test_name_that_is_no_dotted_name_is_refused(name: object) -> None:
    assert refusal(name=name) == (
        f"sm120.load was given name= {name!r}. It is a dotted name of a module.{REMEDY}"
    )


@pytest.mark.parametrize("real", ["a.b", ["a.b", "c"], ()])
def test_arguments_of_the_right_types_are_accepted(real: Any) -> None:
    check_load_arguments("a.py", {"a.b": 1}, real, "pkg.mod")
