"""The clauses on implementations of one interface: one for each of them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pytest_sm120.contracts.attributes_read import find_missing, ghost_bases_of, look_up
from pytest_sm120.contracts.implementations import Implementations
from pytest_sm120.contracts.results import ClauseResult, result_of
from pytest_sm120.errors import UsageError
from pytest_sm120.findings import Finding
from pytest_sm120.recorder.records import Place

#: How reports name each clause; the implementation's name follows.
ATTRIBUTES = "attributes"


class _Dispatcher(NamedTuple):
    """A dispatcher's text, and where it stands."""

    name: str
    tree: ast.FunctionDef | ast.AsyncFunctionDef
    path: str
    first_line: int

    def site(self, line: int) -> str:
        """Return ``"file.py:line"`` of a line of the text."""
        return Place(self.path, self.first_line + line - 1, self.name).site


class _Read(NamedTuple):
    """An attribute that an implementation lacks, and who reads it where."""

    name: str
    site: str
    dispatcher: str


def judge_implementations(contract: Implementations) -> list[ClauseResult]:
    """Judge each implementation; raises UsageError when a dispatcher's text cannot be read."""
    dispatchers = [_read_text(function) for function in contract.dispatchers]
    return [
        result_of(f"{ATTRIBUTES} of {name}", _judge(contract, dispatchers, name, instance))
        for name, instance in contract.named_instances.items()
    ]


def _read_text(function: Callable[..., Any]) -> _Dispatcher:
    plain = inspect.unwrap(function)
    try:
        lines, first_line = inspect.getsourcelines(plain)
        [tree] = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        tree, first_line = ast.Pass(), 0
    # A lambda's lines are those of the statement around it.
    if isinstance(tree, _FUNCTIONS) and tree.name == plain.__name__:
        return _Dispatcher(plain.__name__, tree, inspect.getfile(plain), first_line)
    raise UsageError(
        f"Implementations(dispatcher=) holds {function!r}, whose text cannot be read.",
        limit="A dispatcher is a function that is written in a file.",
        remedy="Pass the function of the module that sm120.load returned.",
    )


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _judge(
    contract: Implementations, dispatchers: Sequence[_Dispatcher], name: str, instance: object
) -> Finding | None:
    reads = [
        _Read(missing.name, dispatcher.site(missing.line), dispatcher.name)
        for dispatcher in dispatchers
        for missing in find_missing(dispatcher.tree, contract.called, instance)
    ]
    return _explain(contract, name, instance, reads) if reads else None


def _explain(
    contract: Implementations, name: str, instance: object, reads: Sequence[_Read]
) -> Finding:
    first, *others = reads
    more = "".join(f", and {contract.called}.{each.name} ({each.site})" for each in others)
    ghosts = ghost_bases_of(instance)
    unseen = f" Its base {ghosts[0]} is not there to ask." if ghosts else ""
    having = _others_that_have(contract, first.name)
    besides = (
        f" {' and '.join(having)} {'has' if len(having) == 1 else 'have'} it." if having else ""
    )
    load = f", or load what defines {ghosts[0]} with real=" if ghosts else ""
    return Finding(
        ATTRIBUTES,
        first.site,
        f"{first.dispatcher} reads {contract.called}.{first.name}{more}, and {name} has no such"
        f" attribute.{unseen}{besides}",
        "It raises AttributeError as soon as that implementation is chosen.",
        f"Set it in {name}, whichever __init__ runs{load}.",
    )


def _others_that_have(contract: Implementations, attribute: str) -> list[str]:
    return [
        name
        for name, instance in contract.named_instances.items()
        if look_up(instance, attribute)[0]
    ]
