"""Calls of operators through ``torch.ops``: recorded, and run where the function is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_sm120.stand_ins.binding import bind_arguments
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.ghost_calls import record_call


class RecordedOperator:
    """``torch.ops.namespace.name`` whose function code under test has registered."""

    def __init__(self, execution: Execution, name: str, body: Callable[..., Any]) -> None:
        self._execution = execution
        self._name = name
        self._body = body
        self.__name__ = name.rpartition(".")[2]
        self.__wrapped__ = getattr(body, "__wrapped__", body)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record the call, and return what the registered function returns."""
        if not self._execution.importing:
            bound = bind_arguments(self.__wrapped__, args, kwargs)
            record_call(self._execution, self._name, (args, kwargs), bound=bound, writes=False)
        return self._body(*args, **kwargs)

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("_"):
            raise AttributeError(overload)
        # torch.ops.ns.name.default: overloads are not told apart.
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedOperator) and self._body is other._body

    def __hash__(self) -> int:
        return hash(self._body)

    def __repr__(self) -> str:
        return f"<operator {self._name}>"


def with_schema(ghost: Any, schema: str | None) -> Any:
    """Return the ghost of an operator so that its calls are bound by the operator's schema."""
    return ghost if schema is None else ghost._ghosts.made_from(ghost, ghost._name, schema)
