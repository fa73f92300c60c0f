"""Which dtypes torch refuses for an operation, as a table taken from torch on the CPU."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pytest_sm120.tensors.dtypes import DType

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
    found = _table().get((name, dtype.name))
    if found is not None:
        raise _ERRORS[found[0]](found[1])
