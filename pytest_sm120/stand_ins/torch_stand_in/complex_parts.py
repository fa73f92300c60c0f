"""Views between complex numbers and pairs of real ones."""

from __future__ import annotations

from pytest_sm120.stand_ins.torch_stand_in.operation import Operation
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, make_view
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.tensors.dtypes import DTYPES
from pytest_sm120.tensors.number_formats import component_of

_COMPLEX_OF = {"float16": "complex32", "float32": "complex64", "float64": "complex128"}


def view_as_real(call: str, input: Tensor) -> Tensor:
    """Return the view in which a last dimension of size 2 holds the parts of each number."""
    if input.dtype.kind != "complex":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    strides = (*(2 * stride for stride in input.stride()), 1)
    offset = 2 * input.storage_offset()
    return make_view(input, (*input.shape, 2), strides, offset, component_of(input.dtype))


def view_as_complex(call: str, input: Tensor) -> Tensor:
    """Return the view in which a last dimension of size 2 has become one complex number."""
    if input.dtype.name not in _COMPLEX_OF:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {scalar_type_name(input.dtype)}"
        )
    _refuse_pairs(input)
    strides = tuple(stride // 2 for stride in input.stride()[:-1])
    dtype = DTYPES[_COMPLEX_OF[input.dtype.name]]
    return make_view(input, input.shape[:-1], strides, input.storage_offset() // 2, dtype)


def _refuse_pairs(input: Tensor) -> None:
    if not input.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if input.stride(-1) != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(stride % 2 for stride in input.stride()[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if input.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")


#: The rows of every operation in this module.
COMPLEX_PARTS = (
    Operation("view_as_real", view_as_real, method=False),
    Operation("view_as_complex", view_as_complex, method=False),
)
