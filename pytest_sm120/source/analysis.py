"""Answers queries about one file; walks the tree and tokenizes the text once, when first asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pytest_sm120.source.allocations import (
    allocation_name,
    asked_dtype,
    check_asked_call,
    default_dtype,
    dtype_name,
)
from pytest_sm120.source.comments import FileComments
from pytest_sm120.source.names import Names
from pytest_sm120.source.reading import SourceText
from pytest_sm120.source.records import SourceCall
from pytest_sm120.source.scopes import Root, Scope
from pytest_sm120.source.survey import Survey, survey


class _NamedCall(NamedTuple):
    """A call whose names have been looked up."""

    node: ast.Call
    scope: Scope
    #: Resolved dotted names, several when the text picks one of them.
    dotted: tuple[str, ...]
    #: The same with those that allocate in their canonical spelling.
    canonical: tuple[str, ...]
    #: The canonical names of those that allocate.
    allocations: tuple[str, ...]


@dataclass(eq=False)
class Analysis:
    """One file, asked by a view of it and by views of its functions."""

    #: The file.
    source: SourceText
    _names: Names = field(default_factory=Names)

    @cached_property
    def survey(self) -> Survey:
        """Scopes, calls and functions of the file."""
        return survey(self.source.tree)

    @cached_property
    def comments(self) -> FileComments:
        """Comments of the file."""
        return FileComments(self.source.lines, self.source.tree)

    def allocations(
        self, within: Scope, *, call: str | None = None, dtype: str | None = None
    ) -> list[SourceCall]:
        """The calls inside ``within`` that allocate a tensor and pass both filters."""
        if call is not None:
            check_asked_call(call)
        wanted = asked_dtype(dtype) if dtype is not None else None
        return [
            self._record(named)
            for named in self._calls_within(within)
            if named.allocations
            and (call is None or _any_named(named.allocations, call))
            and (wanted is None or self._dtype(named) == wanted)
        ]

    def calls(self, within: Scope, name: str) -> list[SourceCall]:
        """The calls inside ``within`` of ``name``, whole or as the last parts of a dotted name."""
        return [
            self._record(named)
            for named in self._calls_within(within)
            if _any_named(named.dotted + named.canonical, name)
        ]

    def dotted(self, expression: ast.expr, scope: Scope) -> str:
        """The dotted name of an expression, aliases replaced."""
        meanings = self._names.meanings(expression, scope)
        return " | ".join(meaning.dotted for meaning in meanings)

    @cached_property
    def _named_calls(self) -> list[_NamedCall]:
        return [self._name_call(node, scope) for node, scope in self.survey.calls]

    def _name_call(self, node: ast.Call, scope: Scope) -> _NamedCall:
        # kernel[grid](...) is a launch of `kernel`.
        callee = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        meanings = self._names.meanings(callee, scope)
        dotted = tuple(meaning.dotted for meaning in meanings)
        found = [
            allocation_name(meaning.dotted, from_import=meaning.root == Root.IMPORT)
            for meaning in meanings
        ]
        canonical = tuple(name or text for name, text in zip(found, dotted, strict=True))
        return _NamedCall(node, scope, dotted, canonical, tuple(name for name in found if name))

    def _calls_within(self, within: Scope) -> Iterator[_NamedCall]:
        everything = within.parent is None
        for named in self._named_calls:
            if everything or within in named.scope.outwards():
                yield named

    def _dtype(self, named: _NamedCall) -> str | None:
        if not named.allocations:
            return None
        # By keyword only: no function of the table takes its dtype by position.
        keywords = {keyword.arg: keyword.value for keyword in named.node.keywords}
        given = keywords.get("dtype")
        if given is not None and not (isinstance(given, ast.Constant) and given.value is None):
            return self._dtype_of(given, named.scope)
        # A `**options` may hold a dtype.
        defaults = {None if None in keywords else default_dtype(a) for a in named.allocations}
        return defaults.pop() if len(defaults) == 1 else None

    def _dtype_of(self, expression: ast.expr, scope: Scope) -> str | None:
        meanings = self._names.meanings(expression, scope)
        if len(meanings) != 1 or meanings[0].root != Root.IMPORT:
            return None
        return dtype_name(meanings[0].dotted)

    def _record(self, named: _NamedCall) -> SourceCall:
        node, source = named.node, self.source
        function = named.scope.innermost_function
        with_lines = self.survey.with_line_of_first_statement
        return SourceCall(
            call=" | ".join(dict.fromkeys(named.canonical)),
            dtype=self._dtype(named),
            line=node.lineno,
            column=source.column(node),
            function=function.name if function else "<module>",
            qualified_function=function.qualified_name if function else "<module>",
            comment=self.comments.around(node.lineno).of_statement(node.lineno, with_lines),
            site=f"{source.path.name}:{node.lineno}",
            text=source.segment(node),
            arguments=tuple(self._positional(node)),
            keywords={k.arg: source.segment(k.value) for k in node.keywords if k.arg},
        )

    def _positional(self, node: ast.Call) -> Iterator[str]:
        yield from (self.source.segment(argument) for argument in node.args)
        for keyword in node.keywords:
            if keyword.arg is None:
                yield f"**{self.source.segment(keyword.value)}"


def _any_named(dotted: tuple[str, ...], name: str) -> bool:
    return any(text == name or text.endswith(f".{name}") for text in dotted)
