"""The frozen records of what code under test did.

They are plain data: dtypes and devices are strings, shapes are tuples, and a tensor is a TensorView
that names its storage by number, so that a record keeps nothing alive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple, Protocol, runtime_checkable

from pytest_sm120.recorder.states import AT_REST, State
from pytest_sm120.tensors.layouts import Shape
from pytest_sm120.tensors.storages import Number


@runtime_checkable
class HasView(Protocol):
    """Anything that stands for a piece of memory: a record, or a tensor of any tier."""

    def __sm120_view__(self) -> TensorView:
        """Return the piece of memory as a TensorView."""


class TensorView(NamedTuple):
    """A tensor as it was at one moment: which bytes of which storage, seen in which way."""

    shape: Shape
    #: In elements.
    strides: Shape
    #: Plain name, e.g. ``"uint8"``.
    dtype: str
    #: E.g. ``"cuda:0"``.
    device: str
    #: The storage's number, unique in the process.
    storage: int
    #: First byte and first byte after the view, counted from the start of the storage.
    byte_range: tuple[int, int]
    #: Bytes of the whole storage.
    storage_bytes: int

    def __sm120_view__(self) -> TensorView:
        return self

    def shares_storage_with(self, other: HasView) -> bool:
        """Return whether both are views of one storage, whatever parts of it they cover."""
        return self.storage == other.__sm120_view__().storage

    def overlaps(self, other: HasView) -> bool:
        """Return whether both lie in one storage and their byte ranges have a byte in common."""
        view = other.__sm120_view__()
        first, last = self.byte_range, view.byte_range
        return self.storage == view.storage and max(first[0], last[0]) < min(first[1], last[1])

    def covers(self, other: HasView) -> bool:
        """Return whether the other view's byte range lies inside this one's."""
        view = other.__sm120_view__()
        inside = (
            self.byte_range[0] <= view.byte_range[0] and view.byte_range[1] <= self.byte_range[1]
        )
        return self.storage == view.storage and inside

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)} on {self.device}"


class Opaque(NamedTuple):
    """An argument that came from something that is not there; only its name is known."""

    name: str


class Place(NamedTuple):
    """Where in the user's code something happened."""

    #: Full path of the file.
    path: str
    line: int
    #: Plain name of the function, ``"<module>"`` at module level.
    function: str

    @property
    def site(self) -> str:
        """``"file.py:line"``, without the folder."""
        return f"{self.path.replace(chr(92), '/').rpartition('/')[2]}:{self.line}"


# eq=False, repr=False: Record has them for all. Six classes that generate their own take longer to
# define than a test takes to run.
@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """What every record has."""

    place: Place
    #: Position among all records of the test, counted from 0.
    order: int
    #: What the thread had set; the recording fills it in.
    state: State = field(default=AT_REST, kw_only=True)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), self.place, self.order))

    def __repr__(self) -> str:
        # Hardly any code sets anything, so the state is told only where it says something.
        told = [item for item in self.__dict__.items() if item != ("state", AT_REST)]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in told)})"

    @property
    def site(self) -> str:
        """``"file.py:line"`` of the user's code."""
        return self.place.site

    @property
    def function(self) -> str:
        """Plain name of the function that did it."""
        return self.place.function

    @property
    def device_index(self) -> int | None:
        """Index of the CUDA device it happened on, the current one for a launch or a call.

        None for what happened in host memory.
        """
        return self.state.device

    @property
    def stream(self) -> int | None:
        """Number of the stream that was current on its device: 0 for the default stream.

        None for what happened in host memory.
        """
        return None if self.device_index is None else self.state.stream_on(self.device_index)

    @property
    def graph(self) -> int | None:
        """Number of the CUDA graph that its stream was capturing into, or None."""
        index = self.state.device if self.device_index is None else self.device_index
        return self.state.graph_on(index)

    @property
    def capturing(self) -> bool:
        """Whether it happened while a CUDA graph was captured."""
        return self.graph is not None

    @property
    def inference(self) -> bool:
        """Whether it happened in inference mode; what is born in it is not written outside."""
        return self.state.inference

    @property
    def grad(self) -> bool:
        """Whether gradients would have been computed."""
        return self.state.grad


class _InMemory:
    """A record of what happened to one piece of memory."""

    view: TensorView

    def __sm120_view__(self) -> TensorView:
        return self.view

    @property
    def device_index(self) -> int | None:
        """Index of the CUDA device that the memory lies on; None for host memory."""
        kind, _, index = self.view.device.partition(":")
        return int(index or 0) if kind == "cuda" else None


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(_InMemory, Record):
    """A tensor that got memory of its own."""

    #: As the code spells it, e.g. ``"torch.zeros"`` or ``"Tensor.new_empty"``.
    call: str
    view: TensorView
    #: The value every element was set to, or None when they differ or are not known.
    fill: Number | None
    #: Whether the contents are whatever the allocator had there.
    uninitialized: bool
    #: The key of the registry, watched attribute or module global that holds it, else None.
    registered_as: object = None

    @property
    def shape(self) -> Shape:
        """Its sizes."""
        return self.view.shape

    @property
    def strides(self) -> Shape:
        """Its strides, in elements."""
        return self.view.strides

    @property
    def dtype(self) -> str:
        """Plain name, e.g. ``"uint8"``."""
        return self.view.dtype

    @property
    def device(self) -> str:
        """E.g. ``"cuda:0"``."""
        return self.view.device

    @property
    def bytes(self) -> int:
        """Size of its storage in bytes: what one memset of it would write."""
        return self.view.storage_bytes

    def shares_storage_with(self, other: HasView) -> bool:
        """Return whether the other is a view of this allocation."""
        return self.view.shares_storage_with(other)


@dataclass(frozen=True, eq=False, repr=False)
class Launch(Record):
    """A kernel that was launched."""

    #: The kernel function's plain name.
    kernel: str
    #: As given, one to three numbers.
    grid: tuple[int, ...]
    #: Every parameter of the kernel by name, defaults included; tensors as TensorViews.
    args: Mapping[str, object]
    #: What is not a parameter of the kernel: num_warps, num_stages, ...
    options: Mapping[str, object]
    #: Which arguments the kernel may write, judged on its text; all without a text.
    written: tuple[str, ...] = field(kw_only=True)
    #: Which ones it changes with atomics that depend on what was there; none without a text.
    accumulated: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def empty(self) -> bool:
        """Whether no program ran: Triton launches nothing for a grid of no programs."""
        return prod(self.grid) <= 0

    @property
    def num_warps(self) -> object:
        """Warps of one program, or None when neither the launch nor a config says."""
        return self.options.get("num_warps")

    @property
    def num_stages(self) -> object:
        """Software pipelining stages, or None when neither the launch nor a config says."""
        return self.options.get("num_stages")

    @property
    def tensors(self) -> dict[str, TensorView]:
        """Those arguments that are tensors."""
        return {name: arg for name, arg in self.args.items() if isinstance(arg, TensorView)}


@dataclass(frozen=True, eq=False, repr=False)
class Fill(_InMemory, Record):
    """A write by the host code into memory that was there: zero_(), fill_(), copy_() and others."""

    #: E.g. ``"zero_"``.
    op: str
    view: TensorView
    #: The value every element was set to, or None when they differ or are not known.
    value: Number | None


@dataclass(frozen=True, eq=False, repr=False)
class Call(Record):
    """A call into something that is not there, e.g. a FlashInfer function."""

    #: Dotted name of the callee.
    name: str
    #: Positional arguments; tensors as TensorViews.
    args: tuple[object, ...]
    #: Keyword arguments; tensors as TensorViews.
    kwargs: Mapping[str, object]
    #: The arguments by parameter name, defaults included, or None where no signature is known.
    bound: Mapping[str, object] | None = None
    #: Plain name of the kernel or function that the callee was made from or was given, or None.
    kernel: str | None = None
    #: What a function of the target's own answered, e.g. grid and arguments for its wrapper.
    returned: object = None

    @property
    def tensors(self) -> list[TensorView]:
        """Those arguments that are tensors, positional ones first."""
        given = (*self.args, *self.kwargs.values())
        return [argument for argument in given if isinstance(argument, TensorView)]


@dataclass(frozen=True, eq=False, repr=False)
class Store(_InMemory, Record):
    """A tensor that was kept somewhere that outlives the call."""

    #: Key of the registry, name of the attribute or path of the module global.
    key: object
    view: TensorView
