"""The largest and smallest elements along a dimension, and where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pytest_sm120.stand_ins.torch_stand_in import arithmetic
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.pointwise import BINARY, apply_rule
from pytest_sm120.stand_ins.torch_stand_in.reductions import (
    EXTREMES,
    Reduction,
    lines_of,
    reduce,
    reduced_dimensions,
    reduced_shape,
    refuse_empty_lines,
)
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.tensors.dtypes import DTYPES


class Extremes(NamedTuple):
    """What ``max``, ``min``, ``sort`` and ``topk`` along a dimension return."""

    values: Any
    indices: Any


def _extreme(name: str) -> Callable[..., Any]:
    elementwise = next(rule for rule in BINARY if rule.name == f"{name}imum")

    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return apply_rule(elementwise, (input, dim if other is None else other))
        if dim is None:
            return _over_everything(name, input)
        axis = wrap_dimension(dim, input.ndim)
        refuse_empty_lines(f"{name}()", input, [axis], unnamed=False)
        if input.dtype.kind == "complex":
            refuse_dtype(f"{name}_along", input.dtype)
        # A tensor without dimensions is copied, whatever its dtype.
        rule = Reduction(f"{name}_along" if input.ndim else "", EXTREMES[name], "keep")
        return Extremes(
            reduce(rule, input, axis, keepdim, None),
            position_of_extreme(name, input, axis, keepdim),
        )

    extreme.__name__ = extreme.__qualname__ = name
    return extreme


def _over_everything(name: str, input: Tensor) -> Computed:
    if input.numel() == 0:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    return reduce(Reduction(name, EXTREMES[name], "keep"), input, None, False, None)


def position_of_extreme(name: str, input: Tensor, dim: Any, keepdim: bool) -> Computed:
    """Return the index of the first largest or smallest element of each line."""

    def position(line: Sequence[Any]) -> int:
        wanted = EXTREMES[name](line)
        return next(at for at, value in enumerate(line) if value == wanted or wanted != wanted)

    dimensions = reduced_dimensions(dim, input.ndim)
    shape = reduced_shape(input.shape, dimensions, keepdim)
    lines = lines_of(input, dimensions, input.dtype)
    followed = lines is not None and not any(map(_has_nan, lines))
    known = [position(line) for line in lines or ()] if followed else None
    return Computed(input, shape, DTYPES["int64"], known, differentiable=False)


def _has_nan(line: Sequence[Any]) -> bool:
    return any(map(arithmetic.isnan, line))


def _argument(name: str) -> Callable[..., Computed]:
    def argument(input: Tensor, dim: Any = None, keepdim: bool = False) -> Computed:
        if input.dtype.kind in ("bool", "complex"):
            refuse_dtype(f"arg{name}", input.dtype)
        if dim is None and input.numel() == 0:
            raise IndexError(
                f"arg{name}(): Expected reduction dim to be specified for input.numel() == 0."
            )
        axis = None if dim is None else wrap_dimension(dim, input.ndim)
        if axis is not None:
            refuse_empty_lines(f"arg{name}()", input, [axis], unnamed=False)
        single = axis is not None and input.shape[axis : axis + 1] == (1,)
        # Where there is one element to choose from, torch runs no kernel.
        if input.numel() and not single:
            refuse_dtype(f"arg{name}", input.dtype)
        return position_of_extreme(name, input, axis, keepdim)

    argument.__name__ = argument.__qualname__ = f"arg{name}"
    return argument


#: The rows of every operation in this module.
CHOOSING = (
    computing("max", _extreme("max")),
    computing("min", _extreme("min")),
    computing("argmax", _argument("max")),
    computing("argmin", _argument("min")),
)
