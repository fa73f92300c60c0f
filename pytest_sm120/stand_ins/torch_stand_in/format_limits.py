"""torch.finfo and torch.iinfo."""

from __future__ import annotations

from typing import Any, cast

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import is_opaque, refuse_foreign
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.number_formats import (
    FLOATS,
    FloatLimits,
    IntegerLimits,
    component_of,
    integer_limits,
)


def finfo(execution: Execution, type: Any = None) -> FloatLimits:
    """Return the limits of a floating-point dtype; of the default dtype when none is named."""
    dtype: Any = execution.default_dtype if type is None else type
    if execution.importing and is_opaque(dtype):
        # A dtype of a module that is not there: neither are its limits.
        return cast(FloatLimits, dtype.finfo)
    _refuse_no_dtype("finfo", dtype)
    if dtype.kind not in ("float", "complex"):
        raise TypeError(
            "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
            "'torch.finfo'"
        )
    limits = FLOATS.get(component_of(dtype).name)
    if limits is None:
        raise NotImplementedError(f"\"max\" not implemented for '{scalar_type_name(dtype)}'")
    return limits


def iinfo(execution: Execution, type: Any) -> IntegerLimits:
    """Return the limits of an integer dtype."""
    if execution.importing and is_opaque(type):
        return cast(IntegerLimits, type.iinfo)
    _refuse_no_dtype("iinfo", type)
    if type.kind == "bool":
        raise TypeError("torch.bool is not supported by torch.iinfo")
    if type.kind not in ("int", "uint"):
        raise TypeError(
            "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
        )
    return integer_limits(type)


def _refuse_no_dtype(name: str, given: Any) -> None:
    if not isinstance(given, DType):
        refuse_foreign(given)
        raise TypeError(
            f"{name}(): argument 'type' (position 1) must be torch.dtype, not "
            f"{given.__class__.__name__}"
        )
