"""Tensors and records as tests of the recorder need them: plain data, no stand-in for torch."""

from __future__ import annotations

from itertools import count

from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.records import Allocation, Call, Fill, Launch, TensorView

_serials = count(10_000)


class FakeTensor:
    """An object that names a piece of memory."""

    def __init__(self, view: TensorView) -> None:
        self._view = view

    def __sm120_view__(self) -> TensorView:
        return self._view


def view(
    storage: int | None = None,
    byte_range: tuple[int, int] = (0, 16),
    *,
    shape: tuple[int, ...] = (4,),
    dtype: str = "float32",
    device: str = "cuda:0",
) -> TensorView:
    """A view; of a storage of its own unless one is given."""
    return TensorView(
        shape=shape,
        strides=(1,) * len(shape),
        dtype=dtype,
        device=device,
        storage=next(_serials) if storage is None else storage,
        byte_range=byte_range,
        storage_bytes=64,
    )


def tensor(**options: object) -> FakeTensor:
    """A tensor that was not recorded."""
    return FakeTensor(view(**options))  # type: ignore[arg-type]  # passed on as they are


def allocate(
    recording: Recording, call: str = "torch.zeros", dtype: str = "float32", device: str = "cuda:0"
) -> FakeTensor:
    """A tensor whose allocation is recorded."""
    made = view(dtype=dtype, device=device)
    recording.add(lambda place, order: Allocation(place, order, call, made, 0, False))
    return FakeTensor(made)


def launch(recording: Recording, kernel: str = "kernel", /, **args: object) -> Launch:
    """A recorded launch with one warp."""
    return recording.add(
        lambda place, order: Launch(
            place, order, kernel, (1, 2), args, {"num_warps": 1}, written=tuple(args)
        )
    )


def fill(
    recording: Recording, filled: FakeTensor, op: str = "zero_", value: int | None = 0
) -> Fill:
    """A recorded fill."""
    seen = filled.__sm120_view__()
    return recording.add(lambda place, order: Fill(place, order, op, seen, value))


def call(recording: Recording, name: str, /, *args: object, **kwargs: object) -> Call:
    """A recorded call."""
    return recording.add(lambda place, order: Call(place, order, name, args, kwargs))
