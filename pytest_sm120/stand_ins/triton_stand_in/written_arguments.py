"""What a kernel function may do to the memory behind its parameters, judged on its text."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from pytest_sm120.stand_ins.execution import Effects
from pytest_sm120.stand_ins.triton_stand_in.kernel_calls import (
    Touch,
    find_called,
    own_arguments,
    touch_of_builtin,
    touch_of_language,
    touch_of_method,
    touch_of_unknown,
)

DefinitionOf = Callable[[CodeType], "ast.FunctionDef | None"]

# What is asked of a pointer under these names holds no address.
_FACTS = frozenset({"dtype", "type", "shape", "block_shape"})


def find_effects(
    fn: Callable[..., Any],
    definition_of: DefinitionOf = lambda code: None,
    callers: frozenset[CodeType] = frozenset(),
) -> Effects:
    """Return what a function may do to its parameters; all of it when the text cannot be read.

    Functions that it calls are followed when their text is at hand. ``definition_of`` returns the
    tree of a function that somebody has already.
    """
    fn = inspect.unwrap(fn)
    tree = None if fn.__code__ in callers else definition_of(fn.__code__) or _parse(fn)
    if tree is None:
        everything = frozenset(inspect.signature(fn).parameters)
        return Effects(everything, frozenset(), everything, alone=True)
    return _Body(fn, tree, definition_of, callers | {fn.__code__}).effects()


def _parse(fn: Callable[..., Any]) -> ast.FunctionDef | None:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    except (OSError, TypeError, SyntaxError):
        return None
    # Code that exec() compiled may be taken for what else has its file name: "<string>" is also
    # the text after `python -c`, which Python 3.13 keeps.
    match tree.body:
        case [ast.FunctionDef(name=fn.__name__) as node]:
            return node
    return None


class _Body:
    """The statements of a kernel function, and what each name in them may be derived from."""

    def __init__(
        self,
        fn: Callable[..., Any],
        tree: ast.FunctionDef,
        definition_of: DefinitionOf,
        callers: frozenset[CodeType],
    ) -> None:
        self._fn, self._definition_of, self._callers = fn, definition_of, callers
        # Not the decorators: they run on the host.
        self._nodes = [node for statement in tree.body for node in ast.walk(statement)]
        parameters = inspect.signature(fn).parameters
        flows = [flow for node in self._nodes for flow in _flows(node)]
        self._local = frozenset(parameters).union(
            name.id for goal, _ in flows for name in ast.walk(goal) if isinstance(name, ast.Name)
        )
        self._touches: dict[ast.Call, Touch] = {}
        self._alone = True
        self._origins = self._follow(flows, {name: frozenset({name}) for name in parameters})

    def effects(self) -> Effects:
        """Return what the statements do."""
        touches = [self._touch(node) for node in self._nodes if isinstance(node, ast.Call)]
        results = [
            node.value for node in self._nodes if isinstance(node, ast.Return) and node.value
        ]
        return Effects(
            self._behind(part for touch in touches for part in touch.written),
            self._behind(part for touch in touches for part in touch.accumulated),
            self._behind(results),
            self._alone,
        )

    def _behind(self, parts: Iterator[ast.AST] | list[ast.expr]) -> frozenset[str]:
        names = {name for part in parts for name in self._names_in(part)}
        return frozenset().union(*(self._origins.get(name, frozenset()) for name in names))

    def _follow(
        self, flows: list[tuple[ast.AST, ast.AST]], origins: dict[str, frozenset[str]]
    ) -> dict[str, frozenset[str]]:
        """Return, for each local name, the parameters its value may be derived from."""
        named = [
            (target, frozenset(self._names_in(source)))
            for goal, source in flows
            for target in self._names_in(goal)
        ]
        changed = True
        while changed:
            changed = False
            for target, sources in named:
                known = origins.get(target, frozenset())
                reached = known.union(*(origins.get(name, frozenset()) for name in sources))
                changed |= reached != known
                origins[target] = reached
        return origins

    def _names_in(self, node: ast.AST) -> Iterator[str]:
        """Yield the names in an expression, but not those that only say where to load from."""
        if isinstance(node, ast.Call):
            for part in self._touch(node).returned:
                yield from self._names_in(part)
            return
        if isinstance(node, ast.Attribute) and node.attr in _FACTS:
            return
        if isinstance(node, ast.Name):
            yield node.id
        for child in ast.iter_child_nodes(node):
            yield from self._names_in(child)

    def _touch(self, call: ast.Call) -> Touch:
        if call not in self._touches:
            self._touches[call] = (
                touch_of_language(call, self._local)
                or touch_of_method(call, self._local)
                or self._touch_of_function(call)
            )
        return self._touches[call]

    def _touch_of_function(self, call: ast.Call) -> Touch:
        computing = touch_of_builtin(call, self._fn.__globals__)
        if computing is not None:
            return computing
        self._alone = False
        called = find_called(call.func, self._fn.__globals__)
        given = None if called is None else own_arguments(call, called)
        if called is None or given is None:
            return touch_of_unknown(call)
        effects = find_effects(called, self._definition_of, self._callers)
        return Touch(*([part for name in names for part in given[name]] for names in effects[:3]))


def _flows(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield what a statement or expression assigns to, each with what is assigned."""
    if isinstance(node, ast.Assign):
        yield from ((goal, node.value) for goal in node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        if node.value is not None:
            yield (node.target, node.value)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield (node.target, node.iter)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield (node.optional_vars, node.context_expr)
