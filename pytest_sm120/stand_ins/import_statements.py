"""Which dotted names the import statements of a file name, lazy ones included."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

#: Calls that name a module by a literal.
NAMING_CALLS = ("import_module", "__import__", "find_spec")


def absolute_name(name: str, package: str, level: int) -> str:
    """Return what ``from <level dots><name> import ...`` means inside a package.

    Raises ImportError when there are more dots than packages, as the import statement does.
    """
    if level == 0:
        return name
    parts = package.split(".") if package else []
    if len(parts) < level:
        raise ImportError("attempted relative import beyond top-level package")
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{name}" if name else base


def imported_names(tree: ast.Module, package: str, *, calls: bool = True) -> frozenset[str]:
    """Return every absolute dotted name that an import statement anywhere in the tree names.

    ``from a.b import c`` names ``a.b.c``, ``from a.b import *`` names ``a.b``.
    ``importlib.import_module("a.b")`` with a literal counts as a statement; ``calls`` is False for
    a text that has no such call.
    """
    nodes = ast.walk(tree) if calls else _statements(tree)
    return frozenset(name for node in nodes for name in _names_of(node, package))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every statement without looking into expressions, of which most of a tree consists."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(node, part, ()))


def _names_of(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from _names_of_from(node, package)
    elif isinstance(node, ast.Call):
        yield from _literal_import_module(node, package)


def _names_of_from(node: ast.ImportFrom, package: str) -> Iterator[str]:
    for module in resolved_names(node.module or "", package, node.level):
        for alias in node.names:
            yield module if alias.name == "*" else f"{module}.{alias.name}"


def _literal_import_module(node: ast.Call, package: str) -> Iterator[str]:
    callee = node.func.attr if isinstance(node.func, ast.Attribute) else None
    callee = node.func.id if isinstance(node.func, ast.Name) else callee
    first = node.args[0] if node.args else None
    name = first.value if isinstance(first, ast.Constant) else None
    if callee in NAMING_CALLS and isinstance(name, str):
        yield from resolved_names(name.lstrip("."), package, leading_dots(name))


def leading_dots(name: str) -> int:
    """Return how many dots a relative name begins with."""
    return len(name) - len(name.lstrip("."))


def resolved_names(name: str, package: str, level: int) -> Iterator[str]:
    """Yield the absolute name; nothing when there are more dots than packages."""
    try:
        yield absolute_name(name, package, level)
    except ImportError:
        # The statement may never run; when it does, it raises by itself.
        return


def is_named(key: str, names: Iterable[str]) -> bool:
    """Return whether a provided dotted name is one of the names, lies below one or above one."""
    return any(
        key == name or key.startswith(f"{name}.") or name.startswith(f"{key}.") for name in names
    )


def public_names(tree: ast.Module) -> list[str]:
    """Return what ``from module import *`` would bind, as far as the text of the module says.

    That is the literal ``__all__``, else every name without a leading underscore that is bound at
    module level, inside ``if`` and ``try`` included.
    """
    bound: dict[str, None] = {}
    for statement in module_level(tree):
        for name in _bound_by(statement):
            bound[name] = None
        listed = _literal_all(statement)
        if listed is not None:
            return listed
    return [name for name in bound if not name.startswith("_")]


def module_level(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that an import of the module runs, those inside if and try included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield child
            if not isinstance(child, _SCOPES):
                yield from module_level(child)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _bound_by(statement: ast.AST) -> Iterator[str]:
    if isinstance(statement, _SCOPES):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for node in (node for target in targets for node in ast.walk(target)):
            if isinstance(node, ast.Name):
                yield node.id


def _literal_all(statement: ast.AST) -> list[str] | None:
    if not isinstance(statement, ast.Assign):
        return None
    if not isinstance(statement.value, (ast.List, ast.Tuple)):
        return None
    names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    items = [item.value for item in statement.value.elts if isinstance(item, ast.Constant)]
    return [item for item in items if isinstance(item, str)] if names == ["__all__"] else None
