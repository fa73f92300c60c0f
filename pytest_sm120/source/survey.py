"""One walk over a syntax tree: its scopes, its calls, its functions, its ``with`` blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pytest_sm120.source.scopes import Assigned, Meaning, Root, Scope

#: Nodes still to visit, each with the scope it is evaluated in.
_Pending: TypeAlias = list[tuple[ast.AST, Scope]]
_Import: TypeAlias = ast.Import | ast.ImportFrom
_With: TypeAlias = ast.With | ast.AsyncWith

#: What a ``def`` or an ``async def`` parses to.
FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Survey:
    """What one walk found."""

    #: The scope of the module.
    module: Scope = field(default_factory=Scope)
    #: Every call with the scope it stands in, in the order of the text.
    calls: list[tuple[ast.Call, Scope]] = field(default_factory=list)
    #: Every ``def`` with the scope inside it, in the order of the text.
    functions: list[tuple[FunctionNode, Scope]] = field(default_factory=list)
    #: Line of the first statement in a ``with`` block -> line of that ``with``.
    with_line_of_first_statement: dict[int, int] = field(default_factory=dict)


def survey(tree: ast.Module) -> Survey:
    """Walk ``tree`` once, without recursion: an expression may be nested deeper than our stack."""
    found = Survey()
    pending: _Pending = [(tree, found.module)]
    while pending:
        node, scope = pending.pop()
        visit = _VISITS.get(type(node), _visit_children)
        # Reversed, so that the stack hands the nodes out in the order of the text: `global`
        # has to be seen before the assignments that it redirects.
        pending.extend(reversed(visit(found, node, scope)))
    found.calls.sort(key=lambda item: _position(item[0]))
    return found


def _position(node: ast.expr) -> tuple[int, int, int, int]:
    # In a chain a().b() both calls start at one place; the one that ends first runs first.
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, ast.AST))
        elif isinstance(value, ast.AST):
            yield value


def _in_scope(nodes: Iterable[ast.AST | None], scope: Scope) -> _Pending:
    return [(node, scope) for node in nodes if node is not None]


def _visit_children(found: Survey, node: ast.AST, scope: Scope) -> _Pending:
    return [(child, scope) for child in _children(node)]


def _visit_nothing(found: Survey, node: ast.AST, scope: Scope) -> _Pending:
    return []


def _visit_call(found: Survey, node: ast.Call, scope: Scope) -> _Pending:
    found.calls.append((node, scope))
    return _visit_children(found, node, scope)


def _visit_import(found: Survey, node: _Import, scope: Scope) -> _Pending:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            dotted = "." * node.level + (node.module or "")
            dotted += alias.name if dotted.endswith(".") else f".{alias.name}"
            scope.bind(alias.asname or alias.name, Meaning(dotted, Root.IMPORT))
        else:
            # `import a.b` binds a, `import a.b as c` binds c to a.b.
            name = alias.asname or alias.name.partition(".")[0]
            scope.bind(name, Meaning(alias.name if alias.asname else name, Root.IMPORT))
    return []


def _visit_function(found: Survey, node: FunctionNode, scope: Scope) -> _Pending:
    scope.bind(node.name, Meaning(node.name, Root.DEFINITION))
    inner = Scope(node.name, scope, is_function=True)
    found.functions.append((node, inner))
    outside = [*node.decorator_list, *_signature(node.args, inner), node.returns]
    return _in_scope(outside, scope) + _in_scope(node.body, inner)


def _visit_lambda(found: Survey, node: ast.Lambda, scope: Scope) -> _Pending:
    inner = Scope(parent=scope)
    return _in_scope(_signature(node.args, inner), scope) + [(node.body, inner)]


def _signature(arguments: ast.arguments, inner: Scope) -> list[ast.expr | None]:
    """Bind the parameters in ``inner``; defaults and annotations belong to the scope around."""
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters = [*plain, *filter(None, (arguments.vararg, arguments.kwarg))]
    for parameter in parameters:
        inner.bind(parameter.arg, None)
    annotations = [parameter.annotation for parameter in parameters]
    return [*annotations, *arguments.defaults, *arguments.kw_defaults]


def _visit_class(found: Survey, node: ast.ClassDef, scope: Scope) -> _Pending:
    scope.bind(node.name, Meaning(node.name, Root.DEFINITION))
    inner = Scope(node.name, scope, is_class=True)
    outside = [*node.decorator_list, *node.bases, *node.keywords]
    return _in_scope(outside, scope) + _in_scope(node.body, inner)


def _visit_comprehension(found: Survey, node: ast.expr, scope: Scope) -> _Pending:
    return _in_scope(_children(node), Scope(parent=scope))


def _visit_assignment(found: Survey, node: ast.Assign, scope: Scope) -> _Pending:
    names = [target for target in node.targets if isinstance(target, ast.Name)]
    for target in names:
        scope.bind(target.id, Assigned(node.value, scope))
    others = [target for target in node.targets if not isinstance(target, ast.Name)]
    return _in_scope([*others, node.value], scope)


def _visit_annotated(found: Survey, node: ast.AnnAssign, scope: Scope) -> _Pending:
    if isinstance(node.target, ast.Name):
        # Without a value it only declares a type; a parameter of that name keeps its meaning.
        if node.value is not None:
            scope.bind(node.target.id, Assigned(node.value, scope))
        return _in_scope([node.annotation, node.value], scope)
    return _visit_children(found, node, scope)


def _visit_walrus(found: Survey, node: ast.NamedExpr, scope: Scope) -> _Pending:
    # In a comprehension it binds in the function around.
    scope.named.bind(node.target.id, Assigned(node.value, scope))
    return [(node.value, scope)]


def _visit_name(found: Survey, node: ast.Name, scope: Scope) -> _Pending:
    if not isinstance(node.ctx, ast.Load):
        scope.bind(node.id, None)
    return []


def _visit_global(found: Survey, node: ast.Global, scope: Scope) -> _Pending:
    scope.declared.update(dict.fromkeys(node.names, scope.module))
    return []


def _visit_nonlocal(found: Survey, node: ast.Nonlocal, scope: Scope) -> _Pending:
    around = scope.parent or scope
    scope.declared.update((name, around.owner(name) or around) for name in node.names)
    return []


def _visit_with(found: Survey, node: _With, scope: Scope) -> _Pending:
    first = node.body[0].lineno
    if first != node.lineno:
        found.with_line_of_first_statement[first] = node.lineno
    return _visit_children(found, node, scope)


def _visit_capture(found: Survey, node: ast.AST, scope: Scope) -> _Pending:
    """Names that a node binds as plain text: ``except ... as name``, match patterns."""
    for name in filter(None, (getattr(node, "name", None), getattr(node, "rest", None))):
        scope.bind(name, None)
    return _visit_children(found, node, scope)


# Any: each function takes the node type that it is listed under.
_VISITS: dict[type[ast.AST], Callable[[Survey, Any, Scope], _Pending]] = {
    ast.Import: _visit_import,
    ast.ImportFrom: _visit_import,
    ast.FunctionDef: _visit_function,
    ast.AsyncFunctionDef: _visit_function,
    ast.Lambda: _visit_lambda,
    ast.ClassDef: _visit_class,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp), _visit_comprehension),
    ast.GeneratorExp: _visit_comprehension,
    ast.Assign: _visit_assignment,
    ast.AnnAssign: _visit_annotated,
    ast.NamedExpr: _visit_walrus,
    ast.Name: _visit_name,
    ast.Constant: _visit_nothing,
    ast.Global: _visit_global,
    ast.Nonlocal: _visit_nonlocal,
    ast.With: _visit_with,
    ast.AsyncWith: _visit_with,
    ast.Call: _visit_call,
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), _visit_capture),
    ast.MatchMapping: _visit_capture,
}
