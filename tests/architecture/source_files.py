"""What the house rules read: the files of a folder, and the definitions and comments in them."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Documented: TypeAlias = Definition | ast.Module

# Folders that tools fill, and that git does not track.
UNTRACKED = {"__pycache__", "build", "dist"}
# The folders that are tracked although their names begin with a dot.
TRACKED_WITH_DOT = {".ci", ".github"}
TEXT_SUFFIXES = {".cfg", ".ini", ".md", ".py", ".toml", ".txt", ".yaml", ".yml", ""}


@dataclass(frozen=True)
class Comment:
    """A comment or a docstring and where it starts."""

    site: str
    text: str


@dataclass(frozen=True)
class PublicDefinition:
    """A module, or a class, function or method that users can reach by public names alone."""

    site: str
    name: str
    node: Documented


def python_files(folder: Path) -> list[Path]:
    """The ``.py`` files of a folder and the folders in it, sorted."""
    return [path for path in text_files(folder) if path.suffix == ".py"]


def text_files(folder: Path) -> list[Path]:
    """The text files of a folder and the folders in it, sorted; what tools made is left out."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in TEXT_SUFFIXES
        and path.is_file()
        and all(map(_is_tracked, path.relative_to(folder).parts[:-1]))
    )


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"), str(path))


def is_empty_room(path: Path) -> bool:
    """Whether a file is the only one of its package and holds nothing but a docstring."""
    alone = [other.name for other in path.parent.glob("*.py")] == ["__init__.py"]
    return alone and len(parsed(path).body) <= 1


def comments_in(path: Path, folder: Path) -> Iterator[Comment]:
    """The comments of a file; places are relative to ``folder``."""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield Comment(f"{path.relative_to(folder)}:{token.start[0]}", token.string)


def docstrings_in(path: Path, folder: Path) -> Iterator[Comment]:
    """The docstrings of a file; places are relative to ``folder``."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text is not None:
                yield Comment(f"{path.relative_to(folder)}:{node.body[0].lineno}", text)


def public_definitions(path: Path, folder: Path) -> Iterator[PublicDefinition]:
    """The module itself and what is public in it; nothing for a private module."""
    name = path.stem if path.stem != "__init__" else path.parent.name
    if not name.startswith("_") or name == "__main__":
        site = f"{path.relative_to(folder)}:1"
        tree = parsed(path)
        yield PublicDefinition(site, name, tree)
        yield from _public_members(tree, path.relative_to(folder))


def module_level_imports(path: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Place and root package of each absolute import that runs when the file is imported."""
    for node in _executed_on_import(parsed(path)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for root in _imported_roots(node):
                yield f"{path.relative_to(folder)}:{node.lineno}", root


def _is_tracked(folder_name: str) -> bool:
    hidden = folder_name.startswith(".") and folder_name not in TRACKED_WITH_DOT
    return not hidden and folder_name not in UNTRACKED


def _public_members(parent: ast.Module | ast.ClassDef, file: Path) -> Iterator[PublicDefinition]:
    for node in parent.body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if node.name.startswith("_") or _is_documented_elsewhere(node):
            continue
        yield PublicDefinition(f"{file}:{node.lineno}", node.name, node)
        if isinstance(node, ast.ClassDef):
            yield from _public_members(node, file)


def _is_documented_elsewhere(node: Definition) -> bool:
    # The getter documents a property, the implementation documents its overloads.
    names = {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}
    return bool(names & {"overload", "setter", "deleter"})


def _executed_on_import(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _executed_on_import(child)


def _imported_roots(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [node.module.partition(".")[0]] if node.module and not node.level else []
