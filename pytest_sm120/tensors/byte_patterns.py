"""Numbers as bytes: what a view as another dtype shows."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import cache

from pytest_sm120.tensors.dtypes import DTYPES, DType

# As in storages.py, which reads this module.
Number = bool | int | float | complex

_PARTS = {4: DTYPES["float16"], 8: DTYPES["float32"], 16: DTYPES["float64"]}

# The letters of the module struct; little-endian, as every card and host of ours is.
_CODES = {
    "bool": "?", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
    "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip

# Bits of the mantissa and bias of the exponent; same sources as the table of limits.
_EIGHT_BITS = {
    "float8_e4m3fn": (3, 7), "float8_e5m2": (2, 15),
    "float8_e4m3fnuz": (3, 8), "float8_e5m2fnuz": (2, 16),
}  # fmt: skip


def pack(values: Sequence[Number], dtype: DType) -> bytes | None:
    """Return the bytes of elements, or None where the bytes are not known.

    They are not known for NaN, which has many patterns, and for formats of four bits.
    """
    try:
        return b"".join(_pack_one(value, dtype) for value in values)
    except (ArithmeticError, KeyError, ValueError, struct.error):
        return None


def unpack(data: bytes, dtype: DType) -> list[Number] | None:
    """Return the elements that the bytes hold as this dtype, or None where that is not followed."""
    size = dtype.itemsize
    try:
        return [_unpack_one(data[at : at + size], dtype) for at in range(0, len(data), size)]
    except KeyError:
        return None


def _pack_one(value: Number, dtype: DType) -> bytes:
    if value != value:
        raise ValueError("NaN has many patterns")
    if dtype.kind == "complex":
        part, number = _PARTS[dtype.itemsize], complex(value)
        return _pack_one(number.real, part) + _pack_one(number.imag, part)
    if dtype.name == "bfloat16":
        return struct.pack("<f", value)[2:]
    if dtype.name in _CODES:
        return struct.pack(f"<{_CODES[dtype.name]}", value)
    return bytes([_codes_of(dtype.name)[_with_sign(value)]])


def _unpack_one(data: bytes, dtype: DType) -> Number:
    if dtype.kind == "complex":
        part, half = _PARTS[dtype.itemsize], len(data) // 2
        real, imag = (_unpack_one(piece, part) for piece in (data[:half], data[half:]))
        return complex(real, imag)
    if dtype.name == "bfloat16":
        return float(struct.unpack("<f", b"\0\0" + data)[0])
    if dtype.name in _CODES:
        number: Number = struct.unpack(f"<{_CODES[dtype.name]}", data)[0]
        return number
    return _numbers_of(dtype.name)[data[0]]


def _with_sign(value: Number) -> tuple[float, float]:
    number = float(value.real)
    return number, math.copysign(1.0, number)


@cache
def _codes_of(name: str) -> dict[tuple[float, float], int]:
    numbers = enumerate(_numbers_of(name))
    return {_with_sign(number): code for code, number in numbers if number == number}


@cache
def _numbers_of(name: str) -> list[float]:
    """Return the number that each of the 256 patterns of an 8-bit format means."""
    if name == "float8_e8m0fnu":
        return [math.ldexp(1.0, code - 127) for code in range(255)] + [math.nan]
    mantissa_bits, bias = _EIGHT_BITS[name]
    return [_decode(name, code, mantissa_bits, bias) for code in range(256)]


def _decode(name: str, code: int, mantissa_bits: int, bias: int) -> float:
    steps = 2**mantissa_bits
    exponent, mantissa = (code & 0x7F) // steps, code & (steps - 1)
    if _is_special(name, code):
        return math.inf * (-1 if code & 0x80 else 1) if _is_infinity(name, mantissa) else math.nan
    normal = exponent > 0
    value = math.ldexp(mantissa / steps + normal, max(exponent, 1) - bias)
    return -value if code & 0x80 else value


def _is_special(name: str, code: int) -> bool:
    if name.endswith("fnuz"):
        return code == 0x80
    return (code & 0x7F) == 0x7F if name == "float8_e4m3fn" else (code & 0x7C) == 0x7C


def _is_infinity(name: str, mantissa: int) -> bool:
    return name == "float8_e5m2" and mantissa == 0


def repeated_pattern(value: Number, old: DType, new: DType) -> list[Number] | None:
    """Return the elements that repeat when memory full of one number is seen as another dtype."""
    data = pack([value], old)
    if data is None:
        return None
    return unpack(data * max(1, new.itemsize // old.itemsize), new)
