"""What is assumed of ghosts while a module is imported, by what the code that asks looks like."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any, NamedTuple

from pytest_sm120.recorder.places import TARGET_MARK

# How a function reads that returns a yes or no.
_QUESTIONS = tuple(
    "is_ are_ use_ uses_ has_ have_ can_ should_ supports_ enabled_ disabled_ allows_"
    " get_bool get_flag read_bool read_flag parse_bool parse_flag".split()
)
_PREDICATES = tuple(
    "_available _enabled _disabled _supported _installed bool_env bool_from_env flag_env"
    " flag_from_env".split()
)
# How an environment variable reads that holds one; SGLANG_USE_X as well as USE_X.
_SETTINGS = frozenset("IS USE HAS ENABLE DISABLE ALLOW FORCE SKIP SUPPORT".split())
_READS_A_SETTING = frozenset({"get", "is_set", "get_value"})
_ON = frozenset({"1", "true", "yes", "y", "on"})


class Facts(NamedTuple):
    """What is known of a file before it runs."""

    #: Dotted names that its import statements name.
    imports: frozenset[str]
    #: Attributes that the code at module level uses, by the plain name that it uses them on.
    used: Mapping[str, set[str]]
    #: First line, last line and the answer that lets it pass, of each ``assert`` statement.
    assertions: tuple[tuple[int, int, bool], ...]
    #: The lines of all decorators.
    decorators: frozenset[int]


def read_facts(tree: ast.Module, imports: frozenset[str]) -> Facts:
    """Read in one pass what the guesses about a file need."""
    assertions: list[tuple[int, int, bool]] = []
    decorators: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
            assertions.append((node.lineno, node.end_lineno or node.lineno, not negated))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for each in node.decorator_list:
                decorators.update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    return Facts(imports, names_used_on_functions(tree), tuple(assertions), frozenset(decorators))


def asks_for_a_flag(dotted: str) -> bool:
    """Return whether a call of this name returns a yes or no, judging by the name."""
    parts = dotted.replace("()", "").split(".")
    last = parts[-1]
    if last in _READS_A_SETTING and len(parts) > 1:
        name = parts[-2]
        return name.isupper() and not _SETTINGS.isdisjoint(name.split("_")[:-1])
    return last.lstrip("_").startswith(_QUESTIONS) or last.endswith(_PREDICATES)


def decorates(ghost: Any) -> bool:
    """Return whether the line that runs is a decorator's, whose call makes no yes or no."""
    facts, line = _asking(ghost)
    return facts is not None and line in facts.decorators


def guess_call(ghost: Any, args: tuple[object, ...]) -> bool:
    """Return what a call that asks for a flag is answered.

    One that names an environment variable gets what the environment says, else the default that it
    names itself.
    """
    last = ghost._name.rpartition(".")[2]
    if args and ("bool" in last or "flag" in last or last.endswith("_env")):
        said = os.environ.get(args[0]) if isinstance(args[0], str) else None
        return str(args[1] if said is None and len(args) > 1 else said).lower() in _ON
    return guess_flag(ghost, ghost._name)


def guess_flag(ghost: Any, dotted: str) -> bool:
    """Return whether a yes-or-no question is answered with yes.

    A package that the asking file imports is there, since the import succeeds: whether it is
    answers yes. Anything else is off.
    """
    package = _package_asked_for(dotted.replace("()", "").rpartition(".")[2].lower().lstrip("_"))
    facts, _ = _asking(ghost) if package else (None, 0)
    return facts is not None and package in {
        name.partition(".")[0].lower() for name in facts.imports
    }


def _package_asked_for(name: str) -> str:
    """Return e.g. ``"quack"`` for ``"has_quack"`` and ``"is_quack_available"``, else nothing."""
    if name.startswith("has_"):
        return name[len("has_") :]
    first, _, last = name.rpartition("_")
    there = first.startswith("is_") and last in ("available", "installed", "found")
    return first[len("is_") :] if there else ""


def expected_by_assertion(ghost: Any) -> bool | None:
    """Return the answer that lets an ``assert`` statement pass, or None outside of one."""
    facts, line = _asking(ghost)
    for first, last, expected in () if facts is None else facts.assertions:
        if first <= line <= last:
            return expected
    return None


def _asking(ghost: Any) -> tuple[Facts | None, int]:
    """Return what is known of the innermost target that runs, and the line that it is at."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and TARGET_MARK not in frame.f_globals:
        frame = frame.f_back
    return (None, 0) if frame is None else (ghost._ghosts.facts_of(frame.f_code), frame.f_lineno)


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
