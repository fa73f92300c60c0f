"""Storages: identity, size, and what is known of their contents. No memory is held for contents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from math import copysign

from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DType

Number = bool | int | float | complex

# Above this many elements a partly written buffer is no longer followed value by value.
LARGEST_FOLLOWED = 65536


@dataclass(frozen=True)
class Uniform:
    """Every element has the same value."""

    value: Number
    dtype: DType

    def as_dtype(self, dtype: DType) -> Uniform | None:
        """Return the same bytes seen as another dtype, or None when that is not known."""
        if self.dtype is dtype:
            return self
        # All bits zero is zero in every format but e8m0, where it is 2**-127.
        zero_bits = self.value == 0 and not _is_minus_zero(self.value)
        if zero_bits and "float8_e8m0fnu" not in (dtype.name, self.dtype.name):
            return Uniform(_ZEROS[dtype.kind], dtype)
        pattern = self.pattern_as(dtype)
        same = pattern is not None and pattern == pattern[:1] * len(pattern)
        return Uniform(pattern[0], dtype) if pattern and same else None

    def pattern_as(self, dtype: DType) -> list[Number] | None:
        """Return the numbers that repeat when the memory is seen as another dtype."""
        # Read when somebody looks at bytes that are not zero; most tests do not.
        from pytest_sm120.tensors.byte_patterns import repeated_pattern

        return repeated_pattern(self.value, self.dtype, dtype)


_ZEROS: dict[str, Number] = {"bool": False, "uint": 0, "int": 0, "float": 0.0, "complex": 0j}


def _is_minus_zero(value: Number) -> bool:
    number = complex(value)
    return copysign(1.0, number.real) < 0 or copysign(1.0, number.imag) < 0


@dataclass
class Elements:
    """Each element's value, by its index in the storage."""

    values: list[Number]
    dtype: DType


_serials = count(1)

# Addresses of storages are this far apart, more than any card's memory.
_ADDRESS_STEP_BYTES = 2**38
# So that no round number, such as 2**40, is an address; a multiple of all alignments there are.
_FIRST_ADDRESS = 2**37 + 2**33


def address_of(serial: int) -> int:
    """Return the address of a storage's first byte, which no other storage has."""
    return serial * _ADDRESS_STEP_BYTES + _FIRST_ADDRESS


def offset_of_address(address: int, serial: int) -> int:
    """Return how far behind a storage's first byte an address lies; negative before it."""
    return address - address_of(serial)


def _tell_nobody(serial: int) -> None:
    """Stand for nobody who wants to know when a storage is freed."""


@dataclass(eq=False)
class Storage:
    """One block of memory that tensors are views of."""

    #: Size of the block.
    nbytes: int
    device: Device
    #: What is known of the contents; None when nothing is.
    contents: Uniform | Elements | None = None
    #: Whether it was allocated in inference mode.
    inference: bool = False
    #: Unique in the process, so that a record can name a storage without keeping it alive.
    serial: int = field(default_factory=lambda: next(_serials))
    #: Called with the serial when nothing refers to these bytes any more.
    on_free: Callable[[int], None] = _tell_nobody

    def __del__(self) -> None:
        self.on_free(self.serial)

    def move(self, nbytes: int) -> None:
        """Give up the block for another one of this size, of unknown contents."""
        self.on_free(self.serial)
        self.serial, self.nbytes = next(_serials), nbytes
        self.forget()

    def read(self, offsets: list[int], dtype: DType) -> list[Number] | None:
        """Return the values at these element offsets, or None when one of them is not known."""
        contents = self.contents
        if isinstance(contents, Uniform):
            seen = contents.as_dtype(dtype)
            if seen is not None:
                return [seen.value] * len(offsets)
            pattern = contents.pattern_as(dtype)
            return pattern and [pattern[offset % len(pattern)] for offset in offsets]
        if contents is None:
            return None
        if contents.dtype is not dtype:
            return _read_as(contents, offsets, dtype)
        return [contents.values[offset] for offset in offsets]

    def write(self, offsets: list[int], values: list[Number], dtype: DType) -> None:
        """Set the elements at these offsets; what cannot be followed becomes unknown."""
        elements = self._as_elements(dtype)
        self.contents = elements
        if elements is not None:
            for offset, value in zip(offsets, values, strict=True):
                elements.values[offset] = value

    def forget(self) -> None:
        """Note that something this package does not follow has written here."""
        self.contents = None

    def _as_elements(self, dtype: DType) -> Elements | None:
        count_of_elements = self.nbytes // dtype.itemsize
        contents = self.contents
        if isinstance(contents, Elements) and contents.dtype is dtype:
            return contents
        whole = count_of_elements * dtype.itemsize == self.nbytes
        if whole and count_of_elements <= LARGEST_FOLLOWED:
            values = self.read(list(range(count_of_elements)), dtype)
            return None if values is None else Elements(values, dtype)
        return None


def _read_as(contents: Elements, offsets: list[int], dtype: DType) -> list[Number] | None:
    """Return what elements of one dtype show, at these offsets, when seen as another."""
    from pytest_sm120.tensors.byte_patterns import pack, unpack

    if not offsets:
        return []
    old, new = contents.dtype.itemsize, dtype.itemsize
    first = min(offsets) * new // old
    last = -(-(max(offsets) + 1) * new // old)
    data = pack(contents.values[first:last], contents.dtype)
    seen = None
    if data is not None:
        places = [offset * new - first * old for offset in offsets]
        seen = unpack(b"".join(data[place : place + new] for place in places), dtype)
    return seen
