"""Compares all that a test's target did with what the test says it should have done.

A test names its inputs, and the allocations it expects; every tensor is then told as a piece of one
of these memories. Nothing that was recorded may be left out, whichever kind it is of.
"""

from __future__ import annotations

from difflib import ndiff
from typing import NamedTuple

from pytest_sm120.recorder.graphs import GraphRecord, StreamRecord
from pytest_sm120.recorder.records import Allocation, Call, Fill, Launch, Store, TensorView
from pytest_sm120.tensors.dtypes import find_dtype
from pytest_sm120.tensors.layouts import contiguous_strides

FILLS = {"zeros": 0, "ones": 1}


class Piece(NamedTuple):
    """A tensor argument, result or store: which memory, and how it is seen."""

    memory: str
    dtype: str
    shape: tuple[int, ...]
    #: In elements; None stands for contiguous ones.
    strides: tuple[int, ...] | None
    #: First byte in the memory.
    first_byte: int

    def __repr__(self) -> str:
        told = f"{self.memory}: {self.dtype}{list(self.shape)}"
        told += "" if self.strides is None else f" strides {list(self.strides)}"
        return told + (f" from byte {self.first_byte}" if self.first_byte else "")


def piece(memory, dtype, shape, strides=None, first_byte=0):
    """Say which piece of a named input or allocation a tensor is."""
    shown = None if strides == contiguous_strides(shape) else strides
    return Piece(memory, find_dtype(dtype).name, tuple(shape), shown, first_byte)


class Expected(NamedTuple):
    """One record in the words of the test."""

    lines: tuple[str, ...]
    #: The name that this line gives to the memory it allocates.
    names: str | None = None

    def under(self, state):
        """Say in which state it was done, in the words of ``state_of``."""
        first = f"{self.lines[0]} ({state})" if state else self.lines[0]
        return self._replace(lines=(first, *self.lines[1:]))


def made(memory, call, dtype, shape, *, strides=None, device="cuda:0", fill=None, kept=None):
    """Say what was allocated, and name it for the lines that follow.

    ``fill`` need not be said of ``zeros`` and ``ones``. ``kept`` is the key it is registered as.
    """
    words = call.rpartition(".")[2].replace("new_", "").partition("_")[0]
    value = FILLS.get(words, fill)
    shown = piece(memory, dtype, shape, strides)
    return Expected((f"{shown!r} = {call} on {device}, fill {value!r}, kept as {kept!r}",), memory)


def launched(kernel, grid, /, **bound):
    """Say what was launched, with every parameter and every launch option by name."""
    told = [f"    {name} = {value!r}" for name, value in sorted(bound.items())]
    return Expected((f"launch {kernel}{list(grid)}", *told))


def called(name, /, *args, **kwargs):
    """Say what was called that is not there, with every argument."""
    told = [f"    {place} = {value!r}" for place, value in enumerate(args)]
    told += [f"    {key} = {value!r}" for key, value in sorted(kwargs.items())]
    return Expected((f"call {name}", *told))


def built(generator, *args):
    """Return the name of a module that is generated, built and loaded, and the calls for that."""
    loading = f"{generator}().build_and_load"
    return f"{loading}()", (called(generator, *args), called(loading))


def filled(op, view, value=None):
    """Say what the host code wrote where; ``value`` is None where it is not one known number."""
    return Expected((f"{op} {view!r}, value {value!r}",))


def stored(key, view):
    """Say what was kept under which key, where that is not one whole new allocation.

    It has no state: what was found by looking has that of the moment when it was looked for.
    """
    return Expected((f"store {key!r}: {view!r}",))


def ordered(op):
    """Say what was done with a stream, an event or a graph."""
    return Expected((f"do {op}",))


def state_of(record):
    """Return what was set when a record was made: of inference, capturing and other stream."""
    answers = {
        "inference": record.inference,
        "capturing": record.capturing,
        "other stream": bool(record.stream),
    }
    return " ".join(name for name, answer in answers.items() if answer)


class Witness:
    """Tells what a recording holds, in the words of ``made``, ``launched`` and the others."""

    def __init__(self, sm120):
        self.sm120 = sm120
        self._names = {}
        self._allocated = {}
        self._told = 0

    def tensor(self, name, dtype, shape, strides=None, device="cuda:0"):
        """Make an input that is told by this name."""
        return self.knows(name, self.sm120.tensor(shape, dtype, device, strides))

    def values(self, name, dtype, values, device="cuda:0"):
        """Make an input with these contents that is told by this name."""
        return self.knows(name, self.sm120.values(values, dtype, device))

    def knows(self, name, tensor):
        """Name a tensor that the test has, and return it."""
        self._names[tensor.__sm120_view__().storage] = name
        return tensor

    def saw(self, *expected):
        """Assert that exactly this was recorded since the last time, in this order."""
        __tracebackhide__ = True
        records = self.sm120.recording.records()[self._told :]
        self._told += len(records)
        self._name_allocations(records, [line.names for line in expected if line.names])
        actual = [line for record in records for line in self._tell(record)]
        wanted = [line for record in expected for line in record.lines]
        if actual != wanted:
            told = "\n".join(ndiff(wanted, actual))
            raise AssertionError(f"Expected (-) is not what was recorded (+).\n{told}")

    def of(self, value):
        """Return a result with every tensor in it as a Piece."""
        if hasattr(type(value), "__sm120_view__"):
            return self._piece(value.__sm120_view__())
        if type(value) in (list, tuple):
            return type(value)(self.of(part) for part in value)
        if type(value) is dict:
            return {key: self.of(part) for key, part in value.items()}
        return value

    def _name_allocations(self, records, names):
        names = iter(names)
        for record in records:
            if isinstance(record, Allocation):
                storage = record.view.storage
                self._names[storage] = next(names, f"unnamed {record.order}")
                self._allocated[storage] = record

    def _piece(self, view: TensorView):
        memory = self._names.get(view.storage, "unknown")
        return piece(memory, view.dtype, view.shape, view.strides, view.byte_range[0])

    def _tell(self, record):
        if isinstance(record, Store):
            return () if self._is_whole(record) else stored(record.key, self.of(record)).lines
        return TELL[type(record)](self, record).under(state_of(record)).lines

    def _is_whole(self, record):
        made_here = self._allocated.get(record.view.storage)
        return (
            made_here is not None
            and made_here.registered_as == record.key
            and made_here.view == record.view
        )

    def _tell_allocation(self, record):
        memory = self._names[record.view.storage]
        return made(
            memory,
            record.call,
            record.dtype,
            record.shape,
            strides=record.strides,
            device=record.device,
            fill=record.fill,
            kept=record.registered_as,
        )

    def _tell_launch(self, record):
        bound = {name: self.of(value) for name, value in record.args.items()}
        return launched(record.kernel, record.grid, **bound, **record.options)

    def _tell_call(self, record):
        return called(record.name, *self.of(record.args), **self.of(dict(record.kwargs)))

    def _tell_fill(self, record):
        return filled(record.op, self.of(record), record.value)


TELL = {
    Allocation: Witness._tell_allocation,
    Launch: Witness._tell_launch,
    Call: Witness._tell_call,
    Fill: Witness._tell_fill,
    GraphRecord: lambda witness, record: ordered(record.op),
    StreamRecord: lambda witness, record: ordered(record.op),
}
