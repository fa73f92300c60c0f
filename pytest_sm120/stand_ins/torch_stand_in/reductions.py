"""Operations that combine the elements along dimensions: sums, extremes, truths, running sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in import arithmetic
from pytest_sm120.stand_ins.torch_stand_in.memory import Known, convert_known, known_values
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, computing
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype
from pytest_sm120.stand_ins.torch_stand_in.size import wrap_dimension, wrap_dimensions
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.layouts import contiguous_strides, element_offsets
from pytest_sm120.tensors.number_formats import FLOATS
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Uniform


@dataclass(frozen=True, eq=False)
class Reduction:
    """One operation that leaves one element of each line along the reduced dimensions."""

    name: str
    #: Combines the elements of one line; None where values are not followed.
    combine: Callable[[Sequence[Any]], Any] | None
    #: ``"sum"``: integers and bool become int64; ``"mean"``: floating point only; ``"bool"``;
    #: ``"keep"``.
    kind: str


def reduced_shape(shape: Sequence[int], dimensions: Sequence[int], keepdim: bool) -> list[int]:
    """Return the shape without the reduced dimensions, or with them of size 1."""
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
    if input.numel() and not (rule.name == "sum" and _takes_several_steps(input, dimensions)):
        refuse_dtype(rule.name, compute)
    shape = reduced_shape(input.shape, dimensions, keepdim)
    known = _combine_lines(rule, input, dimensions, compute, result)
    return Computed(input, shape, result, known)


def _takes_several_steps(input: Tensor, dimensions: Sequence[int]) -> bool:
    """Return whether the dimensions do not lie in memory as one; torch adds these otherwise."""
    strides, sizes = input.stride(), input.shape
    kept = sorted((strides[at], sizes[at]) for at in dimensions if sizes[at] != 1)
    return any(step * size != after for (step, size), (after, _) in pairwise(kept))


def _mean(line: Sequence[Any]) -> Any:
    return arithmetic.divide(sum(line), len(line))


# The largest number of float32, in which torch multiplies the elements of a smaller format, too.
_LARGEST = FLOATS["float32"].max


def _product(line: Sequence[Any]) -> Any:
    whole = all(isinstance(value, int) for value in line)
    overflows = not whole and prod(abs(value) for value in line if value) > _LARGEST
    if overflows and (0 in line or any(isinstance(value, complex) for value in line)):
        raise ArithmeticError("what an overflow comes to depends on the order")
    return prod(line)


SUM = Reduction("sum", sum, "sum")
MEAN = Reduction("mean", _mean, "mean")
PROD = Reduction("prod", _product, "sum")
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
            refuse_empty_lines(f"{name}()", input, dimensions, dim == ())
        return reduce(Reduction(name, EXTREMES[name[1:]], "keep"), input, dim, keepdim, None)

    extreme.__name__ = extreme.__qualname__ = name
    return extreme


def refuse_empty_lines(name: str, input: Tensor, dimensions: Sequence[int], unnamed: bool) -> None:
    """Raise torch's error where there is no element to choose."""
    if unnamed:
        raise RuntimeError(
            f"{name}: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for dimension in dimensions:
        if input.ndim and input.shape[dimension] == 0:
            raise IndexError(f"{name}: Expected reduction dim {dimension} to have non-zero size.")


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
    computing("logsumexp", logsumexp),
)
