"""Which attributes of an object a function would read, and which of them the object lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from types import MemberDescriptorType
from typing import NamedTuple, TypeGuard

from pytest_sm120.recorder.reachable import own_dict
from pytest_sm120.stand_ins.ghost_classes import GhostBase

#: A value that is not known: what a call returns, or a property.
UNKNOWN = object()

# Whose truth can be told without running code.
_PLAIN = (bool, int, float, str, bytes, tuple, type(None))


class Missing(NamedTuple):
    """An attribute that the function reads and the object lacks."""

    name: str
    #: Line in the text that was parsed, from 1 on.
    line: int


def find_missing(
    function: ast.FunctionDef | ast.AsyncFunctionDef, called: str, instance: object
) -> list[Missing]:
    """Return what the function reads of the object called so, and the object does not have.

    Branches that the object's own plain attributes decide are followed as they would be, so that
    what stands behind ``if impl.is_sparse and`` is not asked of a dense one.
    """
    reader = _Reader(called, instance)
    reader.run(function.body)
    return list(dict.fromkeys(reader.missing))


def look_up(instance: object, name: str) -> tuple[bool, object]:
    """Return whether the object has the attribute, and its value where that is plain data.

    Only the object itself and its classes count: what stands for a class that is not there has no
    attributes, whatever it answers.
    """
    own = own_dict(instance)
    if name in own:
        return True, own[name]
    for kind in type(instance).__mro__:
        if name in vars(kind) and not _is_empty_slot(vars(kind)[name], instance):
            found = vars(kind)[name]
            return True, found if isinstance(found, _PLAIN) else UNKNOWN
    if any("__getattr__" in vars(kind) for kind in type(instance).__mro__ if not _is_ghost(kind)):
        return hasattr(instance, name), UNKNOWN
    return False, UNKNOWN


def ghost_bases_of(instance: object) -> list[str]:
    """Return the names of the object's classes that are not there."""
    return [
        kind.__name__
        for kind in type(instance).__mro__
        if _is_ghost(kind) and kind is not GhostBase
    ]


def _is_ghost(kind: type) -> bool:
    return "__sm120_ghost__" in vars(kind)


def _is_empty_slot(found: object, instance: object) -> bool:
    if not isinstance(found, MemberDescriptorType):
        return False
    try:
        found.__get__(instance)
    except AttributeError:
        return True
    return False


class _Reader:
    """Goes through a function's text as if it were run with one object."""

    def __init__(self, called: str, instance: object) -> None:
        self._names = {called}
        self._instance = instance
        self._written: set[str] = set()
        self.missing: list[Missing] = []

    def run(self, statements: Sequence[ast.stmt]) -> bool:
        """Go through statements; return whether they surely leave the block."""
        return any(self._run_one(statement) for statement in statements)

    def _run_one(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.If):
            return self._run_if(statement)
        if isinstance(statement, ast.Assign):
            self._assign(statement)
            return False
        left = self._run_parts(statement)
        return left or isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break))

    def _run_parts(self, statement: ast.stmt) -> bool:
        """Go through a loop, a ``with`` block and the like; only the latter's end ends more."""
        left = False
        for _, part in ast.iter_fields(statement):
            if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                left |= self.run(part)
            else:
                self._visit_all(part if isinstance(part, list) else [part])
        return left and isinstance(statement, (ast.With, ast.AsyncWith))

    def _run_if(self, statement: ast.If) -> bool:
        truth = _truth(self._value(statement.test))
        left = [
            self.run(branch)
            for branch, may_run in (
                (statement.body, truth is not False),
                (statement.orelse, truth is not True),
            )
            if may_run
        ]
        return all(left)

    def _assign(self, statement: ast.Assign) -> None:
        self._value(statement.value)
        for target in statement.targets:
            if ast.unparse(statement.value) in self._names and isinstance(target, ast.Name):
                self._names.add(target.id)
            elif self._is_attribute(target):
                self._written.add(target.attr)
            else:
                self._visit_all([target])

    def _visit_all(self, parts: Iterable[object]) -> None:
        for part in parts:
            if isinstance(part, ast.expr):
                self._value(part)
            elif isinstance(part, ast.stmt):
                self._run_one(part)
            elif isinstance(part, ast.AST):
                self._visit_all(ast.iter_child_nodes(part))

    def _is_attribute(self, node: ast.AST) -> TypeGuard[ast.Attribute]:
        return isinstance(node, ast.Attribute) and ast.unparse(node.value) in self._names

    def _value(self, node: ast.expr) -> object:
        """Go through an expression; return its value if that is known."""
        if isinstance(node, ast.Constant):
            return node.value
        if self._is_attribute(node):
            return self._read(node)
        if isinstance(node, ast.BoolOp):
            return self._decide(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            truth = _truth(self._value(node.operand))
            return UNKNOWN if truth is None else not truth
        if isinstance(node, ast.Call) and self._asks(node):
            return self._answer(node)
        if isinstance(node, ast.IfExp):
            return self._choose(node)
        self._visit_all(ast.iter_child_nodes(node))
        return UNKNOWN

    def _read(self, node: ast.Attribute) -> object:
        there, value = look_up(self._instance, node.attr)
        if not there and node.attr not in self._written:
            self.missing.append(Missing(node.attr, node.lineno))
        return value

    def _decide(self, node: ast.BoolOp) -> object:
        """Go through ``and`` or ``or`` up to the operand that decides it."""
        stops_at = isinstance(node.op, ast.Or)
        known = True
        for operand in node.values:
            truth = _truth(self._value(operand))
            if truth is stops_at:
                return stops_at
            known = known and truth is not None
        return not stops_at if known else UNKNOWN

    def _choose(self, node: ast.IfExp) -> object:
        truth = _truth(self._value(node.test))
        if truth is None:
            self._visit_all([node.body, node.orelse])
            return UNKNOWN
        return self._value(node.body if truth else node.orelse)

    def _asks(self, node: ast.Call) -> bool:
        """Return whether this is ``hasattr(impl, "name")``, or ``getattr`` with a default."""
        wanted = {"hasattr": 2, "getattr": 3}.get(getattr(node.func, "id", ""))
        return (
            len(node.args) == wanted
            and ast.unparse(node.args[0]) in self._names
            and isinstance(node.args[1], ast.Constant)
        )

    def _answer(self, node: ast.Call) -> object:
        there, value = look_up(self._instance, str(ast.literal_eval(node.args[1])))
        if len(node.args) == 2:
            return there
        return value if there else self._value(node.args[2])


def _truth(value: object) -> bool | None:
    return bool(value) if isinstance(value, _PLAIN) else None
