"""What torch refuses: dtypes, as a table taken from torch on the CPU, and numbers that overflow."""

from __future__ import annotations

from functools import cache
from math import isfinite
from pathlib import Path

from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.number_formats import FLOATS, integer_limits
from pytest_sm120.tensors.storages import Number

_FILE = Path(__file__).with_name("refusals.txt")
_ERRORS: dict[str, type[Exception]] = {
    "RuntimeError": RuntimeError,
    "NotImplementedError": NotImplementedError,
    "TypeError": TypeError,
}


@cache
def _table() -> dict[tuple[str, str], tuple[str, str]]:
    rows = (line.split("\t", 3) for line in _FILE.read_text("utf-8").splitlines())
    return {(name, dtype): (error, words) for name, dtype, error, words in rows}


def refuse_dtype(name: str, dtype: DType) -> None:
    """Raise torch's error when it has no such operation for this dtype."""
    refusal = find_refusal(name, dtype)
    if refusal is not None:
        raise refusal


def find_refusal(name: str, dtype: DType) -> Exception | None:
    """Return what torch's kernel raises for this dtype, or None when it has the operation.

    What torch refuses before it looks at the geometry is raised here.
    """
    found = _table().get((name, dtype.name))
    if found is None:
        return None
    error = _ERRORS[found[0]](found[1])
    if "not implemented for" not in found[1]:
        raise error
    return error


# How torch spells the C++ type of a dtype in the message on overflow.
_C_NAMES = {"int32": "int", "float32": "float"}


def refuse_overflow(value: Number, dtype: DType) -> None:
    """Raise torch's error when a number that fills a tensor does not fit into its dtype.

    An unsigned dtype takes the negative of each whole number that it takes, and wraps it.
    """
    if not isinstance(value, complex) and not _fits(value, dtype):
        name = _C_NAMES.get(dtype.name, f"{dtype.name}_t")
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def _fits(value: float, dtype: DType) -> bool:
    if dtype.kind in ("int", "uint"):
        limits = integer_limits(dtype)
        lowest = -limits.max if dtype.kind == "uint" and isinstance(value, int) else limits.min
        # False for NaN, too.
        return lowest <= value <= limits.max
    return dtype.name != "float32" or not isfinite(value) or abs(value) <= FLOATS["float32"].max
