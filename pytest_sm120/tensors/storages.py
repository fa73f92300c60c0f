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
        if not zero_bits or "float8_e8m0fnu" in (dtype.name, self.dtype.name):
            return None
        return Uniform(_ZEROS[dtype.kind], dtype)


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
            return None if seen is None else [seen.value] * len(offsets)
        if contents is None or contents.dtype is not dtype:
            return None
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
        small = count_of_elements <= LARGEST_FOLLOWED
        if small and isinstance(contents, Uniform):
            values = self.read(list(range(count_of_elements)), dtype)
            return None if values is None else Elements(values, dtype)
        return None
