"""Which names the text of a file binds at module level, and by what: read with ast alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

#: How a name reads that holds a yes or no. A name of the arch is none: ``is_sm`` is.
FLAG = re.compile(
    r"_*(?:is|are|use|uses|using|has|have|can|should|enable|enabled|disable|disabled|support|"
    r"supports|supported|with|allow|force|skip)_\w+"
    r"|\w+_(?:enabled|disabled|supported|available|installed)",
    re.IGNORECASE,
)

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Binding(NamedTuple):
    """One statement of a module that binds a name."""

    name: str
    #: ``"def"``, ``"class"``, ``"import"``, ``"assignment"``, ``"other"`` or ``"deletion"``.
    kind: str
    line: int
    #: Whether nothing but an exception keeps the statement from running.
    always: bool
    node: ast.AST


def bindings(tree: ast.Module) -> list[Binding]:
    """Return every statement that binds or deletes a module-level name, in the text's order."""
    return list(_bindings(tree.body, always=True))


def _bindings(body: list[ast.stmt], *, always: bool) -> Iterator[Binding]:
    for statement in body:
        for name, kind in _bound_by(statement):
            yield Binding(name, kind, _first_line(statement), always, statement)
        if isinstance(statement, _SCOPES):
            continue
        inside = always and isinstance(statement, (ast.With, ast.AsyncWith))
        for block in _blocks(statement):
            yield from _bindings(block, always=inside)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _first_line(statement: ast.stmt) -> int:
    return statement.lineno


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in _BLOCKS:
        inner = getattr(statement, field, [])
        if field in ("handlers", "cases"):
            yield from (part.body for part in inner)
        elif isinstance(inner, list):
            yield inner


def _bound_by(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(statement, ast.ClassDef):
        yield statement.name, "class"
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield statement.name, "def"
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            if alias.name != "*":
                yield alias.asname or alias.name.partition(".")[0], "import"
    elif isinstance(statement, ast.Delete):
        yield from ((name, "deletion") for target in statement.targets for name in _names(target))
    elif isinstance(statement, ast.AnnAssign) and statement.value is None:
        return
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from ((name, "assignment") for target in targets for name in _names(target))
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        yield from ((name, "other") for name in _names(statement.target))
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            if item.optional_vars is not None:
                yield from ((name, "other") for name in _names(item.optional_vars))


def _names(target: ast.expr) -> Iterator[str]:
    """Yield the plain names in an assignment target; ``a.b`` and ``a[b]`` bind none."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _names(element)


def definitions(found: list[Binding]) -> dict[str, bool]:
    """Return the names of defs and classes, each with whether it must be there after the import.

    One in a branch need not be there, and neither need one that is deleted later.
    """
    deleted = {binding.name for binding in found if binding.kind == "deletion"}
    names: dict[str, bool] = {}
    for binding in found:
        if binding.kind in ("def", "class"):
            must = binding.always and binding.name not in deleted
            names[binding.name] = names.get(binding.name, False) or must
    return names


def flags(found: list[Binding]) -> dict[str, Binding]:
    """Return the last assignment of each name that reads like a flag.

    Imported names are functions of another module far more often than values, and are left out.
    """
    return {
        binding.name: binding
        for binding in found
        if binding.kind == "assignment" and FLAG.fullmatch(binding.name)
    }
