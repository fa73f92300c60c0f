"""Scopes of a file and what is bound in them, as far as the text tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias


class Root:
    """What the first part of a dotted name is, which decides how far the name can be trusted."""

    #: An import, a builtin, or a name that the file binds nowhere: the name means what it says.
    IMPORT: Final = "import"
    #: A function or class of the file.
    DEFINITION: Final = "definition"
    #: A parameter, a loop variable, the result of a call: only the text is known.
    VALUE: Final = "value"


class Meaning(NamedTuple):
    """One thing that an expression can stand for."""

    #: The dotted name with aliases replaced, e.g. ``"torch.empty"``.
    dotted: str
    #: What the dotted name starts from.
    root: str


class Assigned(NamedTuple):
    """A name bound by ``name = value``, where ``value`` is looked up in ``scope``."""

    value: ast.expr
    scope: Scope


#: An import or a definition has its meaning at once; ``None`` is a binding nobody can follow.
Binding: TypeAlias = Meaning | Assigned | None


@dataclass(eq=False)
class Scope:
    """A module, function, class, lambda or comprehension."""

    #: The name in the ``def`` or ``class`` statement; ``""`` for all others.
    name: str = ""
    #: The scope around this one.
    parent: Scope | None = None
    #: Whether this is the inside of a ``def``.
    is_function: bool = False
    #: Whether this is a class body, whose names the functions inside it do not see.
    is_class: bool = False
    #: Every binding of each name, in the order of the text.
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    #: Names declared ``global`` or ``nonlocal``, with the scope that holds them.
    declared: dict[str, Scope] = field(default_factory=dict)

    def bind(self, name: str, binding: Binding) -> None:
        """Note one binding of ``name``."""
        owner = self.declared.get(name, self)
        owner.bindings.setdefault(name, []).append(binding)

    def owner(self, name: str) -> Scope | None:
        """The scope whose binding of ``name`` is seen from here, or ``None``."""
        for scope in self.outwards():
            if name in scope.declared:
                return scope.declared[name]
            if name in scope.bindings and (scope is self or not scope.is_class):
                return scope
        return None

    def outwards(self) -> Iterator[Scope]:
        """This scope, the one around it, and so on to the module."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        return list(self.outwards())[-1]

    @property
    def innermost_function(self) -> Scope | None:
        """The innermost ``def`` around this scope, itself included; ``None`` outside of any."""
        return next((scope for scope in self.outwards() if scope.is_function), None)

    @property
    def named(self) -> Scope:
        """The innermost scope that is not a lambda or a comprehension."""
        return next(scope for scope in self.outwards() if scope.name or scope.parent is None)

    @property
    def qualified_name(self) -> str:
        """Names of the classes and functions around, e.g. ``"Runner.prepare"``."""
        return ".".join(reversed([scope.name for scope in self.outwards() if scope.name]))
