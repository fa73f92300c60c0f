from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture import house_rules

Rule = Callable[[Path], list[str]]

# What is shipped keeps all rules. Tests and examples are free in how functions are cut, in what
# they import and in docstrings: the name of a test says what it shows.
PACKAGE_ONLY: tuple[Rule, ...] = (
    house_rules.long_functions,
    house_rules.high_median,
    house_rules.undocumented_names,
    house_rules.heavy_imports,
)
EVERYWHERE: tuple[Rule, ...] = (
    house_rules.long_files,
    house_rules.empty_names,
    house_rules.coverage_pragmas,
    house_rules.unfinished_work,
    house_rules.ignores_without_reason,
    house_rules.registry_hosts,
)


def function_of(lines: int, *, docstring_lines: int = 0) -> str:
    docstring = ['    """' + "\n" * (docstring_lines - 1) + '"""'] if docstring_lines else []
    return "\n".join(["def f():", *docstring, *["    pass"] * (lines - 1), ""])


def plant(folder: Path, file: str, text: str) -> None:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("rule", [*PACKAGE_ONLY, *EVERYWHERE], ids=lambda rule: rule.__name__)
def test_package_keeps_the_house_rule(checkout: Path, rule: Rule) -> None:
    assert rule(checkout / "pytest_sm120") == []


@pytest.mark.parametrize("rule", EVERYWHERE, ids=lambda rule: rule.__name__)
def test_checkout_keeps_the_house_rule(checkout: Path, rule: Rule) -> None:
    assert rule(checkout) == []


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        (function_of(50), []),
        (function_of(50, docstring_lines=9), []),
        (
            "\n" + function_of(51),
            ["a.py:2: f has 51 lines; at most 50 are accepted. Split it."],
        ),
    ],
)
def test_long_functions_are_named_with_their_length(
    tmp_path: Path, text: str, broken: list[str]
) -> None:
    plant(tmp_path, "a.py", text)
    assert house_rules.long_functions(tmp_path) == broken


@pytest.mark.parametrize(
    ("lengths", "broken"),
    [
        ([], []),
        ([2, 8, 40], []),
        (
            [2, 9, 40],
            ["The median of 3 functions is 9 lines; at most 8 are accepted. Split the long ones."],
        ),
    ],
)
def test_high_median_is_told_with_its_value(
    tmp_path: Path, lengths: list[int], broken: list[str]
) -> None:
    plant(tmp_path, "a.py", "".join(map(function_of, lengths)))
    assert house_rules.high_median(tmp_path) == broken


@pytest.mark.parametrize(
    ("lines", "broken"),
    [
        (299, []),
        (
            300,
            ["a/b.py: 300 lines; at most 299 are accepted. Split it by what it holds."],
        ),
    ],
)
def test_long_files_are_named_with_their_length(
    tmp_path: Path, lines: int, broken: list[str]
) -> None:
    plant(tmp_path, "a/b.py", "pass\n" * lines)
    assert house_rules.long_files(tmp_path) == broken


@pytest.mark.parametrize(
    ("file", "broken"),
    [
        ("launches.py", None),
        ("base_addresses.py", None),
        ("utils.py", "utils.py"),
        ("_helpers.py", "_helpers.py"),
        ("data_manager.py", "data_manager.py"),
        ("common/launches.py", "common"),
    ],
)
def test_empty_names_are_told_for_modules_and_folders(
    tmp_path: Path, file: str, broken: str | None
) -> None:
    plant(tmp_path, file, "")
    expected = f"{broken}: the name does not say what it holds. Rename it."
    assert house_rules.empty_names(tmp_path) == ([expected] if broken else [])


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("", "a.py:1: a"),
        ('"""D."""\nclass C: ...', "a.py:2: C"),
        ('"""D."""\ndef f(): ...', "a.py:2: f"),
        ('"""D."""\nasync def f(): ...', "a.py:2: f"),
        ('"""D."""\nclass C:\n    """D."""\n    def m(self): ...', "a.py:4: m"),
        ('"""D."""\nclass C:\n    """D."""\n    def __len__(self): ...', None),
        ('"""D."""\nclass _C:\n    def m(self): ...', None),
        ('"""D."""\ndef _f(): ...', None),
        ('"""D."""\n@typing.overload\ndef f(): ...', None),
        ('"""D."""\nclass C:\n    """D."""\n    @m.setter\n    def m(self, to): ...', None),
        ('"""D."""\nx = 1', None),
    ],
)
def test_undocumented_names_are_the_public_ones(
    tmp_path: Path, text: str, broken: str | None
) -> None:
    plant(tmp_path, "a.py", text)
    expected = f"{broken} is public and has no docstring. Write one."
    assert house_rules.undocumented_names(tmp_path) == ([expected] if broken else [])


def test_undocumented_names_leave_a_private_module_out(tmp_path: Path) -> None:
    plant(tmp_path, "_a.py", "def f(): ...")
    assert house_rules.undocumented_names(tmp_path) == []


@pytest.mark.parametrize("what", ["cover", "branch"])
def test_coverage_pragmas_are_told_with_their_text(tmp_path: Path, what: str) -> None:
    plant(tmp_path, "a.py", f"x = 1\ny = 2  # pragma: no {what}\n")
    assert house_rules.coverage_pragmas(tmp_path) == [
        f"a.py:2: '# pragma: no {what}' hides code from the coverage figure. Test the code, or "
        "remove it."
    ]


@pytest.mark.parametrize("marker", ["TODO", "FIXME", "XXX"])
@pytest.mark.parametrize("text", ["x = 1\n# {}: more", 'x = 1\ndef f():\n    """{} more"""'])
def test_unfinished_work_is_told_in_comments_and_docstrings(
    tmp_path: Path, marker: str, text: str
) -> None:
    plant(tmp_path, "a.py", text.format(marker))
    line = 2 if "#" in text else 3
    assert house_rules.unfinished_work(tmp_path) == [
        f"a.py:{line}: a marker of unfinished work ({marker}). Finish it, or remove it."
    ]


def test_unfinished_work_leaves_out_a_room_that_is_not_begun(tmp_path: Path) -> None:
    plant(tmp_path, "room/__init__.py", '"""TODO room docstring."""')
    assert house_rules.unfinished_work(tmp_path) == []


def test_unfinished_work_is_told_in_a_room_docstring_when_the_room_is_begun(
    tmp_path: Path,
) -> None:
    plant(tmp_path, "room/__init__.py", '"""TODO room docstring."""')
    plant(tmp_path, "room/launches.py", "")
    assert house_rules.unfinished_work(tmp_path) == [
        "room/__init__.py:1: a marker of unfinished work (TODO). Finish it, or remove it."
    ]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501  # a table reads better unbroken",
        "# type: ignore[misc]  # the stub of libcst is wrong here",
        "# type: ignore[misc]  # noqa: E501  # the stub is wrong here",
        "# noqa: N802  # torch's spelling",
        "# says nothing about noqua",
    ],
)
def test_ignore_with_a_reason_is_accepted(tmp_path: Path, comment: str) -> None:
    plant(tmp_path, "a.py", f"x = 1  {comment}\n")
    assert house_rules.ignores_without_reason(tmp_path) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# noqa: E501",
        "# noqa: E501, F401",
        "# noqa because of that",
        "# type: ignore",
        "# type: ignore[misc]",
        "# type: ignore[misc]  # noqa: E501",
        "# type: ignore[misc]  # mypy",
    ],
)
def test_ignore_without_a_reason_is_told(tmp_path: Path, comment: str) -> None:
    plant(tmp_path, "a.py", f"x = 1  {comment}\n")
    assert house_rules.ignores_without_reason(tmp_path) == [
        f"a.py:1: {comment!r} does not say why. Add the reason: '{comment}  # ...'."
    ]


@pytest.mark.parametrize("host", house_rules.REGISTRY_HOSTS)
@pytest.mark.parametrize("file", ["a.py", "tox.ini", ".ci/run", ".github/workflows/ci.yml"])
def test_registry_hosts_are_told_in_any_text_file(tmp_path: Path, host: str, file: str) -> None:
    plant(tmp_path, file, f"\nhttps://{host}/simple\n")
    assert house_rules.registry_hosts(tmp_path) == [
        f"{file}:2: names the registry host {host}. Leave the choice of registry to the user's own "
        "settings."
    ]


@pytest.mark.parametrize("file", [".tox/a.py", ".git/config", "build/a.py", "a.png"])
def test_files_that_are_not_source_text_are_not_read(tmp_path: Path, file: str) -> None:
    plant(tmp_path, file, house_rules.REGISTRY_HOSTS[0])
    assert house_rules.registry_hosts(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("import numpy as np", "numpy"),
        ("import triton.language", "triton"),
        ("from libcst import matchers", "libcst"),
        ("try:\n    import torch\nexcept ImportError: ...", "torch"),
        ("class C:\n    import torch", "torch"),
    ],
)
def test_heavy_imports_are_told_when_importing_runs_them(
    tmp_path: Path, text: str, root: str
) -> None:
    plant(tmp_path, "recorder/a.py", text)
    [broken] = house_rules.heavy_imports(tmp_path)
    line = text.splitlines().index(next(part for part in text.splitlines() if root in part)) + 1
    assert broken == (
        f"recorder/a.py:{line}: imports {root} when it is imported itself. "
        "Import it inside the function."
    )


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("recorder/a.py", "def f():\n    import torch"),
        ("recorder/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy"),
        ("recorder/a.py", "from .torch import stand_in"),
        ("recorder/a.py", "from pytest_sm120.stand_ins import torch"),
        ("oracles/a.py", "import numpy"),
        ("rewriting/a.py", "import libcst"),
    ],
)
def test_heavy_imports_are_accepted_where_they_wait_or_belong(
    tmp_path: Path, file: str, text: str
) -> None:
    plant(tmp_path, file, text)
    assert house_rules.heavy_imports(tmp_path) == []
