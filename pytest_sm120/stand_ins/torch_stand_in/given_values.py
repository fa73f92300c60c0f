"""Values as a test or a target writes them: numbers, nested lists, numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
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
    #: The dtype of the array they came from.
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
    if hasattr(data, "tolist") and hasattr(data, "dtype") and not isinstance(data, Tensor):
        refuse_foreign(data)
        flat = _flatten(data.tolist(), tuple(data.shape))
        return GivenValues(tuple(data.shape), flat, find_dtype(data.dtype))
    shape = _shape_of(data)
    return GivenValues(shape, _flatten(data, shape))


def _shape_of(data: Any) -> tuple[int, ...]:
    if not isinstance(data, (list, tuple)):
        return ()
    return (len(data), *(_shape_of(data[0]) if data else ()))


def _flatten(data: Any, shape: tuple[int, ...], level: int = 0) -> list[Number]:
    if level == len(shape):
        return [_read_one(data, shape, level)]
    if not isinstance(data, (list, tuple)) or len(data) != shape[level]:
        _refuse_ragged(data, shape, level)
    if prod(shape) == 0:
        return []
    return [value for part in data for value in _flatten(part, shape, level + 1)]


def _refuse_ragged(data: Any, shape: tuple[int, ...], level: int) -> None:
    if not isinstance(data, (list, tuple)):
        raise TypeError("not a sequence")
    raise ValueError(f"expected sequence of length {shape[level]} at dim {level} (got {len(data)})")


def _number_of(tensor: Tensor) -> Number:
    if tensor.numel() == 1:
        return tensor.item()  # type: ignore[no-any-return]  # a number of Python
    if tensor.dtype.kind == "float":
        raise ValueError("only one element tensors can be converted to Python scalars")
    raise TypeError("only integer tensors of a single element can be converted to an index")


def _read_one(value: Any, shape: tuple[int, ...], level: int) -> Number:
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, Tensor):
        return _number_of(value)
    if isinstance(value, (list, tuple)):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        plain = value.tolist()
        if isinstance(plain, (bool, int, float, complex)):
            return plain
    refuse_foreign(value)
    raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
