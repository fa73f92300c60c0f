"""Which dtype a computation has, after the tables of torch's "Type Promotion" documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_sm120.stand_ins.torch_stand_in.memory import View
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.number_formats import component_of

_COMPLEX_OF = {"float16": "complex32", "float32": "complex64", "float64": "complex128"}


def promote_types(first: DType, second: DType) -> DType:
    """Return the smallest dtype that both fit into, as ``torch.promote_types``."""
    if first is second:
        return first
    _refuse_small_floats(first, second)
    _refuse_wide_unsigned(first, second)
    kinds = {first.kind, second.kind}
    if "complex" in kinds:
        real = _promote_floats(component_of(first), component_of(second))
        return DTYPES[_COMPLEX_OF.get(real.name, "complex64")]
    if "float" in kinds:
        return _promote_floats(first, second)
    return _promote_integers(first, second)


def _refuse_small_floats(first: DType, second: DType) -> None:
    names = [dtype.name for dtype in (first, second)]
    pair = f"attempted to promote {scalar_type_name(first)} and {scalar_type_name(second)}"
    if any(name.startswith("float8") for name in names):
        raise RuntimeError(f"Promotion for Float8 Types is not supported, {pair}")
    if any(name.startswith("float4") for name in names):
        raise RuntimeError(f"Promotion for Float4 Types is not supported, {pair}")


_WIDE_UNSIGNED = frozenset({"uint16", "uint32", "uint64"})


def _refuse_wide_unsigned(first: DType, second: DType) -> None:
    names = (first.name, second.name)
    if _WIDE_UNSIGNED.intersection(names) and "float" not in (first.kind, second.kind):
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{scalar_type_name(first)} and {scalar_type_name(second)}"
        )


def _promote_floats(first: DType, second: DType) -> DType:
    floats = [dtype for dtype in (first, second) if dtype.kind == "float"]
    if len(floats) == 1 or floats[0] is floats[1]:
        return floats[0]
    if floats[0].itemsize == floats[1].itemsize:
        # float16 and bfloat16 each have what the other lacks.
        return DTYPES["float32"]
    return max(floats, key=lambda dtype: dtype.itemsize)


def _promote_integers(first: DType, second: DType) -> DType:
    if "bool" in (first.kind, second.kind):
        return second if first.kind == "bool" else first
    larger = max(first, second, key=lambda dtype: (dtype.itemsize, dtype.kind == "int"))
    if first.kind != second.kind and larger.itemsize == 1:
        return DTYPES["int16"]
    return larger


def scalar_dtype(value: object, default: DType) -> DType:
    """Return the dtype that a Python number has in a computation."""
    if isinstance(value, bool):
        return DTYPES["bool"]
    if isinstance(value, int):
        return DTYPES["int64"]
    if isinstance(value, complex):
        return DTYPES[_COMPLEX_OF.get(default.name, "complex64")]
    return default


def result_type(operands: Sequence[object], default: DType) -> DType:
    """Return the dtype of a computation on tensors and Python numbers.

    Tensors with dimensions come before tensors without, and those before numbers: a later group
    only decides when it is of a higher kind.
    """
    tensors = [operand for operand in operands if isinstance(operand, View)]
    numbers = [operand for operand in operands if not isinstance(operand, View)]
    groups = (
        _promote_all(tensor._dtype for tensor in tensors if tensor._shape),
        _promote_all(tensor._dtype for tensor in tensors if not tensor._shape),
        _promote_all(scalar_dtype(number, default) for number in numbers),
    )
    result = _combine(groups[0], _combine(groups[1], groups[2]))
    return default if result is None else result


def _promote_all(dtypes: Iterable[DType]) -> DType | None:
    result: DType | None = None
    for dtype in dtypes:
        result = dtype if result is None else promote_types(result, dtype)
    return result


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    if higher is None or lower is None:
        return higher or lower
    if higher.kind == "complex":
        return higher
    if lower.kind == "complex" and higher.name in _WIDE_UNSIGNED:
        return lower
    if higher.kind == "float":
        if lower.kind == "complex" and higher.itemsize == 1:
            name = scalar_type_name(higher)
            raise RuntimeError(f"Unknown Complex ScalarType for {name}")
        if lower.kind == "complex":
            return DTYPES[_COMPLEX_OF.get(higher.name, "complex64")]
        return higher
    if higher.kind == "bool" or lower.kind in ("float", "complex"):
        return promote_types(higher, lower)
    return higher


_RANKS = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


def can_cast(source: DType, target: DType) -> bool:
    """Return whether a result may be written into a tensor of the target dtype."""
    return _RANKS[source.kind] <= _RANKS[target.kind]
