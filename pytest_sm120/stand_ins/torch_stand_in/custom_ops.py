"""torch.library and torch.ops: operators that code under test registers and calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation

Body = Callable[..., Any]


class CustomOp:
    """What ``torch.library.custom_op`` returns: calls its function."""

    def __init__(self, name: str, function: Body) -> None:
        self._name = name
        self._function = function
        self.__name__ = getattr(function, "__name__", name)
        self.__doc__ = getattr(function, "__doc__", None)
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the registered function returns."""
        return self._function(*args, **kwargs)

    @property
    def default(self) -> CustomOp:
        """The operator itself: overloads are not told apart."""
        return self

    def register_fake(self, fn: Body, /) -> Body:
        """Return the function; shapes are worked out by running the operator itself."""
        return fn

    register_autograd = register_vmap = register_torch_dispatch = register_fake

    def register_kernel(self, device_types: Any, fn: Body | None = None, /) -> Any:
        """Return the function; the operator's own function stays the one that is called."""
        return _identity if fn is None else fn

    def __repr__(self) -> str:
        return f"<CustomOp({self._name})>"


def _identity(function: Any) -> Any:
    return function


class Operators:
    """``torch.ops``: what was registered, and ghosts for everything else."""

    def __init__(self, execution: Execution, make_ghost: Callable[[str], object]) -> None:
        self._execution = execution
        self._make_ghost = make_ghost
        self._registered: dict[str, Body] = {}
        self._schemas: dict[str, str] = {}

    def add(self, name: str, function: Body) -> None:
        """Register an operator under ``"namespace::name"``."""
        self._registered[name.partition(".")[0]] = function

    def add_schema(self, name: str, schema: str) -> None:
        """Note which parameters an operator has."""
        self._schemas[name.partition(".")[0]] = schema

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__dict__[name] = OperatorNamespace(self, name)
        return self.__dict__[name]

    def find(self, namespace: str, name: str) -> Any:
        """Return what calls a registered operator and records the call, else a ghost."""
        from pytest_sm120.stand_ins.torch_stand_in.operator_calls import (
            RecordedOperator,
            with_schema,
        )

        qualified, dotted = f"{namespace}::{name}", f"torch.ops.{namespace}.{name}"
        body = self._registered.get(qualified) or self._execution.find_operator(qualified)
        if body is None:
            return with_schema(self._make_ghost(dotted), self._schemas.get(qualified))
        return RecordedOperator(self._execution, dotted, body)


class OperatorNamespace:
    """``torch.ops.namespace``."""

    def __init__(self, operators: Operators, name: str) -> None:
        self._operators = operators
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._operators.find(self._name, name)


def custom_op(operators: Operators, name: str, fn: Body | None = None, /, **options: Any) -> Any:
    """Return what ``torch.library.custom_op`` does, called or as a decorator."""
    if fn is None:
        return lambda function: custom_op(operators, name, function, **options)
    made = CustomOp(name, fn)
    operators.add(name, made)
    return made


class Library:
    """A collection of operators of one namespace, as ``torch.library.Library``."""

    _operators: Operators

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        self.ns = ns
        self.kind = kind

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Return the operator's name; its implementation comes with ``impl``."""
        name = str(schema).partition("(")[0].strip()
        type(self)._operators.add_schema(f"{self.ns}::{name.rpartition('::')[2]}", str(schema))
        return name

    def impl(self, op_name: Any, fn: Body, dispatch_key: str = "", **options: Any) -> None:
        """Register the function that the operator calls."""
        name = str(op_name).rpartition("::")[2]
        type(self)._operators.add(f"{self.ns}::{name}", CustomOp(f"{self.ns}::{name}", fn))

    def _register_fake(self, op_name: Any, fn: Body, **options: Any) -> None:
        """Do nothing: shapes are worked out by running the operator itself."""


def library_class(operators: Operators) -> type[Library]:
    """Return ``torch.library.Library`` for one build."""
    return type("Library", (Library,), {"_operators": operators})


def register_fake(op: Any, func: Body | None = None, /, **options: Any) -> Any:
    """Return the function; shapes are worked out by running the operator itself."""
    return _identity if func is None else func


def impl(operators: Operators, *args: Any, **options: Any) -> Any:
    """Return what ``torch.library.impl`` does: registers a function, called or as a decorator."""
    given = [*args, *options.values()]
    functions = [value for value in given if callable(value) and not isinstance(value, Library)]
    if isinstance(given[0], Library):
        name = f"{given[0].ns}::{str(given[1]).rpartition('::')[2]}"
    else:
        name = str(given[0])

    def register(function: Body) -> Body:
        operators.add(name, CustomOp(name, function))
        return function

    return register(functions[0]) if functions else register


def define(operators: Operators, *args: Any, **options: Any) -> Any:
    """Note the schema of an operator; as a decorator, return the function."""
    name, schema = (*args, "")[:2]
    operators.add_schema(str(name), str(schema or options.get("schema", "")))
    return _identity


class Function:
    """``torch.autograd.Function``: ``apply`` runs ``forward``."""

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Return what ``forward`` returns; ``setup_context`` is called when it is defined."""
        context = FunctionContext()
        if cls.setup_context is not Function.setup_context:
            output = cls.forward(*args, **kwargs)
            cls.setup_context(context, args, output)
            return output
        return cls.forward(context, *args, **kwargs)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Refuse, as a subclass is meant to define it."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> Any:
        """Refuse, as a subclass is meant to define it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Refuse: nothing is differentiated here."""
        raise unknown_operation("torch.autograd.Function.backward")


class FunctionContext:
    """What ``forward`` gets to keep things in."""

    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors."""
        self.saved_tensors = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Do nothing: nothing is differentiated here."""

    mark_non_differentiable = set_materialize_grads = mark_dirty


def identity_decorator(*args: Any, **options: Any) -> Any:
    """Return the function itself: called on it, or as a decorator with options."""
    given = args[0] if args else options.get("model", options.get("fn"))
    return _identity if given is None or not callable(given) else given


def wrap_triton(kernel: Any) -> Any:
    """Return the kernel itself: nothing traces it, so a launch of the wrapped one is a launch."""
    return kernel


def always_false(*args: Any) -> bool:
    """Return False: nothing is compiled, traced or scripted."""
    return False
