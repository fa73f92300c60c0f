from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from pytest_sm120.errors import Sm120Error, TargetError, UsageError
from pytest_sm120.source import read_source

ONLY_WHAT_COMPILES = (
    "The source view reads only files that compile. "
    "Correct that line, or run the test on the Python version that the file is for."
)
TOO_DEEP = (
    "The source view reads what Python itself can compile. "
    "Split the deeply nested expression into several statements."
)


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "target.py"
    path.write_bytes(data)
    return path


def refusal(kind: type[Sm120Error], path: Path) -> str:
    with pytest.raises(kind) as caught:
        read_source(path)
    return str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xef\xbb\xbfimport torch\nx = torch.zeros(4)  # why\n", id="bom"),
        pytest.param(b"import torch\r\nx = torch.zeros(4)  # why\r\n", id="crlf"),
        pytest.param(b"import torch\rx = torch.zeros(4)  # why\r", id="cr"),
        pytest.param(b"import torch\nx = torch.zeros(4)  # why", id="no last line end"),
    ],
)
def test_file_is_read_like_python_reads_it(tmp_path: Path, data: bytes) -> None:
    [call] = read_source(written(tmp_path, data)).allocations()
    assert (call.line, call.text, call.comment) == (2, "torch.zeros(4)", "why")


def test_text_is_decoded_by_its_coding_line(tmp_path: Path) -> None:
    data = b"# -*- coding: latin-1 -*-\n\nx = f('\xe9', g(1))  # caf\xe9\n"
    [call] = read_source(written(tmp_path, data)).calls("f")
    assert (call.arguments, call.comment) == (("'é'", "g(1)"), "café")


def test_column_counts_characters_not_bytes(tmp_path: Path) -> None:
    path = written(tmp_path, "été = 'é', f('ü', 1)\n".encode())
    [call] = read_source(path).calls("f")
    assert (call.column, call.text) == (11, "f('ü', 1)")


@pytest.mark.parametrize("lines_before", [b"", b"\n\n"], ids=["first line", "third line"])
def test_stray_byte_in_a_comment_is_replaced_as_python_accepts_it(
    tmp_path: Path, lines_before: bytes
) -> None:
    path = written(tmp_path, lines_before + b"# \x80 stray\nx = f(1)\n")
    [call] = read_source(path).calls("f")
    assert call.comment == "\N{REPLACEMENT CHARACTER} stray"


def test_form_feed_is_no_line_end(tmp_path: Path) -> None:
    [call] = read_source(written(tmp_path, b"x = 1\n\x0c\ny = f('\x0c', 2)  # why\n")).calls("f")
    assert (call.line, call.arguments[1], call.comment) == (3, "2", "why")


def test_empty_file_has_nothing(tmp_path: Path) -> None:
    assert read_source(written(tmp_path, b"")).allocations() == []


def test_invalid_escape_is_no_error_when_warnings_are(tmp_path: Path) -> None:
    path = written(tmp_path, b"x = f('\\d')\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [call.text for call in read_source(path).calls("f")] == ["f('\\d')"]


def test_target_is_never_executed(tmp_path: Path) -> None:
    path = written(tmp_path, b"import a_package_that_is_not_there\nraise SystemExit(3)\n")
    assert read_source(path).calls("SystemExit")[0].line == 2


def test_room_imports_only_the_standard_library() -> None:
    program = (
        "import sys, pytest_sm120.source\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(names & {'libcst', 'numpy', 'pytest', 'torch', 'triton'})"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_missing_file_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "absent.py"
    assert refusal(UsageError, path) == (
        f"There is no file {path}. "
        "sm120.source reads one Python file; a relative path starts at sm120_root. "
        "Correct the path, or point sm120_root at the folder that it starts from."
    )


def test_directory_is_explained(tmp_path: Path) -> None:
    assert refusal(UsageError, tmp_path) == (
        f"{tmp_path} is a directory. sm120.source reads one Python file. "
        "Name the file, for example its __init__.py, in a call of its own."
    )


def test_device_file_is_explained() -> None:
    assert refusal(UsageError, Path(os.devnull)) == (
        f"{os.devnull} is not a regular file. sm120.source reads one Python file. "
        "Name the file, for example its __init__.py, in a call of its own."
    )


def test_unreadable_file_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, b"x = 1\n")

    # Permission bits do not stop root, as whom a container often runs the tests.
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert refusal(UsageError, path) == (
        f"{path} cannot be read: Permission denied. "
        "sm120.source needs permission to read the file. "
        "Make the file readable for the user who runs the tests."
    )


def test_binary_file_is_explained(tmp_path: Path) -> None:
    path = written(tmp_path, b"x = 1\ny = 2\x00\n")
    assert refusal(TargetError, path) == (
        f"{path}:2: the file holds a NUL byte. "
        "Python source is text; no encoding that Python accepts has NUL bytes in it. "
        "Name the .py file, not what was compiled from it, and save it as UTF-8."
    )


def test_stray_byte_outside_comments_is_explained(tmp_path: Path) -> None:
    path = written(tmp_path, b"x = 1\ny = '\xe9'\n")
    assert refusal(TargetError, path) == (
        f"{path}:2: Python refuses the file with SyntaxError: (unicode error) 'utf-8' codec "
        f"can't decode byte 0xe9 in position 0: unexpected end of data. {ONLY_WHAT_COMPILES}"
    )


def test_unknown_encoding_is_explained(tmp_path: Path) -> None:
    path = written(tmp_path, b"# coding: klingon\n")
    assert refusal(TargetError, path) == (
        f"{path}: Python refuses the file with SyntaxError: unknown encoding: klingon. "
        f"{ONLY_WHAT_COMPILES}"
    )


def test_syntax_error_is_explained_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, b"x = 1\ny = (\n")
    assert refusal(TargetError, path) == (
        f"{path}:2: Python refuses the file with SyntaxError: '(' was never closed. "
        f"{ONLY_WHAT_COMPILES}"
    )


def test_indentation_error_is_explained_by_its_own_name(tmp_path: Path) -> None:
    path = written(tmp_path, b"x = 1\n  y = 2\n")
    assert refusal(TargetError, path) == (
        f"{path}:2: Python refuses the file with IndentationError: unexpected indent. "
        f"{ONLY_WHAT_COMPILES}"
    )


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_nesting_too_deep_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    # How deep is too deep differs between versions; the errors do not.
    def give_up(*_: object) -> None:
        raise error("maximum recursion depth exceeded")

    path = written(tmp_path, b"x = 1\n")
    monkeypatch.setattr("pytest_sm120.source.reading.ast.parse", give_up)
    assert refusal(TargetError, path) == (
        f"{path} is nested too deeply for Python's own parser ({error.__name__}). {TOO_DEEP}"
    )


def test_parser_that_gives_up_is_explained(tmp_path: Path) -> None:
    path = written(tmp_path, b"x = " + b"-" * 20_000 + b"1\n")
    assert refusal(TargetError, path) == (
        f"{path} is nested too deeply for Python's own parser (MemoryError). {TOO_DEEP}"
    )


def test_expression_deeper_than_our_own_stack_is_walked(tmp_path: Path) -> None:
    # The parser takes a chain of some 900 calls at the default recursion limit of 1000.
    path = written(tmp_path, b"x = y" + b".a()" * 400 + b"\n")
    assert len(read_source(path).calls("a")) == 400
