"""Inference mode, grad mode and other state that code under test switches on and off."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from pytest_sm120.stand_ins.execution import Execution


class Switch:
    """Sets fields of a thread's state inside a ``with`` block or around a decorated function."""

    def __init__(self, execution: Execution, **values: object) -> None:
        self._execution = execution
        self._values = values
        self._before: list[dict[str, object]] = []

    def __enter__(self) -> Any:
        state = self._execution.state_now()
        self._before.append({name: getattr(state, name) for name in self._values})
        self._execution.change(**self._values)
        return self

    def __exit__(self, *error: object) -> None:
        self._execution.change(**self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function so that it runs with the fields set."""
        if isinstance(function, type):
            return function

        @wraps(function)
        def switched(*args: Any, **kwargs: Any) -> Any:
            with Switch(self._execution, **self._values):
                return function(*args, **kwargs)

        return switched


def inference_mode(execution: Execution, mode: Any = True) -> Any:
    """Return what ``torch.inference_mode`` does, called with a flag or as a bare decorator."""
    if callable(mode):
        return inference_mode(execution)(mode)
    # As in torch, leaving inference mode inside it also turns gradients on again.
    return Switch(execution, inference=bool(mode), grad=not mode)


def no_grad(execution: Execution, function: Any = None) -> Any:
    """Return what ``torch.no_grad`` does, called or as a bare decorator."""
    switch = Switch(execution, grad=False)
    return switch if function is None else switch(function)


def enable_grad(execution: Execution, function: Any = None) -> Any:
    """Return what ``torch.enable_grad`` does, called or as a bare decorator."""
    switch = Switch(execution, grad=True)
    return switch if function is None else switch(function)


class GradSwitch(Switch):
    """``torch.set_grad_enabled``: takes effect when it is called, and ends with its block."""

    def __init__(self, execution: Execution, mode: bool) -> None:
        super().__init__(execution, grad=bool(mode))
        self._outside = execution.grad_enabled
        execution.change(grad=bool(mode))

    def __enter__(self) -> Any:
        self._before.append({"grad": self._outside})
        self._execution.change(**self._values)
        return self

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function so that only it runs with the mode."""
        self._execution.change(grad=self._outside)
        return super().__call__(function)


def is_grad_enabled(execution: Execution) -> bool:
    """Return whether gradients would be computed."""
    return execution.grad_enabled


def is_inference_mode_enabled(execution: Execution) -> bool:
    """Return whether code runs in inference mode."""
    return execution.inference


def get_default_dtype(execution: Execution) -> Any:
    """Return the dtype of new tensors that name none."""
    return execution.default_dtype


def set_default_dtype(execution: Execution, d: Any) -> None:
    """Set the dtype of new tensors that name none."""
    if not getattr(d, "is_floating_point", False):
        raise TypeError("only floating-point types are supported as the default type")
    execution.default_dtype = d
