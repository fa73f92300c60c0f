"""What an operation is: one row gives torch.x, Tensor.x and Tensor.x_."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_sm120.stand_ins.torch_stand_in.memory import (
    Known,
    allocate,
    refuse_overlap,
    write_in_place,
)
from pytest_sm120.stand_ins.torch_stand_in.promotion import can_cast
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.layouts import may_overlap_itself


@dataclass(frozen=True, eq=False)
class Computed:
    """The result of an operation before it has memory."""

    #: The tensor whose execution the result belongs to.
    source: Tensor
    shape: Sequence[int]
    dtype: DType
    known: Known = None
    #: Row-major unless given.
    strides: Sequence[int] | None = None
    #: Whether gradients flow through it.
    differentiable: bool = True
    #: The source's device unless given.
    device: Device | None = None
    #: What torch's kernel raises; after it has checked the geometry of what is written.
    refusal: Exception | None = None


class Operation(NamedTuple):
    """One row of a table of operations.

    ``run`` takes the name under which a reader would look for the call, e.g. ``"torch.cat"``, and
    the caller's arguments.
    """

    name: str
    run: Callable[..., Any]
    #: Whether ``torch.name`` exists.
    function: bool = True
    #: Whether ``Tensor.name`` exists.
    method: bool = True
    #: For ``Tensor.name_``: computes the result that is written back.
    in_place: Callable[..., Computed] | None = None
    #: Whether the first argument of ``torch.name`` is a list or a number rather than a tensor.
    takes_list: bool = False


def computing(
    name: str,
    compute: Callable[..., Any],
    *,
    function: bool = True,
    method: bool = True,
    in_place: bool = False,
    takes_list: bool = False,
    refusals: str = "",
) -> Operation:
    """Return the row of an operation whose results always get memory of their own.

    ``refusals`` is the operation whose refused dtypes hold for the first argument.
    """

    def run(call: str, /, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        result = compute(*args, **kwargs)
        if refusals and args[0].numel():
            refuse_dtype(refusals, args[0].dtype)
        return materialize(call, result) if out is None else write_out(name, result, out)

    return Operation(name, run, function, method, compute if in_place else None, takes_list)


def materialize(call: str, result: Any) -> Any:
    """Return the tensor of a Computed, or the tuple of tensors of a tuple of them.

    A tensor stays what it is: some operations return their input where there is nothing to do.
    """
    if isinstance(result, Tensor):
        return result
    if isinstance(result, tuple):
        made = [materialize(call, part) for part in result]
        return type(result)(*made) if hasattr(result, "_fields") else tuple(made)
    if result.refusal is not None:
        raise result.refusal
    source = result.source
    tensor = allocate(
        Tensor,
        source._execution,
        call,
        result.shape,
        result.dtype,
        result.device or source.device,
        strides=result.strides,
        known=result.known,
    )
    tensor._requires_grad = flows(result)
    tensor._leaf = not tensor._requires_grad
    return tensor


def flows(result: Computed) -> bool:
    """Return whether the result needs a gradient because its source does."""
    execution = result.source._execution
    enabled = execution.grad_enabled and not execution.inference
    return (
        result.differentiable
        and enabled
        and result.source._requires_grad
        and result.dtype.kind in ("float", "complex")
    )


def write_out(name: str, result: Computed, out: Any) -> Any:
    """Write a result into the tensor given as ``out=``."""
    if not isinstance(result, Computed) or not isinstance(out, Tensor):
        raise unknown_operation(f"torch.{name}(..., out=...) with these arguments")
    if tuple(result.shape) != tuple(out.shape):
        raise unknown_operation(f"torch.{name}(..., out=...) with an out of another shape")
    return write_back(out, name, result)


def write_back(tensor: Tensor, op: str, result: Computed) -> Tensor:
    """Write the result of an in-place operation into its tensor."""
    known = result.known
    if op not in ("masked_fill_", "index_fill_"):
        refuse_overlap(tensor)
    elif may_overlap_itself(tensor.shape, tensor.stride()):
        # Elements that share memory get what was written last.
        known = None
    if tuple(result.shape) != tuple(tensor.shape):
        raise RuntimeError(
            f"output with shape {list(tensor.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )
    if not can_cast(result.dtype, tensor.dtype):
        raise RuntimeError(
            f"result type {scalar_type_name(result.dtype)} can't be cast to the desired output "
            f"type {scalar_type_name(tensor.dtype)}"
        )
    if result.refusal is not None:
        raise result.refusal
    write_in_place(tensor, op, known)
    return tensor
