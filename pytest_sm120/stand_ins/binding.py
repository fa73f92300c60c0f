"""Names the arguments of a call by the signature of what is called, where one is known."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

# Parameters of these kinds are given when a kernel is compiled, not when it is called.
_COMPILE_TIME = "onstexpr"


def bind_arguments(
    callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the arguments by parameter name, defaults included; None where they do not fit.

    Keywords that are no parameters, such as launch options, are left out. A compiled kernel is
    called without its compile-time parameters. An operator may be given by its schema.
    """
    if isinstance(callee, str):
        return _bind_schema(callee, args, kwargs)
    parameters = _parameters_of(callee)
    if parameters is None:
        return None
    run_time = [one for one in parameters if _COMPILE_TIME not in _annotation(one)]
    named = {one.name for one in parameters}
    given = {name: value for name, value in kwargs.items() if name in named}
    for wanted in (parameters, run_time):
        bound = _bind(wanted, args, given)
        if bound is not None:
            return bound
    # By name alone nothing can be mistaken, even where the wrapper adds what is missing.
    return None if args else given or None


def _parameters_of(callee: Any) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(callee).parameters.values())
    except (TypeError, ValueError):
        return None


def _annotation(parameter: inspect.Parameter) -> str:
    kind = parameter.annotation
    return kind if isinstance(kind, str) else repr(kind)


def _bind(
    parameters: Sequence[inspect.Parameter], args: tuple[Any, ...], given: Mapping[str, Any]
) -> dict[str, Any] | None:
    known = {one.name for one in parameters}
    try:
        bound = inspect.Signature(parameters).bind(
            *args, **{name: value for name, value in given.items() if name in known}
        )
    except (TypeError, ValueError):
        return None
    bound.apply_defaults()
    return dict(bound.arguments)


def _bind_schema(
    schema: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the arguments of an operator by the names in its schema; None for too many.

    ``"add(Tensor(a!) self, Tensor other, *, int alpha=1) -> Tensor(a!)"`` names self, other, alpha.
    """
    names = _schema_names(schema)
    if len(args) > len(names):
        return None
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _schema_names(schema: str) -> list[str]:
    """Return the names of an operator's parameters, in order, from its schema."""
    inside = schema.partition("->")[0].strip()
    inside = inside[inside.find("(") + 1 : inside.rfind(")")]
    declared = [part.partition("=")[0].split() for part in _split_at_commas(inside)]
    return [words[-1] for words in declared if words and words[-1] != "*"]


def _split_at_commas(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
