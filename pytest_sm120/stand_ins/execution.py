"""The state that the stand-ins of one test share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import NamedTuple

from pytest_sm120.arch import DEFAULT_ARCH, Arch
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.tensors.dtypes import DTYPES, DType


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


@dataclass(eq=False, repr=False)
class Execution:
    """What code under test can change or ask: modes, the current device, the arch."""

    recording: Recording = field(default_factory=Recording)
    arch: Arch = DEFAULT_ARCH
    #: How many target modules are being imported, one inside the other; 0 at run time.
    imports_under_way: int = 0
    inference: bool = False
    grad_enabled: bool = True
    capturing: bool = False
    #: Index of the current CUDA device.
    device_index: int = 0
    #: What ``torch.set_default_dtype`` set.
    default_dtype: DType = DTYPES["float32"]
    #: Number of the current stream of the current device; 0 is the default stream.
    stream: int = 0
    #: Everything that was assumed since the last load began.
    assumptions: list[Assumption] = field(default_factory=list)
    #: Objects given with ``provide=``, by dotted name.
    provided: dict[str, object] = field(default_factory=dict)
    #: Returns the tree of a function by its code, or None where nobody has parsed its file.
    definition_of: Callable[[CodeType], ast.AST | None] = lambda code: None
    #: What a kernel may write through, by its code; shared by the tests of a run, since finding
    #: out takes longer than everything else a launch does.
    written_arguments: dict[CodeType, frozenset[str]] = field(default_factory=dict)

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
        """Set attributes for the duration of a ``with`` block."""
        before = {name: getattr(self, name) for name in values}
        self.__dict__.update(values)
        try:
            yield
        finally:
            self.__dict__.update(before)
