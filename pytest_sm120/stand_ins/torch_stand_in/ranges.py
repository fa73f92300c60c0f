"""torch.arange."""

from __future__ import annotations

from math import ceil
from typing import Any

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.creation import Options, read_number
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.tensors.dtypes import DTYPES, DType
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
