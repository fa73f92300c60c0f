"""What is assumed of ghosts while a module is imported, by what the code that asks looks like."""

from __future__ import annotations

import ast
import os
import re
import sys
from types import FrameType
from typing import Any

from pytest_sm120.recorder.places import TARGET_MARK

# How a function reads that returns a yes or no.
_ASKS = re.compile(
    r"_*(?:is|are|use|uses|has|have|can|should|supports|enabled?|disabled?|allows?)_\w+"
    r"|\w+_(?:available|enabled|disabled|supported|installed)"
    r"|_*(?:get|read|parse)_(?:bool|flag)\w*|\w*(?:bool|flag)_(?:env|from_env)\w*"
)
# How an environment variable reads that holds one; SGLANG_USE_X as well as USE_X.
_SETTING = re.compile(
    r"(?:[A-Z0-9]+_)*(?:IS|USE|HAS|ENABLE|DISABLE|ALLOW|FORCE|SKIP|SUPPORT)_[A-Z0-9_]+"
)
_READS_ENVIRONMENT = re.compile(r"\w*(?:bool|flag)\w*|\w*_env(?:_\w+)?")
_ON = frozenset({"1", "true", "yes", "y", "on"})
_READS_A_SETTING = frozenset({"get", "is_set", "get_value"})
# Whether a package is there; its name is in one of the groups.
_IS_THERE = re.compile(r"_*(?:has_(\w+)|is_(\w+)_(?:available|installed|found)|HAS_(\w+))")


def asks_for_a_flag(dotted: str) -> bool:
    """Return whether a call of this name returns a yes or no, judging by the name."""
    parts = dotted.replace("()", "").split(".")
    if parts[-1] in _READS_A_SETTING and len(parts) > 1:
        return _SETTING.fullmatch(parts[-2]) is not None
    return _ASKS.fullmatch(parts[-1]) is not None


def decorates(ghost: Any) -> bool:
    """Return whether the line that runs is a decorator's, whose call makes no yes or no."""
    frame = target_frame()
    tree = None if frame is None else ghost._ghosts.tree_of(frame.f_code.co_filename)
    if frame is None or tree is None:
        return False
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return any(_spans(each, frame.f_lineno) for node in defined for each in node.decorator_list)


def guess_call(ghost: Any, args: tuple[object, ...]) -> bool:
    """Return what a call that asks for a flag is answered.

    One that names an environment variable gets what the environment says, else the default that it
    names itself.
    """
    if _READS_ENVIRONMENT.fullmatch(ghost._name.rpartition(".")[2]) and args:
        said = os.environ.get(args[0]) if isinstance(args[0], str) else None
        return str(args[1] if said is None and len(args) > 1 else said).lower() in _ON
    return guess_flag(ghost, ghost._name)


def guess_flag(ghost: Any, dotted: str) -> bool:
    """Return whether a yes-or-no question is answered with yes.

    A package that the asking file imports is there, since the import succeeds: whether it is
    answers yes. Anything else is off.
    """
    found = _IS_THERE.fullmatch(dotted.replace("()", "").rpartition(".")[2])
    frame = target_frame()
    if found is None or frame is None:
        return False
    package = next(group for group in found.groups() if group).lower()
    imported = ghost._ghosts.imported_by(frame.f_code.co_filename)
    return package in {name.partition(".")[0].lower() for name in imported}


def expected_by_assertion(ghost: Any) -> bool | None:
    """Return the answer that lets an ``assert`` statement pass, or None outside of one."""
    frame = target_frame()
    tree = None if frame is None else ghost._ghosts.tree_of(frame.f_code.co_filename)
    if frame is None or tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and _spans(node, frame.f_lineno):
            return not (isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not))
    return None


def _spans(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def target_frame() -> FrameType | None:
    """Return the innermost frame of a target, or None."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and TARGET_MARK not in frame.f_globals:
        frame = frame.f_back
    return frame


def names_used_on_functions(tree: ast.Module) -> dict[str, set[str]]:
    """Return which attributes the code at module level uses on each plain name.

    What a decorator returns may have attributes that a function has not: ``@op.register``.
    """
    found: dict[str, set[str]] = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # The body does not run while the module is imported.
            waiting += [*node.decorator_list, *node.args.defaults]
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found
