"""What an expression in call position stands for: imports and simple aliases followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_sm120.source.scopes import Assigned, Binding, Meaning, Root, Scope

_Meanings = tuple[Meaning, ...]


@dataclass(eq=False)
class Names:
    """Looks up names of one file; each name of each scope is worked out once."""

    _known: dict[tuple[Scope, str], _Meanings] = field(default_factory=dict)

    def meanings(self, expression: ast.expr, scope: Scope) -> _Meanings:
        """Everything ``expression`` can stand for, as written from left to right.

        A conditional expression and ``or`` have several. Parts that are no plain name keep a
        readable stand-in: ``f().g`` for a call, ``x[...].g`` for an item, ``(...).g`` else.
        """
        parts: list[str] = []
        root = expression
        while (step := self._step_down(root, scope)) is not None:
            part, root = step
            parts.append(part)
        tail = "".join(reversed(parts))
        plain = all(part.startswith(".") for part in parts)
        return _unique(
            Meaning(meaning.dotted + tail, meaning.root if plain else Root.VALUE)
            for meaning in self._root_meanings(root, scope)
        )

    def _step_down(self, node: ast.expr, scope: Scope) -> tuple[str, ast.expr] | None:
        if isinstance(node, ast.Attribute):
            return f".{node.attr}", node.value
        if isinstance(node, ast.Call) and not _literal_import(node):
            literal = self._literal_attribute(node, scope)
            return (f".{literal}", node.args[0]) if literal else ("()", node.func)
        if isinstance(node, ast.Subscript):
            return "[...]", node.value
        return None

    def _literal_attribute(self, call: ast.Call, scope: Scope) -> str:
        """``"empty"`` for ``getattr(torch, "empty")``, ``""`` for any other call."""
        if not (isinstance(call.func, ast.Name) and call.func.id == "getattr" and call.args[1:]):
            return ""
        return "" if scope.owner("getattr") else _literal_text(call.args[1])

    def _root_meanings(self, root: ast.expr, scope: Scope) -> _Meanings:
        if isinstance(root, ast.Name):
            return self._name_meanings(root.id, scope)
        if isinstance(root, ast.Call):  # the only calls that `_step_down` leaves are imports
            return (Meaning(_literal_import(root), Root.IMPORT),)
        if isinstance(root, ast.NamedExpr):
            return self.meanings(root.value, scope)
        branches: list[ast.expr] = []
        if isinstance(root, ast.IfExp):
            branches = [root.body, root.orelse]
        elif isinstance(root, ast.BoolOp):
            branches = root.values
        found = [meaning for branch in branches for meaning in self.meanings(branch, scope)]
        return tuple(found) or (Meaning("(...)", Root.VALUE),)

    def _name_meanings(self, name: str, scope: Scope) -> _Meanings:
        owner = scope.owner(name)
        if owner is None:
            return (Meaning(name, Root.IMPORT),)
        key = (owner, name)
        if key not in self._known:
            # First the plain text, which is what `name = name` and longer circles come to.
            self._known[key] = (Meaning(name, Root.VALUE),)
            self._known[key] = self._follow(owner.bindings.get(name, [])) or self._known[key]
        return self._known[key]

    def _follow(self, bindings: list[Binding]) -> _Meanings:
        """The meanings of all bindings together, ``()`` when the name could be anything.

        An import is believed whatever else binds the name: the others are what ``except
        ImportError`` falls back to.
        """
        each = [self._follow_one(binding) for binding in bindings if not _is_none(binding)]
        imported = any(isinstance(b, Meaning) and b.root == Root.IMPORT for b in bindings)
        if not imported and not all(each):
            return ()
        return _unique(meaning for meanings in each for meaning in meanings)

    def _follow_one(self, binding: Binding) -> _Meanings:
        if isinstance(binding, Meaning):
            return (binding,)
        if binding is None:
            return ()
        found = self.meanings(binding.value, binding.scope)
        return found if any(meaning.root != Root.VALUE for meaning in found) else ()


def _literal_text(node: ast.expr) -> str:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(ast.literal_eval(node)) if is_text else ""


def _literal_import(call: ast.Call) -> str:
    """``"torch"`` for ``importlib.import_module("torch")`` and its like, ``""`` else."""
    callee = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if isinstance(call.func, ast.Name):
        callee = call.func.id
    imports = callee in ("import_module", "importorskip", "__import__")
    return _literal_text(call.args[0]) if imports and call.args else ""


def _is_none(binding: Binding) -> bool:
    """Whether it is ``name = None``, which says nothing about what the name is called for."""
    if not isinstance(binding, Assigned):
        return False
    return isinstance(binding.value, ast.Constant) and binding.value.value is None


def _unique(meanings: Iterator[Meaning]) -> _Meanings:
    return tuple(dict.fromkeys(meanings))
