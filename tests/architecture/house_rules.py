"""The house rules as functions: each takes a folder and returns one sentence per broken place.

An empty list means that the folder keeps the rule. Places are given as ``file:line``, relative to
the folder.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.source_files import (
    Comment,
    Definition,
    comments_in,
    docstrings_in,
    is_empty_room,
    module_level_imports,
    parsed,
    public_definitions,
    python_files,
    text_files,
)

MEDIAN_FUNCTION_LINES = 8
LONGEST_FUNCTION_LINES = 50
# "Under 300".
LONGEST_FILE_LINES = 299
# Names that say nothing about what a module holds.
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "misc", "base", "manager"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
COVERAGE_PRAGMA = re.compile(r"pragma[:\s]?\s*no\s*(cover|branch)", re.IGNORECASE)
IGNORE = re.compile(
    r"#\s*(noqa(:\s*[A-Z]+[0-9]+([,\s]+[A-Z]+[0-9]+)*)?|type:\s*ignore(\[[^]]*\])?)"
)
REASON = re.compile(r"#\s*\w\S*\s+\S*\w")
# Put together here, so that this file keeps the rule that it checks.
REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (("pypi", "org"), ("pythonhosted", "org"), ("download", "pytorch", "org"))
)
# Which room may import what when it is itself imported; the others do it inside functions.
HEAVY_IMPORTS: dict[str, tuple[str, ...]] = {
    "torch": (),
    "triton": (),
    "numpy": ("oracles",),
    "libcst": ("rewriting",),
}


def long_functions(folder: Path) -> list[str]:
    """Functions longer than the limit; the docstring is not counted."""
    return [
        f"{function.site}: {function.name} has {function.lines} lines; at most "
        f"{LONGEST_FUNCTION_LINES} are accepted. Split it."
        for function in _functions(folder)
        if function.lines > LONGEST_FUNCTION_LINES
    ]


def high_median(folder: Path) -> list[str]:
    """One sentence if the median function of the folder is longer than the limit."""
    lengths = [function.lines for function in _functions(folder)]
    median = statistics.median(lengths) if lengths else 0
    if median <= MEDIAN_FUNCTION_LINES:
        return []
    return [
        f"The median of {len(lengths)} functions is {median:g} lines; at most "
        f"{MEDIAN_FUNCTION_LINES} are accepted. Split the long ones."
    ]


def long_files(folder: Path) -> list[str]:
    """Python files of 300 lines or more."""
    return [
        f"{path.relative_to(folder)}: {lines} lines; at most {LONGEST_FILE_LINES} are accepted. "
        "Split it by what it holds."
        for path in python_files(folder)
        if (lines := len(path.read_text("utf-8").splitlines())) > LONGEST_FILE_LINES
    ]


def empty_names(folder: Path) -> list[str]:
    """Modules and folders named after nothing that they hold, such as ``string_utils``."""
    return [
        f"{name}: the name does not say what it holds. Rename it."
        for name in sorted(_module_and_folder_names(folder))
        if name.stem.lower().split("_")[-1] in EMPTY_NAMES
    ]


def undocumented_names(folder: Path) -> list[str]:
    """Modules, and public classes, functions and methods, that have no docstring."""
    return [
        f"{definition.site}: {definition.name} is public and has no docstring. Write one."
        for path in python_files(folder)
        for definition in public_definitions(path, folder)
        if ast.get_docstring(definition.node) is None
    ]


def coverage_pragmas(folder: Path) -> list[str]:
    """Comments that ask for a line or a branch to be left out of the coverage figure."""
    return [
        f"{comment.site}: {comment.text!r} hides code from the coverage figure. Test the code, or "
        "remove it."
        for comment in _comments(folder)
        if COVERAGE_PRAGMA.search(comment.text)
    ]


def unfinished_work(folder: Path) -> list[str]:
    """Comments and docstrings with a marker of unfinished work.

    A room that holds nothing but a docstring is left out: it is not begun rather than unfinished.
    """
    return [
        f"{comment.site}: a marker of unfinished work ({marker.group()}). Finish it, or remove it."
        for comment in (*_comments(folder), *_docstrings(folder))
        if (marker := UNFINISHED.search(comment.text))
    ]


def ignores_without_reason(folder: Path) -> list[str]:
    """Comments that silence ruff or mypy, with no ``# reason`` of two words or more after it."""
    return [
        f"{comment.site}: {comment.text!r} does not say why. "
        f"Add the reason: '{comment.text}  # ...'."
        for comment in _comments(folder)
        if IGNORE.search(comment.text) and not REASON.search(IGNORE.sub("", comment.text))
    ]


def registry_hosts(folder: Path) -> list[str]:
    """Lines of any text file that name the host of a package registry."""
    return [
        f"{path.relative_to(folder)}:{number}: names the registry host {host}. Leave the choice of "
        "registry to the user's own settings."
        for path in text_files(folder)
        # A file without a suffix may be one that a tool left, and no text at all.
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1)
        for host in REGISTRY_HOSTS
        if host in line.lower()
    ]


def heavy_imports(folder: Path) -> list[str]:
    """Imports of a slow or optional package that run as soon as the module is imported."""
    return [
        f"{site}: imports {root} when it is imported itself. Import it inside the function."
        for path in python_files(folder)
        for site, root in module_level_imports(path, folder)
        if root in HEAVY_IMPORTS and path.relative_to(folder).parts[0] not in HEAVY_IMPORTS[root]
    ]


@dataclass(frozen=True)
class Function:
    """A function or method, nested ones included."""

    site: str
    name: str
    #: From ``def`` to the last line, without the docstring, with comments and blank lines.
    lines: int


def _functions(folder: Path) -> Iterator[Function]:
    for path in python_files(folder):
        for node in ast.walk(parsed(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                site = f"{path.relative_to(folder)}:{node.lineno}"
                yield Function(site, node.name, _lines_without_docstring(node))


def _lines_without_docstring(node: Definition) -> int:
    lines = _lines(node)
    return lines if ast.get_docstring(node) is None else lines - _lines(node.body[0])


def _lines(node: ast.stmt) -> int:
    # Only an end that the parser did not set is None.
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _module_and_folder_names(folder: Path) -> set[Path]:
    modules = {path.relative_to(folder) for path in python_files(folder)}
    return modules | {parent for module in modules for parent in module.parents if parent.name}


def _comments(folder: Path) -> Iterator[Comment]:
    for path in python_files(folder):
        yield from comments_in(path, folder)


def _docstrings(folder: Path) -> Iterator[Comment]:
    for path in python_files(folder):
        if not is_empty_room(path):
            yield from docstrings_in(path, folder)
