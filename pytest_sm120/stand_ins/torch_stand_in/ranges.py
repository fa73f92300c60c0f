"""torch.arange, torch.linspace and torch.randint."""

from __future__ import annotations

from math import ceil
from typing import Any

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.creation import Options, read_number
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.size import read_sizes
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.number_formats import integer_limits
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED


def arange(execution: Execution, *bounds: Any, **options: Any) -> Tensor:
    """Return what ``torch.arange`` does; its values are known."""
    given = dict(options)
    named = [given.pop(key) for key in ("start", "end") if key in given]
    limits = [*(named[:1] if "start" in options else []), *bounds]
    limits += named[1:] if "start" in options else named
    by = given.pop("step", 1)
    wanted = Options(execution, "arange", given)
    if wanted.dtype_given and wanted.dtype.name not in _COUNTED:
        refuse_dtype("arange", wanted.dtype)
    start, end, step = _read_range(limits, by)
    if not wanted.dtype_given:
        whole = all(isinstance(number, int) for number in (start, end, step))
        wanted.dtype = DTYPES["int64"] if whole else execution.default_dtype
    count, start, step = _counted(start, end, step, wanted.dtype)
    known = (
        [start + position * step for position in range(count)]
        if count <= LARGEST_FOLLOWED
        else None
    )
    return wanted.make("torch.arange", (count,), known=known)


def _counted(start: Any, end: Any, step: Any, dtype: DType) -> tuple[int, Any, Any]:
    """Return how many elements there are, and where and in which steps they count."""
    if dtype.kind not in ("int", "uint"):
        return max(0, ceil((end - start) / step)), start, step
    first, by = int(start), int(step)
    if dtype.name == "int64":
        if by == 0:
            raise ValueError("step must be nonzero")
        return max(0, -((first - int(end)) // by)), first, by
    return max(0, ceil((end - start) / step)), first, by


# What torch counts in; the table of refusals need not be read for these.
_COUNTED = frozenset("uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split())


def _read_range(limits: list[Any], step: Any) -> tuple[Any, Any, Any]:
    if not 1 <= len(limits) <= 3:
        raise TypeError(
            "arange() received an invalid combination of arguments - got (), but expected one of:"
        )
    numbers = [read_number("arange", "end", 1, limit) for limit in limits]
    start, end = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
    step = numbers[2] if len(numbers) == 3 else read_number("arange", "step", 3, step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    return start, end, step


def linspace(execution: Execution, start: Any, end: Any, steps: int, **options: Any) -> Tensor:
    """Return what ``torch.linspace`` does; its values are known."""
    wanted = Options(execution, "linspace", options)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if steps > 1:
        refuse_dtype("linspace", wanted.dtype)
    first, last = (read_number("linspace", "end", 2, bound) for bound in (start, end))
    step: Any = (last - first) / (steps - 1) if steps > 1 else 0
    whole = wanted.dtype.kind in ("int", "uint")
    # torch counts from both ends to the middle.
    known = [
        first + step * at if at < steps // 2 or steps == 1 else last - step * (steps - 1 - at)
        for at in range(steps if steps <= LARGEST_FOLLOWED else 0)
    ]
    numbers = [int(value.real) for value in known] if whole else known
    return wanted.make(
        "torch.linspace", (steps,), known=numbers if steps <= LARGEST_FOLLOWED else None
    )


def randint(execution: Execution, *bounds: Any, **options: Any) -> Tensor:
    """Return what ``torch.randint`` does; its values are not known."""
    given = dict(options)
    named = [given.pop(key) for key in ("low", "high", "size") if key in given]
    *limits, size = (*bounds, *named)
    wanted = Options(execution, "randint", given)
    if not wanted.dtype_given:
        wanted.dtype = DTYPES["int64"]
    low, high = (0, limits[0]) if len(limits) == 1 else limits
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    refuse_dtype("randint", wanted.dtype)
    if wanted.dtype.kind in ("int", "uint", "bool"):
        _refuse_outside(wanted.dtype, low, high)
    return wanted.make("torch.randint", read_sizes("randint", (size,)))


def _refuse_outside(dtype: DType, low: int, high: int) -> None:
    lowest, largest = 0, 1
    if dtype.kind != "bool":
        limits = integer_limits(dtype)
        lowest, largest = limits.min, limits.max
    for what, value in (("from", low), ("to - 1", high - 1)):
        if not lowest <= value <= largest:
            raise RuntimeError(f"{what} is out of bounds for {_NAMES_OF_BOUNDS[dtype.name]}")


# How torch's message spells these dtypes.
_NAMES_OF_BOUNDS = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short",
    "int32": "int", "int64": "long", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long",
}  # fmt: skip
