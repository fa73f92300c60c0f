"""Which dotted names the import statements of a file name, lazy ones included."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


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


def imported_names(tree: ast.Module, package: str) -> frozenset[str]:
    """Return every absolute dotted name that an import statement anywhere in the tree names.

    ``from a.b import c`` names ``a.b`` and ``a.b.c``. ``importlib.import_module("a.b")`` with a
    literal counts as a statement.
    """
    return frozenset(name for node in ast.walk(tree) for name in _names_of(node, package))


def _names_of(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from _names_of_from(node, package)
    elif isinstance(node, ast.Call):
        yield from _literal_import_module(node)


def _names_of_from(node: ast.ImportFrom, package: str) -> Iterator[str]:
    try:
        module = absolute_name(node.module or "", package, node.level)
    except ImportError:
        # The statement may never run; when it does, it raises by itself.
        return
    yield module
    yield from (f"{module}.{alias.name}" for alias in node.names if alias.name != "*")


def _literal_import_module(node: ast.Call) -> Iterator[str]:
    callee = node.func.attr if isinstance(node.func, ast.Attribute) else None
    callee = node.func.id if isinstance(node.func, ast.Name) else callee
    first = node.args[0] if node.args else None
    if callee == "import_module" and isinstance(first, ast.Constant):
        if isinstance(first.value, str):
            yield first.value


def is_named(key: str, names: Iterable[str]) -> bool:
    """Return whether a provided dotted name is one of the names, lies below one or above one."""
    return any(
        key == name or key.startswith(f"{name}.") or name.startswith(f"{key}.") for name in names
    )
