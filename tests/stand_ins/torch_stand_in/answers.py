"""Words for the outcome of an expression, the same for torch and for its stand-in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("answers.txt")


def answer(torch: Any, expression: str) -> str:
    """Return what the expression comes to: geometry and contents, or the error."""
    names = {
        "torch": torch,
        "a": torch.arange(24).reshape(4, 6),
        "f": torch.arange(24, dtype=torch.float32).reshape(2, 3, 4),
        "z": torch.zeros(()),
        "m": torch.arange(6).reshape(2, 3) > 2,
    }
    try:
        return describe(eval(expression, names))
    except Exception as error:  # any error is an outcome here
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def describe(result: Any) -> str:
    """Return the words for one result."""
    if isinstance(result, (tuple, list)) and type(result).__name__ != "Size":
        return " | ".join(describe(part) for part in result)
    if not hasattr(result, "storage_offset"):
        return str(result)
    geometry = f"{result.dtype} {list(result.shape)} {result.stride()} {result.storage_offset()}"
    return f"{geometry} = {contents(result)}"


def contents(tensor: Any) -> str:
    """Return the contents rounded to four digits, ``"unknown"`` when nobody knows them."""
    try:
        return str(rounded(tensor.tolist()))
    except Exception as error:
        if type(error).__name__ != "UnknownValue":
            raise
        return "unknown"


def rounded(value: object) -> object:
    """Return nested lists with their floating-point numbers rounded."""
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 3) if isinstance(value, float) else value


def recorded() -> list[tuple[str, str]]:
    """Return the expressions and torch's answers."""
    lines = FILE.read_text("utf-8").splitlines()
    return [(line.partition("\t")[0], line.partition("\t")[2]) for line in lines]
