"""The names by which torch's own messages call dtypes and tensor classes."""

from __future__ import annotations

from pytest_sm120.tensors.dtypes import DType

_SCALAR_TYPES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long", "float16": "Half", "float32": "Float", "float64": "Double",
    "bfloat16": "BFloat16", "complex32": "ComplexHalf", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
}  # fmt: skip


def scalar_type_name(dtype: DType) -> str:
    """Return e.g. ``"Float"`` for float32, ``"Float8_e4m3fn"`` for float8_e4m3fn."""
    return _SCALAR_TYPES.get(dtype.name, dtype.name.capitalize())


#: Classes such as ``torch.LongTensor``, by dtype; these exist for the CPU and for CUDA.
LEGACY_CLASSES = {
    f"{name}Tensor": dtype
    for dtype, name in _SCALAR_TYPES.items()
    if not dtype.startswith(("complex", "uint1", "uint3", "uint6"))
}
