"""Operations that combine the elements along dimensions: sums, extremes, truths, running sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from pytest_sm120.stand_ins.torch_stand_in import arithmetic
from pytest_sm120.stand_ins.torch_stand_in.memory import Known, convert_known, known_values
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.pointwise import BINARY, apply_rule
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension, wrap_dimensions
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.layouts import contiguous_strides, element_offsets
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Uniform


class Extremes(NamedTuple):
    """What ``max``, ``min``, ``sort`` and ``topk`` along a dimension return."""

    values: Any
    indices: Any


@dataclass(frozen=True, eq=False)
class Reduction:
    """One operation that leaves one element of each line along the reduced dimensions."""

    name: str
    #: Combines the elements of one line; None where values are not followed.
    combine: Callable[[Sequence[Any]], Any] | None
    #: ``"sum"``: integers and bool become int64; ``"mean"``: floating point only; ``"bool"``;
    #: ``"keep"``.
    kind: str


def _reduced_shape(shape: Sequence[int], dimensions: Sequence[int], keepdim: bool) -> list[int]:
    if keepdim:
        return [1 if at in dimensions else size for at, size in enumerate(shape)]
    return [size for at, size in enumerate(shape) if at not in dimensions]


def lines_of(input: Tensor, dimensions: Sequence[int], dtype: DType) -> list[Sequence[Any]] | None:
    """Return the known elements of each line along the dimensions, in the result's order."""
    known: Known = known_values(input)
    if known is None or input.numel() > LARGEST_FOLLOWED:
        return None
    values = convert_known(known, dtype)
    if values is None:
        return None
    listed = [values.value] * input.numel() if isinstance(values, Uniform) else values
    steps = contiguous_strides(input.shape)
    rest = [at for at in range(input.ndim) if at not in dimensions]
    starts = _offsets(input, rest, steps)
    inside = _offsets(input, dimensions, steps)
    return [[listed[start + step] for step in inside] for start in starts]


def _offsets(input: Tensor, dimensions: Sequence[int], steps: Sequence[int]) -> list[int]:
    sizes = tuple(input.shape[at] for at in dimensions)
    return element_offsets(sizes, tuple(steps[at] for at in dimensions), 0)


def _combine_lines(
    rule: Reduction, input: Tensor, dimensions: Sequence[int], compute: DType, dtype: DType
) -> Known:
    lines = None if rule.combine is None else lines_of(input, dimensions, compute)
    if lines is None or rule.combine is None:
        return None
    try:
        return convert_known([rule.combine(line) for line in lines], dtype)
    except (ArithmeticError, ValueError):
        return None


def reduction_dtypes(rule: Reduction, input: Tensor, dtype: DType | None) -> tuple[DType, DType]:
    """Return in which dtype the elements are combined, and the result's dtype."""
    own = input.dtype
    if rule.kind == "bool":
        return own, DTYPES["uint8" if own.name == "uint8" else "bool"]
    if rule.kind == "mean":
        wanted = dtype or own
        if wanted.kind not in ("float", "complex"):
            which = "Input" if dtype is None else "Optional"
            raise RuntimeError(
                f"mean(): could not infer output dtype. {which} dtype must be either a floating "
                f"point or complex dtype. Got: {scalar_type_name(wanted)}"
            )
        return wanted, wanted
    if rule.kind == "sum" and dtype is None and own.kind in ("bool", "int", "uint"):
        return DTYPES["int64"], DTYPES["int64"]
    return dtype or own, dtype or own


def reduced_dimensions(dim: Any, rank: int) -> tuple[int, ...]:
    """Return the dimensions to reduce; a tensor without dimensions has none, whatever is named."""
    dimensions = wrap_dimensions(dim, rank)
    return dimensions if rank else ()


def reduce(
    rule: Reduction, input: Tensor, dim: Any, keepdim: bool, dtype: DType | None
) -> Computed:
    """Return the result of a reduction over the dimensions; None means all of them."""
    compute, result = reduction_dtypes(rule, input, dtype)
    dimensions = reduced_dimensions(dim, input.ndim)
    if input.numel():
        refuse_dtype(rule.name, compute)
    shape = _reduced_shape(input.shape, dimensions, keepdim)
    known = _combine_lines(rule, input, dimensions, compute, result)
    return Computed(input, shape, result, known)


def _mean(line: Sequence[Any]) -> Any:
    return arithmetic.divide(sum(line), len(line))


SUM = Reduction("sum", sum, "sum")
MEAN = Reduction("mean", _mean, "mean")
PROD = Reduction("prod", prod, "sum")
ANY = Reduction("any", any, "bool")
ALL = Reduction("all", all, "bool")


def _largest(line: Sequence[Any]) -> Any:
    return next((value for value in line if arithmetic.isnan(value)), None) or max(line)


def _smallest(line: Sequence[Any]) -> Any:
    return next((value for value in line if arithmetic.isnan(value)), None) or min(line)


EXTREMES = {"max": _largest, "min": _smallest}


def sum_(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Computed:
    """Return the sums."""
    return reduce(SUM, input, dim, keepdim, dtype)


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Computed:
    """Return the means; RuntimeError for integers."""
    return reduce(MEAN, input, dim, keepdim, dtype)


def prod_(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Computed:
    """Return the products; over all elements or along one dimension."""
    axis = None if dim is None else wrap_dimension(dim, input.ndim)
    return reduce(PROD, input, axis, keepdim, dtype)


def any_(input: Tensor, dim: Any = None, keepdim: bool = False) -> Computed:
    """Return whether one element is not zero."""
    return reduce(ANY, input, dim, keepdim, None)


def all_(input: Tensor, dim: Any = None, keepdim: bool = False) -> Computed:
    """Return whether every element is not zero."""
    return reduce(ALL, input, dim, keepdim, None)


def _reduction_of_extreme(name: str) -> Callable[..., Computed]:
    def extreme(input: Tensor, dim: Any = (), keepdim: bool = False) -> Computed:
        # As torch does: each dimension's size before whether one is named twice.
        named = dim if isinstance(dim, (tuple, list)) else (dim,)
        dimensions = [wrap_dimension(each, input.ndim) for each in named]
        if input.numel() == 0:
            _refuse_empty_lines(f"{name}()", input, dimensions, dim == ())
        return reduce(Reduction(name, EXTREMES[name[1:]], "keep"), input, dim, keepdim, None)

    extreme.__name__ = extreme.__qualname__ = name
    return extreme


def _refuse_empty_lines(name: str, input: Tensor, dimensions: Sequence[int], unnamed: bool) -> None:
    if unnamed:
        raise RuntimeError(
            f"{name}: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for dimension in dimensions:
        if input.ndim and input.shape[dimension] == 0:
            raise IndexError(f"{name}: Expected reduction dim {dimension} to have non-zero size.")


def _extreme(name: str) -> Callable[..., Any]:
    elementwise = next(rule for rule in BINARY if rule.name == f"{name}imum")

    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return apply_rule(elementwise, (input, dim if other is None else other))
        if dim is None:
            return _over_everything(name, input)
        axis = wrap_dimension(dim, input.ndim)
        _refuse_empty_lines(f"{name}()", input, [axis], unnamed=False)
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
    shape = _reduced_shape(input.shape, dimensions, keepdim)
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
            _refuse_empty_lines(f"arg{name}()", input, [axis], unnamed=False)
        single = axis is not None and input.shape[axis : axis + 1] == (1,)
        # Where there is one element to choose from, torch runs no kernel.
        if input.numel() and not single:
            refuse_dtype(f"arg{name}", input.dtype)
        return position_of_extreme(name, input, axis, keepdim)

    argument.__name__ = argument.__qualname__ = f"arg{name}"
    return argument


def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Computed:
    """Return log(sum(exp(...)))."""
    default = input._execution.default_dtype
    dtype = default if input.dtype.kind in ("bool", "int", "uint") else input.dtype
    result = reduce(Reduction("logsumexp", _logsumexp, "keep"), input, dim, keepdim, dtype)
    refuse_dtype("logsumexp", dtype)
    return result


def _logsumexp(line: Sequence[Any]) -> Any:
    if any(isinstance(value, complex) for value in line):
        raise ArithmeticError("complex logarithms are not followed")
    largest = max(line, default=-math.inf)
    if math.isinf(largest):
        return largest
    return largest + math.log(sum(math.exp(value - largest) for value in line))


#: The rows of every operation in this module.
REDUCTIONS = (
    computing("sum", sum_),
    computing("mean", mean),
    computing("prod", prod_),
    computing("any", any_),
    computing("all", all_),
    computing("amax", _reduction_of_extreme("amax")),
    computing("amin", _reduction_of_extreme("amin")),
    computing("max", _extreme("max")),
    computing("min", _extreme("min")),
    computing("argmax", _argument("max")),
    computing("argmin", _argument("min")),
    computing("logsumexp", logsumexp),
)
