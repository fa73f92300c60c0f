"""Puts the rows of the operation tables onto the class Tensor and into torch's namespace."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.indexing import get_item, set_item
from pytest_sm120.stand_ins.torch_stand_in.known_names import torch_has
from pytest_sm120.stand_ins.torch_stand_in.memory_formats import STRIDED
from pytest_sm120.stand_ins.torch_stand_in.operation import Operation, write_back
from pytest_sm120.stand_ins.torch_stand_in.operators import OPERATORS, make_operator
from pytest_sm120.stand_ins.torch_stand_in.overlaps import refuse_partial_overlap
from pytest_sm120.stand_ins.torch_stand_in.pieces import transposed, transposed_matrices
from pytest_sm120.stand_ins.torch_stand_in.tables import OPERATIONS
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, TensorType
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign, unknown_operation


def _as_method(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return run(f"Tensor.{name}", self, *args, **kwargs)

    return _named(method, name)


def _as_function(operation: Operation) -> Callable[..., Any]:
    name, run, takes_list = operation.name, operation.run, operation.takes_list

    def function(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else next(iter(kwargs.values()), None)
        if not takes_list and not isinstance(first, Tensor) and "input" not in kwargs:
            _refuse_input(name, first, args[1:])
        return run(f"torch.{name}", *args, **kwargs)

    return _named(function, name)


def _refuse_input(name: str, first: Any, others: tuple[Any, ...]) -> None:
    refuse_foreign(first)
    goes_with_a_tensor = any(isinstance(other, Tensor) for other in others)
    if not (isinstance(first, (int, float, complex)) and goes_with_a_tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(first).__name__}"
        )


def _as_in_place(operation: Operation) -> Callable[..., Any]:
    name, compute = f"{operation.name}_", operation.in_place
    assert compute is not None

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        result = compute(self, *args, **kwargs)
        for operand in args:
            refuse_partial_overlap(self, operand)
        return write_back(self, name, result)

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


@functools.cache
def computing_functions() -> dict[str, Callable[..., Any]]:
    """Attach what computes to the class Tensor and return its functions, by name in torch.

    The first target that asks pays for reading the tables; most targets never do.
    """
    from pytest_sm120.stand_ins.torch_stand_in.computing import COMPUTING

    return _attach(COMPUTING)


@functools.cache
def functional() -> dict[str, Callable[..., Any]]:
    """Return the functions of torch.nn.functional, by name."""
    from pytest_sm120.stand_ins.torch_stand_in.computing import SHARED, dropout, linear, pad

    shared = {name: computing_functions()[name] for name in SHARED}
    return {**shared, "linear": linear, "dropout": dropout, "pad": pad}


def _find_run(name: str) -> Callable[..., Any]:
    from pytest_sm120.stand_ins.torch_stand_in.computing import COMPUTING

    return next(operation.run for operation in COMPUTING if operation.name == name)


def _find_of_class(cls: type, name: str) -> Any:
    """Find what is not attached yet, as in ``torch.Tensor.add``."""
    computing_functions()
    for kind in cls.__mro__:
        if name in kind.__dict__:
            return kind.__dict__[name]
    raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")


def _find_of_tensor(self: Tensor, name: str) -> Any:
    """Find what is not attached yet; refuse what torch has and the stand-in does not model."""
    if not name.startswith("__"):
        computing_functions()
        found = getattr(type(self), name, None)
        if found is not None:
            return found.__get__(self)
        if name in _ATTRIBUTES:
            # What is no method would be taken for a value before anybody calls it.
            raise unknown_operation(f"Tensor.{name}")
        if torch_has("torch.Tensor", name):
            return _refusal(name)
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


# Names of torch.Tensor that are no methods, and that nothing here answers.
_ATTRIBUTES = frozenset("H mH real imag name output_nr grad_dtype retains_grad volatile".split())

# Layouts and devices that are not modelled.
_WHAT_NO_TENSOR_IS = """
is_sparse is_sparse_csr is_quantized is_nested is_mkldnn is_xpu is_mps is_hpu is_xla is_vulkan
is_mtia is_maia is_ipu
""".split()


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*args: object, **kwargs: object) -> Any:
        raise unknown_operation(f"Tensor.{name}")

    return refuse


def _attach_special() -> None:
    for dunder, name in OPERATORS.items():
        setattr(Tensor, dunder, make_operator(dunder, name, _find_run))
    special: dict[str, Any] = {
        "__getattr__": _find_of_tensor,
        "__getitem__": get_item,
        "__setitem__": set_item,
        "T": property(transposed),
        "mT": property(transposed_matrices),
        "layout": STRIDED,
        **dict.fromkeys(_WHAT_NO_TENSOR_IS, False),
    }
    for name, value in special.items():
        setattr(Tensor, name, value)
    TensorType.__getattr__ = _find_of_class  # type: ignore[attr-defined]  # found for the class only


#: ``torch.x`` for every operation of the first table; see computing_functions for the others.
FUNCTIONS = _attach(OPERATIONS)
_attach_special()
