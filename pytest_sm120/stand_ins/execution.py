"""The state that the stand-ins of one test share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import local
from types import CodeType
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

from pytest_sm120.arch import DEFAULT_ARCH, Arch
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.states import AT_REST, State, StreamKey
from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.storages import Storage

T = TypeVar("T")

#: Numbers that no other stream, event or graph of the process has; 0 is the default stream.
numbers = count(1)


class Assumption(NamedTuple):
    """A question that import-time code asked a ghost, and the answer it was given."""

    #: ``"file.py:line"`` of the code that asked.
    site: str
    #: What was asked, e.g. ``"bool(helion.is_enabled())"``.
    question: str
    #: What was answered, e.g. ``"False"``.
    answer: str

    def __str__(self) -> str:
        return f"{self.site}: {self.question} was taken as {self.answer}"


class Effects(NamedTuple):
    """What a kernel function may do to its parameters, by name."""

    #: Those that reach the address of a write.
    written: frozenset[str]
    #: Those that reach the address of an atomic that depends on what it finds.
    accumulated: frozenset[str]
    #: Those that its result may point into.
    returned: frozenset[str]
    #: Whether this follows from its own text alone, whatever the names outside of it stand for.
    alone: bool


class _OfThread(local):
    """What each thread has for itself; a new one starts at rest."""

    state = AT_REST


@dataclass(eq=False, repr=False)
class Execution:
    """What code under test can change or ask: modes, the current device, the arch.

    As in torch each thread has its own device, streams and modes.
    """

    recording: Recording = field(default_factory=Recording)
    arch: Arch = DEFAULT_ARCH
    #: How many target modules are being imported, one inside the other; 0 at run time.
    imports_under_way: int = 0
    #: Number of the graph that each capturing stream adds to; replaced, never changed.
    captures: Mapping[StreamKey, int] = field(default_factory=dict)
    #: What the work in each captured graph writes, by the graph's number.
    captured_writes: dict[int, WeakSet[Storage]] = field(default_factory=dict)
    #: What ``torch.set_default_dtype`` set.
    default_dtype: DType = DTYPES["float32"]
    #: Everything that was assumed since the last load began.
    assumptions: list[Assumption] = field(default_factory=list)
    #: Objects given with ``provide=``, by dotted name.
    provided: dict[str, object] = field(default_factory=dict)
    #: Returns the tree of a function by its code, or None where nobody has parsed its file.
    definition_of: Callable[[CodeType], ast.FunctionDef | None] = lambda code: None
    #: What a kernel may write through, by its code; shared by the tests of a run, since finding
    #: out takes longer than everything else a launch does.
    effects_of_kernels: dict[CodeType, Effects] = field(default_factory=dict)
    #: Finds the function of an operator, by ``"namespace::name"``, that a project registered with
    #: functions of its own.
    find_operator: Callable[[str], Callable[..., Any] | None] = lambda name: None
    _of_thread: _OfThread = field(default_factory=_OfThread)
    _own_classes: dict[type, type] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.recording.state_now = self.state_now

    def state_now(self) -> State:
        """Return what the present thread has set."""
        state = self._of_thread.state
        return state._replace(captures=self.captures) if self.captures else state

    def change(self, **values: object) -> None:
        """Set fields of the present thread's state."""
        self._of_thread.state = self._of_thread.state._replace(**values)  # type: ignore[arg-type]  # by name

    @property
    def inference(self) -> bool:
        """Whether inference mode is on."""
        return self._of_thread.state.inference

    @property
    def grad_enabled(self) -> bool:
        """Whether gradients would be computed."""
        return self._of_thread.state.grad

    @property
    def device_index(self) -> int:
        """Index of the current CUDA device."""
        return self._of_thread.state.device

    def note_write(self, storage: Storage) -> None:
        """Note what a replay will write again, while a graph is captured."""
        if self.captures and storage.device.index is not None:
            graph = self.state_now().graph_on(storage.device.index)
            if graph is not None:
                self.captured_writes.setdefault(graph, WeakSet()).add(storage)

    def own_class(self, kind: type[T]) -> type[T]:
        """Return the subclass whose objects know this execution, one for each class."""
        if kind not in self._own_classes:
            self._own_classes[kind] = type(kind.__name__, (kind,), {"_execution": self})
        return self._own_classes[kind]

    @property
    def importing(self) -> bool:
        """Whether module-level code of a target is running, rather than a call by the test."""
        return self.imports_under_way > 0

    def assume(self, assumption: Assumption) -> None:
        """List an assumption, unless the same one is listed already."""
        if assumption not in self.assumptions:
            self.assumptions.append(assumption)

    @contextmanager
    def changed(self, **values: object) -> Iterator[None]:
        """Set fields of the present thread's state for the duration of a ``with`` block."""
        before = {name: getattr(self._of_thread.state, name) for name in values}
        self.change(**values)
        try:
            yield
        finally:
            self.change(**before)
