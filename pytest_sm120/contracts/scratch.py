"""The contract of one persistent scratch buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_sm120.contracts.consumers import check_consumer
from pytest_sm120.contracts.keys import describe, key_on, refuse_unknown_key, show_key
from pytest_sm120.errors import UsageError
from pytest_sm120.tensors.dtypes import find_dtype
from pytest_sm120.tensors.layouts import Shape
from pytest_sm120.tensors.storages import Number

Init = Literal["zeros", "empty"] | tuple[Literal["full"], Number]


@dataclass(frozen=True)
class Scratch:
    """What a grow-only buffer that outlives the call promises; ``sm120.check`` tests it.

    Raises UsageError when a field cannot be understood.
    """

    #: Where it is kept: a template such as ``"split:{device}"`` or ``"_cache['{device}']"``, or a
    #: function of the device's name that returns the key, e.g. ``lambda device: ("ws", device)``.
    key: str | Callable[[str], object]
    #: What every element holds before the first launch takes it: ``"zeros"``, ``"empty"`` (nobody
    #: reads what nobody wrote, so that setting it is waste) or ``("full", value)``.
    init: Init
    #: Its dtype, e.g. ``"uint8"``, ``"torch.uint8"`` or a dtype of numpy or torch.
    dtype: object
    #: Its shape, or a function from the size of a call to the shape; None is not judged.
    shape: Sequence[int] | Callable[[int], Sequence[int]] | None = None
    #: Whether ``shape`` is the least that a call needs: growth by a factor may take more.
    at_least: bool = False
    #: Who reads what nobody wrote, and up to which version, e.g. ``"flashinfer-python<=0.6.18"``.
    consumer: str | None = None
    #: Whether a hazard that the version in force does not have fails (``"fail"``) or warns.
    latent: Literal["fail", "warn"] = "fail"
    #: Whether each call sets it anew, before the first launch that takes it.
    cleared_each_call: bool = False
    #: Whether it may be born in inference mode: right when host code never writes it outside.
    allow_inference: bool = False
    #: Whether each stream has one of its own: right when two streams may use it at the same time.
    per_stream: bool = False
    #: A second dtype whose calls, ``drive(size, device, dtype=...)``, have one of their own.
    per_dtype: str | None = None
    #: Whether ``"cuda"`` and a device object find the same buffer as ``"cuda:0"``.
    any_spelling: bool = False
    #: Whether a captured graph may still point at memory that a growth replaces: it must then be
    #: kept alive, or the growth be refused.
    outlives_graphs: bool = False
    #: Whether a call under capture that needs a larger one must not allocate it there: it may be
    #: refused, or work in memory that is not kept.
    grows_outside_capture: bool = False
    #: Whether no call returns a view of it, which the next call would overwrite.
    private: bool = False

    def __post_init__(self) -> None:
        refuse_unknown_key(self.key, "Scratch(key=)")
        _refuse_unknown_init(self.init)
        find_dtype(self.dtype)
        _refuse_unknown_shape(self.shape)
        _refuse_unknown_latent(self.latent)
        if self.per_dtype is not None:
            find_dtype(self.per_dtype)
        if self.consumer is not None:
            check_consumer(self.consumer)

    @property
    def dtype_name(self) -> str:
        """The dtype's plain name, e.g. ``"uint8"``."""
        return find_dtype(self.dtype).name

    @property
    def value(self) -> Number:
        """The value that ``init`` names; 0 for ``"zeros"`` and ``"empty"``."""
        return self.init[1] if isinstance(self.init, tuple) else 0

    @property
    def title(self) -> str:
        """How messages name the contract: by its key."""
        return show_key(self.key if isinstance(self.key, str) else self.key_on("cuda:0"))

    def key_on(self, device: str) -> object:
        """Return the key on this device, as plain data; UsageError when the function raises."""
        return key_on(self.key, device, "Scratch(key=)")

    def shape_at(self, size: int) -> Shape | None:
        """Return the shape for a call of this size, or None when the contract names no shape."""
        if not callable(self.shape):
            return None if self.shape is None else tuple(self.shape)
        try:
            shape = self.shape(size)
        except Exception as error:
            raise UsageError(
                f"Scratch(shape=) raised {describe(error)} for the size {size}.",
                limit="A shape function takes the size that drive is given.",
                remedy="Write it as in shape=lambda pages: (pages * 4, 37440).",
            ) from error
        _refuse_what_is_no_shape(shape, f"Scratch(shape=) returned {shape!r} for the size {size}.")
        return tuple(shape)


def _refuse_unknown_init(init: object) -> None:
    if init in ("zeros", "empty"):
        return
    if not (isinstance(init, tuple) and init[:1] == ("full",) and _is_number(init[1:])):
        raise UsageError(
            f"Scratch(init={init!r}) is not an initial value.",
            limit='Known are "zeros", "empty" and ("full", value) with a number.',
            remedy='For an index buffer whose neutral value is -1 write init=("full", -1).',
        )


def _is_number(values: tuple[object, ...]) -> bool:
    return len(values) == 1 and isinstance(values[0], Number)


def _refuse_unknown_shape(shape: object) -> None:
    if not (shape is None or callable(shape)):
        _refuse_what_is_no_shape(shape, f"Scratch(shape={shape!r}) is not a shape.")


def _refuse_what_is_no_shape(shape: object, cause: str) -> None:
    sizes = shape if isinstance(shape, (tuple, list)) else [None]
    if not all(isinstance(size, int) and type(size) is not bool and size >= 0 for size in sizes):
        raise UsageError(
            cause,
            limit="A shape is a tuple of whole numbers that are not negative.",
            remedy="Return a tuple, with a comma also when it has one dimension: (pages * 4,).",
        )


def _refuse_unknown_latent(latent: object) -> None:
    if latent not in ("fail", "warn"):
        raise UsageError(
            f"Scratch(latent={latent!r}) is not a way to treat a latent hazard.",
            limit='Known are "fail" and "warn".',
            remedy='Leave it out to fail, or write latent="warn".',
        )
