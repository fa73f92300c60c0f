"""Values as a test or a target writes them: numbers, nested lists, numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign
from pytest_sm120.tensors.dtypes import DTYPES, DType, find_dtype
from pytest_sm120.tensors.storages import Number


@dataclass(frozen=True, eq=False)
class GivenValues:
    """Values in row-major order with their shape."""

    shape: tuple[int, ...]
    known: Sequence[Number]
    #: The dtype of the array, or of all the tensors and numpy scalars, that they came from.
    array_dtype: DType | None = None

    def dtype(self, default: DType) -> DType:
        """Return the dtype that torch gives to these values."""
        if self.array_dtype is not None:
            return self.array_dtype
        kinds = {type(value) for value in self.known}
        if complex in kinds:
            return DTYPES["complex128" if default.name == "float64" else "complex64"]
        if float in kinds or not kinds:
            return default
        return DTYPES["int64"] if int in kinds else DTYPES["bool"]


def read_nested(data: Any) -> GivenValues:
    """Return the values of a number, of nested lists or of an array.

    Raises ValueError for lists of unequal lengths and TypeError for what is no number, as
    ``torch.tensor`` does.
    """
    if _is_array(data):
        refuse_foreign(data)
        flat = [_read_one(value) for value in _flatten(data.tolist(), tuple(data.shape))]
        return GivenValues(tuple(data.shape), flat, find_dtype(data.dtype))
    shape = _shape_of(data)
    leaves = _flatten(data, shape)
    return GivenValues(shape, [_read_one(leaf) for leaf in leaves], _dtype_of_leaves(leaves))


def _is_array(value: Any) -> bool:
    return hasattr(value, "tolist") and hasattr(value, "dtype") and not isinstance(value, Tensor)


def _dtype_of_leaves(leaves: Sequence[Any]) -> DType | None:
    """Return the dtype that every leaf brings along, if each brings the same."""
    found = {str(getattr(leaf, "dtype", "")).rpartition(".")[2] for leaf in leaves}
    return find_dtype(found.pop()) if len(found) == 1 and "" not in found else None


def _parts(data: Any) -> Sequence[Any] | None:
    """Return what a level of nesting holds; None for a leaf."""
    if isinstance(data, (list, tuple)):
        return data
    return list(data) if _is_array(data) and data.shape else None


def _shape_of(data: Any) -> tuple[int, ...]:
    parts = _parts(data)
    if parts is None:
        return ()
    return (len(parts), *(_shape_of(parts[0]) if parts else ()))


def _flatten(data: Any, shape: tuple[int, ...], level: int = 0) -> list[Any]:
    if level == len(shape):
        return [data]
    parts = _parts(data)
    if parts is None:
        raise TypeError("not a sequence")
    if len(parts) != shape[level]:
        raise ValueError(
            f"expected sequence of length {shape[level]} at dim {level} (got {len(parts)})"
        )
    return [leaf for part in parts for leaf in _flatten(part, shape, level + 1)]


def _read_one(value: Any) -> Number:
    if isinstance(value, Tensor):
        return _number_of(value)
    if isinstance(value, (list, tuple)):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    plain = value.tolist() if _is_array(value) else value
    if isinstance(plain, (bool, int, float, complex)):
        return plain
    refuse_foreign(value)
    raise TypeError(f"new(): invalid data type '{type(value).__name__}'")


def _number_of(tensor: Tensor) -> Number:
    if tensor.numel() == 1:
        return tensor.item()  # type: ignore[no-any-return]  # a number of Python
    if tensor.dtype.kind == "float":
        raise ValueError("only one element tensors can be converted to Python scalars")
    raise TypeError("only integer tensors of a single element can be converted to an index")
