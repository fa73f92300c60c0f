"""torch.index_put and Tensor.index_put_: writing at indices by name."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.operation import Operation
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign, unknown_operation

_INDEX_DTYPES = ("int64", "int32", "uint8", "bool")


def index_put_(
    call: str, input: Tensor, indices: Any, values: Any, accumulate: bool = False
) -> Tensor:
    """Write a tensor to the elements that index tensors pick, and return the tensor."""
    if not isinstance(values, Tensor):
        refuse_foreign(values)
        raise TypeError(
            "index_put_(): argument 'values' (position 2) must be Tensor, not "
            f"{type(values).__name__}"
        )
    if accumulate:
        raise unknown_operation("torch.index_put(..., accumulate=True)")
    if any(index.dtype.name not in _INDEX_DTYPES for index in indices):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if input.is_cpu and input.dtype is values.dtype and len(indices) <= input.ndim:
        refuse_dtype("setitem", input.dtype)
    input[tuple(indices)] = values
    return input


def index_put(
    call: str, input: Tensor, indices: Any, values: Any, accumulate: bool = False
) -> Tensor:
    """Return a copy of the tensor with these elements written."""
    return index_put_(call, input.clone(), indices, values, accumulate)


#: The rows of every operation in this module.
PUTTING = (
    Operation("index_put", index_put),
    Operation("index_put_", index_put_),
)
