"""Puts the rows of the operation tables onto the class Tensor and into torch's namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.indexing import get_item, set_item
from pytest_sm120.stand_ins.torch_stand_in.operation import Operation, write_back
from pytest_sm120.stand_ins.torch_stand_in.operators import OPERATORS, make_operator
from pytest_sm120.stand_ins.torch_stand_in.pieces import transposed, transposed_matrices
from pytest_sm120.stand_ins.torch_stand_in.tables import OPERATIONS
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign


def _as_method(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return run(f"Tensor.{name}", self, *args, **kwargs)

    return _named(method, name)


def _as_function(operation: Operation) -> Callable[..., Any]:
    name, run, takes_list = operation.name, operation.run, operation.takes_list

    def function(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else next(iter(kwargs.values()), None)
        if not takes_list and not isinstance(first, Tensor) and "input" not in kwargs:
            _refuse_input(name, first)
        return run(f"torch.{name}", *args, **kwargs)

    return _named(function, name)


def _refuse_input(name: str, first: Any) -> None:
    refuse_foreign(first)
    if not isinstance(first, (int, float, complex)):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(first).__name__}"
        )


def _as_in_place(operation: Operation) -> Callable[..., Any]:
    name, compute = f"{operation.name}_", operation.in_place
    assert compute is not None

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return write_back(self, name, compute(self, *args, **kwargs))

    return _named(method, name)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


def _attach(operations: Iterable[Operation]) -> dict[str, Callable[..., Any]]:
    functions: dict[str, Callable[..., Any]] = {}
    for operation in operations:
        if operation.method:
            setattr(Tensor, operation.name, _as_method(operation.name, operation.run))
        if operation.in_place is not None:
            setattr(Tensor, f"{operation.name}_", _as_in_place(operation))
        if operation.function:
            functions[operation.name] = _as_function(operation)
    return functions


def _attach_special() -> None:
    runs = {operation.name: operation.run for operation in OPERATIONS}
    for dunder, name in OPERATORS.items():
        setattr(Tensor, dunder, make_operator(dunder, name, runs[name.rstrip("_")]))
    special: dict[str, Any] = {
        "__getitem__": get_item,
        "__setitem__": set_item,
        "T": property(transposed),
        "mT": property(transposed_matrices),
    }
    for name, value in special.items():
        setattr(Tensor, name, value)


#: ``torch.x`` for every modelled operation on tensors.
FUNCTIONS = _attach(OPERATIONS)
_attach_special()
