"""A bench and a target that write into a recording directly, with defects that can be switched on.

Defects are fields of SplitScratch, so that a twin differs from the good target in one field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import Any

from pytest_sm120.contracts import Scratch
from pytest_sm120.recorder.holders import Registry
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.records import Allocation, Call, Fill, Launch, TensorView
from pytest_sm120.recorder.saved_state import save_state
from pytest_sm120.recorder.states import State
from pytest_sm120.tensors.dtypes import find_dtype
from pytest_sm120.tensors.layouts import contiguous_strides

__sm120_target__ = True

_storages = count(1)

# What a twin, a contract or a call of check() is given by name.
Options = dict[str, Any]
Fillable = bool | int | float | complex


@dataclass(eq=False)
class FakeTensor:
    """A tensor that is nothing but its view."""

    view: TensorView

    def __sm120_view__(self) -> TensorView:
        return self.view

    def rows(self, stop: int, start: int = 0) -> FakeTensor:
        """Return the rows from start to stop."""
        shape = (stop - start, *self.view.shape[1:])
        row_bytes = prod(self.view.shape[1:]) * find_dtype(self.view.dtype).itemsize
        low = self.view.byte_range[0] + start * row_bytes
        high = low + (stop - start) * row_bytes
        return FakeTensor(
            TensorView(
                shape,
                self.view.strides,
                self.view.dtype,
                self.view.device,
                self.view.storage,
                (low, high),
                self.view.storage_bytes,
            )
        )


@dataclass
class FakeBench:
    """What the record tier will be: a recording, two modes and the state of the holders."""

    recording: Recording = field(default_factory=Recording)
    inference: bool = False
    capturing: bool = False
    stream: int = 0
    streams: int = 0
    arrangement: str = ""

    def __post_init__(self) -> None:
        self.recording.state_now = lambda: State(
            graph=1 if self.capturing else None, inference=self.inference
        )

    @contextmanager
    def inference_mode(self, on: bool = True) -> Iterator[None]:
        before, self.inference = self.inference, on
        yield
        self.inference = before

    @contextmanager
    def capture(self) -> Iterator[None]:
        self.capturing = True
        yield
        self.capturing = False

    @contextmanager
    def other_stream(self) -> Iterator[None]:
        self.streams += 1
        before, self.stream = self.stream, self.streams
        yield
        self.stream = before

    @contextmanager
    def arranged(self, arrangement: str) -> Iterator[None]:
        before, self.arrangement = self.arrangement, arrangement
        yield
        self.arrangement = before

    def save_state(self) -> Callable[[], None]:
        return save_state(self.recording.holders)

    def registry(self) -> Registry:
        registry = Registry(self.recording.add_store)
        self.recording.follow(registry)
        return registry

    def allocate(
        self,
        call: str,
        shape: tuple[int, ...],
        dtype: str = "uint8",
        device: str = "cuda:0",
        fill: Fillable | None = None,
    ) -> FakeTensor:
        nbytes = prod(shape) * find_dtype(dtype).itemsize
        strides = contiguous_strides(shape)
        view = TensorView(shape, strides, dtype, device, next(_storages), (0, nbytes), nbytes)
        uninitialized = "empty" in call
        self.recording.add(
            lambda place, order: Allocation(place, order, call, view, fill, uninitialized)
        )
        return FakeTensor(view)

    def fill(self, tensor, value=0):
        op = "zero_" if value == 0 else "fill_"
        self.recording.add(lambda place, order: Fill(place, order, op, tensor.view, value))

    def launch(self, kernel, *, reads=(), accumulates=(), grid=(1,), **args):
        plain = {name: getattr(value, "view", value) for name, value in args.items()}
        effects = {
            "written": tuple(name for name in args if name not in reads),
            "accumulated": accumulates,
        }
        self.recording.add(
            lambda place, order: Launch(place, order, kernel, grid, plain, {}, **effects)
        )

    def call(self, name, *args, **kwargs):
        self.recording.add(lambda place, order: Call(place, order, name, args, kwargs))


@dataclass
class SplitScratch:
    """A grow-only scratch, four rows of 16 bytes for each page; without defects by default."""

    bench: FakeBench = field(default_factory=FakeBench)
    call: str = "torch.zeros"
    fill: Fillable | None = 0
    growth: tuple[str, Fillable | None] | None = None
    filled_rows: Callable[[int], tuple[int, int]] | None = None
    guard: Callable[[int, int], bool] = int.__lt__
    key: Callable[[str], object] = "split:{}".format
    replaced_when_device_differs: bool = False
    device: str = ""
    stored: bool = True
    dtype: str = "uint8"
    row: Callable[[int], int] = lambda size: 16
    leaves_inference: bool = True
    cleared: Callable[[int], int] | None = None
    more_keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.buffers = self.bench.registry()

    def scratch(self, rows: int, device: str) -> FakeTensor:
        kept = self.buffers.get(self.key(device))
        if kept is None or self.must_replace(kept.view, rows, device):
            kept = self.allocate(rows, device, grows=kept is not None)
        return kept

    def must_replace(self, kept: TensorView, rows: int, device: str) -> bool:
        elsewhere = self.replaced_when_device_differs and kept.device != device
        return elsewhere or self.guard(kept.shape[0], rows)

    def allocate(self, rows: int, device: str, grows: bool) -> FakeTensor:
        call, fill = self.growth if grows and self.growth else (self.call, self.fill)
        with self.bench.inference_mode(self.bench.inference and not self.leaves_inference):
            made = self.bench.allocate(
                call, (rows, self.row(rows)), self.dtype, self.device or device, fill
            )
        if self.filled_rows:
            start, stop = self.filled_rows(rows)
            self.bench.fill(made.rows(stop, start))
        if self.stored:
            self.buffers[self.key(device)] = made
        for key in self.more_keys:
            self.buffers[key] = self.bench.allocate("torch.zeros", (rows, 16), fill=0)
        return made

    def __call__(self, size: int, device: str) -> FakeTensor:
        rows = size * 4
        part = self.scratch(rows, device).rows(rows)
        if self.cleared:
            self.bench.fill(part.rows(self.cleared(rows)))
        self.bench.launch("_split_kernel", dst=part, n=rows)
        self.bench.call("flashinfer.mla.sparse", 1, {"out": [part.view]}, kv=part.view)
        return part


@dataclass
class Driven:
    """A target that is a function, with the bench that it works on."""

    bench: FakeBench
    drive: Callable[[int, str], None]

    def __call__(self, size: int, device: str) -> None:
        self.drive(size, device)


CONTRACT = Scratch(
    key="split:{device}", init="zeros", dtype="uint8", shape=lambda size: (size * 4, 16)
)
