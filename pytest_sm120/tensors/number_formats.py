"""The range and precision of every number format, and rounding to it."""

from __future__ import annotations

import math
from typing import NamedTuple

from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.storages import Number


class FloatLimits(NamedTuple):
    """What ``torch.finfo`` answers for a floating-point format."""

    #: Plain name, e.g. ``"float8_e4m3fn"``.
    dtype: str
    bits: int
    max: float
    min: float
    #: Distance from 1 to the next larger number.
    eps: float
    #: Smallest positive normal number.
    tiny: float
    #: Decimal precision.
    resolution: float
    #: Whether a number beyond the largest becomes an infinity; a NaN otherwise.
    has_infinity: bool

    @property
    def smallest_normal(self) -> float:
        """The same as ``tiny``."""
        return self.tiny


class IntegerLimits(NamedTuple):
    """What ``torch.iinfo`` answers for an integer format."""

    #: Plain name, e.g. ``"int32"``.
    dtype: str
    bits: int
    min: int
    max: int


def _largest(mantissa_bits: int, exponent: int) -> float:
    return math.ldexp(2 - 2.0**-mantissa_bits, exponent)


# Sources: IEEE 754 for 16, 32 and 64 bits; "OCP 8-bit Floating Point Specification" for e4m3fn,
# e5m2 and e8m0; the same formats with one more exponent and no negative zero for the fnuz ones.
FLOATS = {
    limits.dtype: limits
    for limits in (
        FloatLimits("float16", 16, 65504.0, -65504.0, 2.0**-10, 2.0**-14, 1e-3, True),
        FloatLimits(
            "bfloat16", 16, _largest(7, 127), -_largest(7, 127), 2.0**-7, 2.0**-126, 1e-2, True
        ),
        FloatLimits(
            "float32", 32, _largest(23, 127), -_largest(23, 127), 2.0**-23, 2.0**-126, 1e-6, True
        ),
        FloatLimits(
            "float64",
            64,
            _largest(52, 1023),
            -_largest(52, 1023),
            2.0**-52,
            2.0**-1022,
            1e-15,
            True,
        ),
        FloatLimits("float8_e4m3fn", 8, 448.0, -448.0, 2.0**-3, 2.0**-6, 1.0, False),
        FloatLimits("float8_e5m2", 8, 57344.0, -57344.0, 2.0**-2, 2.0**-14, 1.0, True),
        FloatLimits("float8_e4m3fnuz", 8, 240.0, -240.0, 2.0**-3, 2.0**-7, 1.0, False),
        FloatLimits("float8_e5m2fnuz", 8, 57344.0, -57344.0, 2.0**-2, 2.0**-15, 1.0, False),
        FloatLimits("float8_e8m0fnu", 8, 2.0**127, 2.0**-127, 1.0, 2.0**-127, 1.0, False),
    )
}


def integer_limits(dtype: DType) -> IntegerLimits:
    """Return the range of an integer dtype, bool not being one."""
    bits = dtype.itemsize * 8
    if dtype.kind == "uint":
        return IntegerLimits(dtype.name, bits, 0, 2**bits - 1)
    return IntegerLimits(dtype.name, bits, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


_COMPONENTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def component_of(dtype: DType) -> DType:
    """Return the dtype of a complex number's real part; any other dtype itself."""
    return DTYPES[_COMPONENTS.get(dtype.name, dtype.name)]


def convert_number(value: Number, dtype: DType) -> Number:
    """Return the number as an element of that dtype holds it: wrapped around or rounded.

    Raises ArithmeticError or ValueError where the result depends on the hardware (NaN as an
    integer) or where rounding to the format is not followed (e8m0, e2m1).
    """
    if dtype.kind == "bool":
        return value != 0
    if dtype.kind == "complex":
        part, number = component_of(dtype), complex(value)
        return complex(round_float(number.real, part), round_float(number.imag, part))
    real = value.real if isinstance(value, complex) else value
    return round_float(float(real), dtype) if dtype.kind == "float" else _wrap(int(real), dtype)


def _wrap(value: int, dtype: DType) -> int:
    limits = integer_limits(dtype)
    return (value - limits.min) % (limits.max - limits.min + 1) + limits.min


def round_float(value: float, dtype: DType) -> float:
    """Return the nearest number of a floating-point format, ties to even.

    Raises ArithmeticError for a format whose rounding is not followed (e8m0, e2m1).
    """
    if dtype.name == "float64" or math.isnan(value):
        return value
    limits = FLOATS.get(dtype.name)
    if limits is None or limits.dtype == "float8_e8m0fnu":
        raise ArithmeticError(f"rounding to {dtype.name} is not followed")
    if math.isinf(value):
        return math.copysign(_beyond(limits), value)
    exponent = max(math.frexp(value)[1] - 1, math.frexp(limits.tiny)[1] - 1)
    step = math.ldexp(limits.eps, exponent)
    rounded = round(value / step) * step
    if abs(rounded) > limits.max:
        return math.copysign(_beyond(limits), value)
    return math.copysign(rounded, value)


def _beyond(limits: FloatLimits) -> float:
    """Return what torch 2.13 makes of a number that is too large for the format."""
    if limits.has_infinity:
        return math.inf
    # It saturates e4m3fn, and no other format without infinities.
    return limits.max if limits.dtype == "float8_e4m3fn" else math.nan
