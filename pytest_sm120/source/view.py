"""What a test asks about a source text: its allocations, its calls, its functions."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass, field
from pathlib import Path

from pytest_sm120.errors import UsageError
from pytest_sm120.source.analysis import Analysis
from pytest_sm120.source.reading import read_text
from pytest_sm120.source.records import SourceCall
from pytest_sm120.source.scopes import Scope
from pytest_sm120.source.survey import FunctionNode

_Found = tuple[FunctionNode, Scope]


@dataclass(frozen=True, eq=False)
class SourceFunction:
    """One function of a source text, nested functions included."""

    #: The name in its ``def``.
    name: str
    #: The same with the names of the functions and classes around it: ``"Runner.prepare"``.
    qualified_name: str
    #: Line of its ``def``, the first being 1.
    line: int
    #: Its last line.
    end_line: int
    #: The comment block above its ``def`` or first decorator; ``""`` when there is none.
    comment: str
    #: Its docstring without indentation; ``""`` when there is none.
    docstring: str
    #: Its text, decorators included, as it stands in the file.
    source: str = field(repr=False)
    #: Dotted names of its decorators, aliases replaced, called or not.
    decorators: tuple[str, ...]
    _analysis: Analysis = field(repr=False)
    _scope: Scope = field(repr=False)

    def allocations(self, *, call: str | None = None, dtype: str | None = None) -> list[SourceCall]:
        """The tensor allocations inside the function, as :meth:`SourceView.allocations`."""
        return self._analysis.allocations(self._scope, call=call, dtype=dtype)

    def calls(self, name: str) -> list[SourceCall]:
        """The calls of ``name`` inside the function, as :meth:`SourceView.calls`."""
        return self._analysis.calls(self._scope, name)


@dataclass(frozen=True, eq=False)
class SourceView:
    """The text of one Python file, asked without importing it. Lists are in text order."""

    #: Where the text was read.
    path: Path
    _analysis: Analysis = field(repr=False)

    def allocations(self, *, call: str | None = None, dtype: str | None = None) -> list[SourceCall]:
        """All calls that allocate a tensor.

        ``call`` keeps those of one name, whole (``"torch.zeros"``) or its last part
        (``"zeros"``); ``dtype`` those whose dtype the text tells and is that one. A name that no
        allocation or dtype has raises ``UsageError``.
        """
        module = self._analysis.survey.module
        return self._analysis.allocations(module, call=call, dtype=dtype)

    def calls(self, name: str) -> list[SourceCall]:
        """All calls whose resolved dotted name is ``name`` or ends with ``"." + name``.

        The launch ``kernel[grid](...)`` is a call of ``kernel``.
        """
        return self._analysis.calls(self._analysis.survey.module, name)

    def function(self, name: str) -> SourceFunction:
        """The function of a plain or qualified name (``"prepare"``, ``"Runner.prepare"``).

        Raises ``UsageError`` when there is none, or several.
        """
        functions = self._analysis.survey.functions
        exact = [found for found in functions if found[1].qualified_name == name]
        matches = exact or [found for found in functions if found[1].name == name]
        if not matches:
            raise _explain_that_no_function_is_named(name, self.path, functions)
        if len(matches) > 1:
            raise _explain_that_several_functions_are_named(name, self.path, matches)
        return _describe(*matches[0], self._analysis)


def read_source(path: Path, known_tree: ast.Module | None = None) -> SourceView:
    """Read the Python file at ``path`` as text and syntax tree; it is never imported.

    ``known_tree`` is the file's tree if somebody has parsed it, in its present state, already.

    Raises ``UsageError`` for a file that is missing or cannot be read, ``TargetError`` for one
    that Python does not compile.
    """
    return SourceView(path, Analysis(read_text(path, known_tree)))


def _describe(node: FunctionNode, scope: Scope, analysis: Analysis) -> SourceFunction:
    first_line = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    end_line = node.end_lineno or node.lineno
    around = scope.parent or scope
    callees = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    return SourceFunction(
        name=scope.name,
        qualified_name=scope.qualified_name,
        line=node.lineno,
        end_line=end_line,
        comment=analysis.comments.around(first_line).above(first_line, node.lineno),
        docstring=ast.get_docstring(node) or "",
        source="\n".join(analysis.source.lines[first_line - 1 : end_line]),
        decorators=tuple(analysis.dotted(callee, around) for callee in callees),
        _analysis=analysis,
        _scope=scope,
    )


def _explain_that_no_function_is_named(
    name: str, path: Path, functions: list[_Found]
) -> UsageError:
    qualified = {scope.qualified_name: scope.name for _, scope in functions}
    close = difflib.get_close_matches(name, [*qualified, *qualified.values()])
    listed = [full for full, plain in qualified.items() if full in close or plain in close]
    return UsageError(
        f"{path} defines no function {name!r}.",
        limit=f"Close matches: {', '.join(listed)}." if listed else "No name in it is close.",
        remedy='Name a function of that file, plain ("prepare") or qualified ("Runner.prepare").',
    )


def _explain_that_several_functions_are_named(
    name: str, path: Path, matches: list[_Found]
) -> UsageError:
    places = [f"{scope.qualified_name} (line {node.lineno})" for node, scope in matches]
    distinct = {scope.qualified_name for _, scope in matches}
    remedy = "Ask by the qualified name."
    if len(distinct) < len(matches):
        remedy = "Ask for the calls of the whole file and choose by line."
    return UsageError(
        f"{path} defines {len(matches)} functions {name!r}: {', '.join(places)}.",
        limit="function() answers for one function.",
        remedy=remedy,
    )
