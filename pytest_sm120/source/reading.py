"""Reads a Python file into text and syntax tree, and says in full why one cannot be read."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_sm120.errors import TargetError, UsageError


@dataclass(frozen=True, eq=False)
class SourceText:
    """The text of one file and its syntax tree; neither is ever executed."""

    #: Where the text was read.
    path: Path
    #: The decoded text; every line end is ``"\\n"``, a byte order mark is gone.
    text: str
    #: What Python's own parser made of the bytes of the file.
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; line ``n`` of the tree is ``lines[n - 1]``."""
        # Not str.splitlines: it also splits at form feeds, where the parser counts no line.
        return self.text.split("\n")

    def segment(self, node: ast.expr) -> str:
        """The text of an expression, as it stands in the file."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        start, end = self.column(node), self._characters(last, node.end_col_offset or 0)
        if first == last:
            return self.lines[first][start:end]
        inner = self.lines[first + 1 : last]
        return "\n".join([self.lines[first][start:], *inner, self.lines[last][:end]])

    def column(self, node: ast.expr) -> int:
        """The column at which an expression starts, in characters, the first being 0."""
        return self._characters(node.lineno - 1, node.col_offset)

    def _characters(self, index: int, utf8_offset: int) -> int:
        line = self.lines[index]
        if line.isascii():
            return utf8_offset
        return len(line.encode()[:utf8_offset].decode(errors="ignore"))


def read_text(path: Path, known_tree: ast.Module | None = None) -> SourceText:
    """The file at ``path``, decoded and parsed the way Python does it for an import.

    ``known_tree`` is what somebody has made of the same bytes already; it is not changed.

    Raises ``UsageError`` when there is no file that could be read, ``TargetError`` when there is
    one and Python refuses it.
    """
    data = _read_bytes(path)
    if b"\0" in data:
        raise _explain_that_the_file_is_binary(path, data)
    # The bytes go to the parser, not the text: Python accepts a stray byte in a comment, and
    # a strict decoder would refuse the whole file for it.
    tree = known_tree or _parse(path, data)
    return SourceText(path, _decode(data), tree)


def _read_bytes(path: Path) -> bytes:
    if not path.exists():
        raise UsageError(
            f"There is no file {path}.",
            limit="sm120.source reads one Python file; a relative path starts at sm120_root.",
            remedy="Correct the path, or point sm120_root at the folder that it starts from.",
        )
    if not path.is_file():
        raise UsageError(
            f"{path} is {'a directory' if path.is_dir() else 'not a regular file'}.",
            limit="sm120.source reads one Python file.",
            remedy="Name the file, for example its __init__.py, in a call of its own.",
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.",
            limit="sm120.source needs permission to read the file.",
            remedy="Make the file readable for the user who runs the tests.",
        ) from error


def _parse(path: Path, data: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # Under `-W error` an invalid escape in the target would become a SyntaxError.
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except SyntaxError as error:
        raise _explain_the_syntax_error(path, error) from error
    except (RecursionError, MemoryError) as error:
        # The parser reports its own exhausted stack as a MemoryError.
        raise TargetError(
            f"{path} is nested too deeply for Python's own parser ({type(error).__name__}).",
            limit="The source view reads what Python itself can compile.",
            remedy="Split the deeply nested expression into several statements.",
        ) from error


def _decode(data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        # The parser took the bytes, so this is a stray byte in a comment of the first two lines.
        encoding = "utf-8"
    return io.TextIOWrapper(io.BytesIO(data), encoding, errors="replace").read()


def _explain_that_the_file_is_binary(path: Path, data: bytes) -> TargetError:
    line = data.count(b"\n", 0, data.index(b"\0")) + 1
    return TargetError(
        f"{path}:{line}: the file holds a NUL byte.",
        limit="Python source is text; no encoding that Python accepts has NUL bytes in it.",
        remedy="Name the .py file, not what was compiled from it, and save it as UTF-8.",
    )


def _explain_the_syntax_error(path: Path, error: SyntaxError) -> TargetError:
    # The parser gives line 0, or none, when it could not even decode the file.
    place = f"{path}:{error.lineno}" if error.lineno else str(path)
    return TargetError(
        f"{place}: Python refuses the file with {type(error).__name__}: {error.msg}.",
        limit="The source view reads only files that compile.",
        remedy="Correct that line, or run the test on the Python version that the file is for.",
    )
