"""What calls of ghosts, and of what ghosts were put around, leave in the recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FunctionType, MethodType
from typing import Any

from pytest_sm120.recorder.places import find_place
from pytest_sm120.recorder.reachable import walk
from pytest_sm120.recorder.recording import plain_argument, plain_arguments
from pytest_sm120.recorder.records import Call
from pytest_sm120.stand_ins.binding import bind_arguments
from pytest_sm120.stand_ins.decorating import is_kernel
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.ghost_errors import unknown_operation

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


def record_call(
    execution: Execution,
    name: str,
    arguments: Arguments,
    *,
    bound: Mapping[str, Any] | None = None,
    kernel: str | None = None,
    returned: object = None,
    writes: bool = True,
) -> None:
    """Record a call; what it was given has no known contents then, as it may have been written."""
    args, kwargs = arguments
    plain = tuple(plain_argument(value) for value in args)
    named = plain_arguments(kwargs)
    names = None if bound is None else plain_arguments(bound)
    answer = plain_argument(returned)
    execution.recording.add(
        lambda place, order: Call(place, order, name, plain, named, names, kernel, answer)
    )
    if writes:
        forget_contents([*args, *kwargs.values()])


def forget_contents(given: Iterable[object]) -> None:
    """Note that what has been called may have written into the tensors that it was given.

    Those inside containers and objects are meant, too.
    """
    for _, found in walk([("", value) for value in given]):
        forget = getattr(type(found), "__sm120_forget__", None)
        if forget is not None:
            forget(found)


def record_ghost_call(ghost: Any, name: str, arguments: Arguments) -> None:
    """Record a call of a ghost; refuse it for what only a model could answer."""
    if ghost._strict:
        raise unknown_operation(find_place().site, name, ghost._origin)
    made_from = ghost._made_from
    record_call(
        ghost._ghosts.execution,
        operator_name(name),
        arguments,
        bound=None if made_from is None else bind_arguments(made_from, *arguments),
        kernel=name_of(find_callee(*arguments) if made_from is None else made_from),
    )


def operator_name(name: str) -> str:
    """Return an operator's name without its overload, any other name as it is."""
    if name.startswith("torch.ops."):
        return ".".join(name.split(".")[:4])
    return name


def find_callee(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return the first kernel or function among the arguments of a call, or None."""
    return next((value for value in (*args, *kwargs.values()) if _is_callee(value)), None)


def _is_callee(value: object) -> bool:
    if is_kernel(value) or isinstance(value, (FunctionType, MethodType)):
        return True
    # An object of the target's own that a compiler is given: what it compiles is its __call__.
    return is_kernel(vars(type(value)).get("__call__"))


def name_of(callee: Any) -> str | None:
    """Return the plain name of a kernel, a function or an object that is called like one.

    None for the schema of an operator.
    """
    if callee is None or isinstance(callee, str):
        return None
    name = getattr(callee, "__name__", None)
    return name if isinstance(name, str) else type(callee).__name__


def launch(ghost: Any, grid: Any, *args: Any, **kwargs: Any) -> Any:
    """Launch the kernel that a ghost was given, as ``wrapper(kernel)[grid](...)`` does.

    Arguments that do not fit the kernel are the wrapper's own business: then it is a call.
    """
    kernel = ghost._made_from
    if hasattr(kernel, "run") and bind_arguments(kernel, args, kwargs) is not None:
        return kernel.run(*args, grid=grid, **kwargs)
    record_ghost_call(ghost, ghost._name, (args, kwargs))
    return ghost._ghosts.result_of(ghost, args, kwargs)
