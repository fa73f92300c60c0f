"""The ``sm120`` fixture: what a test can do."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

from pytest_sm120.arch import Arch
from pytest_sm120.errors import ContractBroken
from pytest_sm120.plugin.settings import Settings

if TYPE_CHECKING:
    import numpy

    from pytest_sm120.contracts import ContractResult, Scratch
    from pytest_sm120.contracts.other_contracts import Checked
    from pytest_sm120.recorder.recording import Recording, Step
    from pytest_sm120.source import SourceView
    from pytest_sm120.stand_ins.torch_stand_in import Tensor
    from pytest_sm120.tiers.record import RecordSession

T = TypeVar("T")


@dataclass(repr=False)
class Sm120:
    """The fixture object. ``tier`` and ``arch`` say where this run of the test stands."""

    #: The tier this run of the test has, e.g. ``"record"``.
    tier: str
    #: The arch that capability queries answer for.
    arch: Arch
    settings: Settings
    #: Returns what the folder's conftest.py provides to every target.
    folder_provide: Callable[[], Mapping[str, object]]
    #: The contracts checked so far.
    results: list[ContractResult] = field(default_factory=list)
    #: Whether the test was skipped, at whatever point.
    was_skipped: bool = False
    #: Whether any phase of the test has failed.
    has_failed: bool = False
    #: Where a loop over arches was left before its end, in words.
    left_turn: str = ""
    _session: RecordSession | None = None
    #: Those of turns that are over, too.
    _sessions: list[RecordSession] = field(default_factory=list)
    _thread: int = field(default_factory=threading.get_ident)

    def __repr__(self) -> str:
        return f"<sm120: tier {self.tier}, arch {self.arch.name}>"

    @property
    def session(self) -> RecordSession:
        """The tier's session, opened on first use; skips the test in a tier that runs no code."""
        if self._session is None:
            self._session = self._open_session()
            self._sessions.append(self._session)
        return self._session

    def _open_session(self) -> RecordSession:
        if self.tier == "source":
            pytest.skip(
                "sm120: The source tier reads the target's text and never runs it. Ask for "
                "sm120.source(path) in this test, or run it in the record tier."
            )
        from pytest_sm120.tiers.record import RecordSession

        return RecordSession(
            root=self.settings.root,
            arch=self.arch,
            real_packages=self.settings.real_packages,
            files=self.settings.files,
            thread=self._thread,
        )

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        provide: Mapping[str, object] | None = None,
        real: Iterable[str] = (),
        name: str | None = None,
    ) -> ModuleType:
        """Run a file under its real dotted name, with stand-ins for what it imports.

        ``path`` is relative to the root. ``provide`` maps dotted names to the objects that the
        target gets for them; they stay for later loads of the same test. ``real`` names sibling
        modules to load for real, ``name`` the dotted name when it does not follow from the path.
        Returns the module; its ``__sm120_imports__`` says what each import got and its
        ``__sm120_assumptions__`` which answers had to be assumed while it was imported.

        Raises UsageError when there is no such file, a ``provide`` key is named by no import
        statement or a ``real`` sibling does not exist; TargetError when the file does not compile
        or raises while it is imported.
        """
        return self.session.load(
            path,
            provide=provide or {},
            folder_provide=self.folder_provide(),
            real=real,
            name=name,
        )

    def tensor(
        self,
        shape: Iterable[int],
        dtype: object = "float32",
        device: object = "cpu",
        strides: Sequence[int] | None = None,
    ) -> Tensor:
        """Return an input tensor of unknown contents; it does not count as an allocation.

        ``strides`` count elements and default to row-major ones.
        """
        return self.session.tensor(shape, dtype, device, strides)

    def values(self, values: object, dtype: object = None, device: object = "cpu") -> Tensor:
        """Return an input tensor with these contents: nested lists, or a numpy array.

        ``dtype`` defaults to what torch would infer. It does not count as an allocation.
        """
        return self.session.values(values, dtype, device)

    def numpy(self, tensor: Any) -> numpy.ndarray[Any, Any]:
        """Return a tensor's contents as a numpy array; formats numpy lacks come as float32.

        Raises UnknownValue when they are not known.
        """
        return self.session.numpy(tensor)

    def registry(self) -> dict[Any, Any]:
        """Return an empty dict that records what is stored in it, under which key."""
        return self.session.registry()

    def watch(self, obj: T) -> T:
        """Record the tensors stored in the object's attributes from now on; return the object."""
        return self.session.watch(obj)

    @property
    def recording(self) -> Recording:
        """What the targets did, in call order: allocations, launches, fills, calls, stores."""
        return self.session.recording

    def step(self, name: str) -> AbstractContextManager[Step]:
        """Collect what happens inside a ``with`` block; the step answers the same queries."""
        return self.session.recording.step(name)

    def check(
        self,
        contract: Scratch | Checked,
        drive: Callable[..., object] | None = None,
        sizes: Sequence[int] | None = None,
        devices: Sequence[str] | None = None,
        *,
        thorough: bool = False,
    ) -> ContractResult:
        """Drive the target through a sequence of calls and judge every clause of the contract.

        ``drive(size, device)`` makes one call. ``sizes`` are the first, same, smaller and larger
        size (4, 4, 2, 8), ``devices`` the ones to use ("cuda:0", "cuda:1"). ``thorough`` also
        drives random sequences, with hypothesis. Returns the result, clause by clause; raises
        ContractBroken with every broken clause.
        """
        from pytest_sm120.contracts import check

        try:
            result = check(
                contract,
                drive,
                bench=self.session,
                sizes=sizes,
                devices=devices,
                thorough=thorough,
                versions=self.settings.versions,
            )
        except ContractBroken as broken:
            self.results.append(cast("ContractResult", broken.result))
            raise
        self.results.append(result)
        return result

    def source(self, path: str | os.PathLike[str]) -> SourceView:
        """Return a view of a file's text, which is read and never run; works in every tier."""
        from pytest_sm120.source import read_source

        full = self.settings.root / path
        return read_source(full, self.settings.files.known_tree(full))

    def close(self) -> None:
        """Put the process back as it was before the first load."""
        if self._session is not None:
            self._session.close()

    def begin_turn(self, arch: Arch) -> None:
        """Let capability queries answer for this arch, and drop what was loaded before."""
        self.close()
        self._session = None
        self.arch = arch

    def for_each_arch(self, *arches: Any) -> Iterator[Any]:
        """Yield each arch, in a turn that answers for it; all arches of the table without any.

        In each turn nothing is loaded yet and nothing recorded; afterwards the arch is as before. A
        dict of arches yields (arch, value) pairs. Raises UsageError for an unknown arch.
        """
        from pytest_sm120.plugin.turns import take_turns

        return take_turns(self, arches)

    @property
    def used_session(self) -> RecordSession | None:
        """The session that the test used last, if it used one."""
        return self._sessions[-1] if self._sessions else None

    @property
    def targets(self) -> tuple[ModuleType, ...]:
        """The modules that the test has loaded, in all turns."""
        return tuple(module for session in self._sessions for module in session.targets)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was assumed while the targets were imported, each once."""
        made = [assumed for module in self.targets for assumed in module.__sm120_assumptions__]
        return tuple(dict.fromkeys(map(str, made)))
