"""One element of each elementwise operation, on Python numbers, with torch's corner cases."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any


def _copy_nan(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let NaN and infinities through functions that only round."""

    def applied(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return value
        return float(function(value)) if isinstance(value, float) else function(value)

    return applied


floor = _copy_nan(math.floor)
ceil = _copy_nan(math.ceil)
trunc = _copy_nan(math.trunc)


def negative(value: Any) -> Any:
    """Return the negative."""
    return -value


def sign(value: Any) -> Any:
    """Return -1, 0 or 1; 0 for NaN."""
    return (value > 0) - (value < 0)


def relu(value: Any) -> Any:
    """Return the value, 0 for a negative one; NaN stays."""
    return 0 if value < 0 else value


def invert(value: Any) -> Any:
    """Return the value with all bits flipped; the opposite of a bool."""
    return not value if isinstance(value, bool) else ~value


def square(value: Any) -> Any:
    """Return the square."""
    return value * value


def _log(value: float) -> float:
    return -math.inf if value == 0 else math.log(value)


def _log1p(value: float) -> float:
    return -math.inf if value == -1 else math.log1p(value)


def _log2(value: float) -> float:
    return -math.inf if value == 0 else math.log2(value)


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def _silent(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Answer NaN where Python raises for a real number outside the function's domain."""

    def applied(value: Any) -> Any:
        if isinstance(value, complex):
            raise ArithmeticError("complex functions are not followed")
        try:
            return function(value)
        except OverflowError:
            raise
        except ValueError:
            return math.nan

    return applied


#: Functions whose result is a floating-point number also for integers.
FLOAT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _silent(function)
    for name, function in {
        "exp": math.exp,
        "exp2": lambda value: 2.0**value,
        "expm1": math.expm1,
        "log": _log,
        "log2": _log2,
        "log1p": _log1p,
        "sqrt": math.sqrt,
        "rsqrt": lambda value: divide(1.0, math.sqrt(value)),
        "reciprocal": lambda value: divide(1.0, value),
        "sigmoid": _sigmoid,
        "tanh": math.tanh,
        "sin": math.sin,
        "cos": math.cos,
        "erf": math.erf,
    }.items()
}


def isnan(value: Any) -> bool:
    """Return whether it is not a number."""
    return bool(value != value)


def isinf(value: Any) -> bool:
    """Return whether it is an infinity."""
    return not isnan(value) and isnan(value - value)


def isfinite(value: Any) -> bool:
    """Return whether it is neither an infinity nor not a number."""
    return not isnan(value - value)


def logical_not(value: Any) -> bool:
    """Return whether it is zero."""
    return not value


def maximum(first: Any, second: Any) -> Any:
    """Return the larger one, or NaN when one is."""
    return first if isnan(first) or first > second else second


def minimum(first: Any, second: Any) -> Any:
    """Return the smaller one, or NaN when one is."""
    return first if isnan(first) or first < second else second


def fmax(first: Any, second: Any) -> Any:
    """Return the larger one, the number when one is NaN."""
    return first if isnan(second) or first > second else second


def fmin(first: Any, second: Any) -> Any:
    """Return the smaller one, the number when one is NaN."""
    return first if isnan(second) or first < second else second


def divide(first: Any, second: Any) -> Any:
    """Return the quotient; by zero, an infinity or NaN."""
    if second:
        return first / second
    if isinstance(first, complex):
        raise ArithmeticError("complex numbers divided by zero are not followed")
    if first == 0 or isnan(first):
        return math.nan
    return math.copysign(math.inf, first) * math.copysign(1.0, second)


def floor_divide(first: Any, second: Any) -> Any:
    """Return the quotient rounded down; ArithmeticError by zero."""
    return first // second


def truncate_divide(first: Any, second: Any) -> Any:
    """Return the quotient rounded towards zero; ArithmeticError by zero."""
    quotient = abs(first) // abs(second)
    return quotient if (first < 0) == (second < 0) else -quotient


def remainder(first: Any, second: Any) -> Any:
    """Return the remainder with the divisor's sign; ArithmeticError by zero."""
    result = first % second
    return abs(result) if result == 0 else result


def fmod(first: Any, second: Any) -> Any:
    """Return the remainder with the dividend's sign."""
    if isinstance(first, float):
        return math.fmod(first, second)
    return abs(first) % abs(second) * (-1 if first < 0 else 1)


def power(first: Any, second: Any) -> Any:
    """Return the power; ArithmeticError where it is no real number or not followed."""
    if isinstance(first, int) and second < 0:
        raise ArithmeticError("negative integer powers are not followed")
    result = first**second
    if isinstance(result, complex):
        raise ArithmeticError("complex powers are not followed")
    return result


def atan2(first: float, second: float) -> float:
    """Return the angle of the point (second, first)."""
    return math.atan2(first, second)


def logaddexp(first: float, second: float) -> float:
    """Return log(exp(first) + exp(second))."""
    if isinstance(first, complex) or isinstance(second, complex):
        raise ArithmeticError("complex logarithms are not followed")
    larger: float
    smaller: float
    larger, smaller = maximum(first, second), minimum(first, second)
    if math.isinf(larger):
        return larger
    return larger + math.log1p(math.exp(smaller - larger))


def logical_and(first: Any, second: Any) -> bool:
    """Return whether neither is zero."""
    return bool(first) and bool(second)


def logical_or(first: Any, second: Any) -> bool:
    """Return whether one is not zero."""
    return bool(first) or bool(second)


def logical_xor(first: Any, second: Any) -> bool:
    """Return whether exactly one is not zero."""
    return bool(first) != bool(second)


#: The function for each elementwise operation that follows values.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **FLOAT_FUNCTIONS,
    "abs": abs,
    "neg": negative,
    "sign": sign,
    "floor": floor,
    "ceil": ceil,
    "trunc": trunc,
    "relu": relu,
    "bitwise_not": invert,
    "square": square,
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
    "logical_not": logical_not,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "remainder": remainder,
    "fmod": fmod,
    "floor_divide": floor_divide,
    "pow": power,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift,
    "bitwise_right_shift": operator.rshift,
    "maximum": maximum,
    "minimum": minimum,
    "fmax": fmax,
    "fmin": fmin,
    "logaddexp": logaddexp,
    "atan2": atan2,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "logical_and": logical_and,
    "logical_or": logical_or,
    "logical_xor": logical_xor,
}
