"""Which of its pointer arguments a kernel may write through, judged on the kernel's text."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

_WRITING = ("store", "atomic_")

# Calls of triton.language whose result is never a pointer into an argument.
_READS = ("load", "atomic_")

# The modules of Triton, by the names under which kernels import them. None of their functions but
# the stores and atomics writes through an argument.
_LANGUAGE = frozenset({"tl", "triton", "language", "libdevice", "math", "gl", "ttgl", "gluon"})


def find_written_arguments(
    fn: Callable[..., Any], definition: ast.AST | None = None
) -> frozenset[str]:
    """Return the parameters that reach the address of a store or an atomic.

    A parameter that is handed to another function counts as written, and so does every one of them
    when the text cannot be read. ``definition`` is the function's tree if somebody has it already.
    """
    names = frozenset(inspect.signature(fn).parameters)
    tree = definition or _parse(fn)
    if tree is None:
        return names
    origins = _origins_of_names(tree, names)
    return frozenset(
        origin
        for address in _written_addresses(tree, frozenset(origins))
        for name in _names_in(address)
        for origin in origins.get(name, ())
    )


def _parse(fn: Callable[..., Any]) -> ast.AST | None:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    except (OSError, TypeError, SyntaxError):
        return None
    # Code that exec() compiled may be taken for what else has its file name: "<string>" is also
    # the text after `python -c`, which Python 3.13 keeps.
    names = [getattr(node, "name", "") for node in tree.body]
    return tree if names == [fn.__name__] else None


def _origins_of_names(tree: ast.AST, parameters: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return, for each local name, the parameters its value may be derived from."""
    origins = {name: frozenset({name}) for name in parameters}
    flows = [(name, frozenset(_names_in(source))) for name, source in _flows(tree)]
    changed = True
    while changed:
        changed = False
        for target, sources in flows:
            known = origins.get(target, frozenset())
            reached = known.union(*(origins.get(name, frozenset()) for name in sources))
            changed |= reached != known
            origins[target] = reached
    return origins


def _flows(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((name, node.value) for goal in node.targets for name in _names_in(goal))
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                yield from ((name, node.value) for name in _names_in(node.target))
        elif isinstance(node, ast.For):
            yield from ((name, node.iter) for name in _names_in(node.target))


def _written_addresses(tree: ast.AST, local: frozenset[str]) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if _last_name(node.func).startswith(_WRITING):
            yield from node.args[:1]
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "pointer")
            # desc.store(offsets, value) writes through what the descriptor was made from.
            yield node.func
        elif _may_write(node.func, local):
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)


def _may_write(callee: ast.expr, local: frozenset[str]) -> bool:
    """Return whether this is another kernel function: it may write through what it is given."""
    if isinstance(callee, ast.Name):
        return True
    root = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id not in local | _LANGUAGE


def _last_name(callee: ast.expr) -> str:
    if isinstance(callee, ast.Attribute):
        return callee.attr
    return callee.id if isinstance(callee, ast.Name) else ""


def _names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names in an expression, but not those that only say where to load from."""
    if isinstance(node, ast.Call) and _last_name(node.func).startswith(_READS):
        return
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _names_in(child)
