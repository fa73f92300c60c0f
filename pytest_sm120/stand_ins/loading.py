"""Loads a target file under its real dotted name, with stand-ins for what it imports."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, TracebackType

from pytest_sm120.errors import TargetError, UsageError
from pytest_sm120.recorder.holders import ModuleGlobals
from pytest_sm120.recorder.places import TARGET_MARK
from pytest_sm120.stand_ins.execution import Assumption, Execution
from pytest_sm120.stand_ins.ghosts import Ghosts
from pytest_sm120.stand_ins.import_statements import is_named
from pytest_sm120.stand_ins.import_system import ImportSystem
from pytest_sm120.stand_ins.load_arguments import check_load_arguments
from pytest_sm120.stand_ins.process_state import (
    REPLACED_PACKAGES,
    ProcessState,
    StandInFinder,
    root_of,
)
from pytest_sm120.stand_ins.shared_classes import save_classes
from pytest_sm120.stand_ins.target_files import (
    CompiledFiles,
    TargetFile,
    find_sibling,
    find_target,
)
from pytest_sm120.stand_ins.torch_stand_in import TORCH_CLASSES, build_torch
from pytest_sm120.stand_ins.triton_stand_in import TRITON_CLASSES, build_triton


class Loader:
    """Loads targets for one test, and puts the process back when it is closed."""

    def __init__(
        self, execution: Execution, root: Path, real_packages: Iterable[str], files: CompiledFiles
    ) -> None:
        self.execution = execution
        self.root = root
        self._files = files
        self._ghosts = Ghosts(execution)
        self._ghosts.names_of = self._globals_that_hold
        self._ghosts.sibling_of = self._sibling_of
        self._ghosts.file_of = self._file_of
        self._ghosts.facts_of = files.facts_of
        self._system = ImportSystem(self._ghosts, {}, real_packages)
        self._state: ProcessState | None = None
        self._restore_classes: Callable[[], None] = lambda: None
        self._targets: dict[str, ModuleType] = {}
        self._real: dict[str, TargetFile] = {}
        self._base = root
        # What _handed_on found out since the last load began: the same few names are asked for
        # again and again, as parents of others.
        self._origins: dict[str, str | None] = {}

    @property
    def targets(self) -> tuple[ModuleType, ...]:
        """The modules loaded so far, ``real=`` siblings included."""
        return tuple(self._targets.values())

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        provide: Mapping[str, object],
        folder_provide: Mapping[str, object],
        real: Iterable[str],
        name: str | None,
    ) -> ModuleType:
        """Run the file and return its module; see ``sm120.load`` for what can go wrong."""
        check_load_arguments(path, provide, real, name)
        names = (real,) if isinstance(real, str) else tuple(real)
        target = find_target(path, self.root, name)
        siblings = {dotted: _existing_sibling(dotted, target) for dotted in names}
        self._refuse_unnamed(provide, [target, *siblings.values()])
        self._open()
        self._real.update(siblings)
        self._base = target.base
        self._origins.clear()
        self._provide({**folder_provide, **provide})
        self.execution.assumptions = []
        return self._run(target)

    def close(self) -> None:
        """Put sys.modules, sys.path, sys.meta_path and the environment back as they were."""
        if self._state is not None:
            self._restore_classes()
            self._state.restore()
            self._state = None

    # -- opening -----------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._state is not None:
            return
        self._state = ProcessState(StandInFinder(self._system.look_up))
        self._restore_classes = save_classes([*TORCH_CLASSES, *TRITON_CLASSES])
        self._system.load_sibling = self._load_sibling
        self._system.public_names = self._public_names
        self._system.handed_on = self._handed_on
        stand_ins = {
            **build_torch(self.execution, self._system.ghost),
            **build_triton(self.execution, self._system.ghost),
        }
        self._system.modules.update(stand_ins)
        for dotted, module in stand_ins.items():
            self._state.put(dotted, module)

    def _provide(self, objects: Mapping[str, object]) -> None:
        self.execution.provided.update(objects)
        for dotted, value in self.execution.provided.items():
            try:
                self._system.put_provided(dotted, value)
            except ImportError as error:
                raise _not_in_a_module(dotted, error) from error

    def _refuse_unnamed(self, provide: Mapping[str, object], files: list[TargetFile]) -> None:
        named = frozenset[str]().union(*(self._files.compile(file).imports for file in files))
        for key in provide:
            if not is_named(key, named):
                raise _unnamed_key(key, named, files[0])

    # -- running -----------------------------------------------------------------------------------

    def _run(self, target: TargetFile, *, sibling: bool = False) -> ModuleType:
        compiled = self._files.compile(target)
        module = self._make_module(target)
        self._bind(target.name, module)
        self.execution.imports_under_way += 1
        try:
            exec(compiled.code, module.__dict__)
        except TargetError:
            # A real sibling failed; its own error says more than one about this file would.
            self._unbind(target.name)
            raise
        except (Exception, SystemExit) as error:
            self._unbind(target.name)
            if sibling and isinstance(error, ImportError):
                # Whoever imports the sibling may be prepared for that, as in Python.
                raise
            raise _failed_import(target, error, self.execution.assumptions) from error
        finally:
            self.execution.imports_under_way -= 1
        self.execution.recording.follow(ModuleGlobals(module))
        return module

    def _make_module(self, target: TargetFile) -> ModuleType:
        module = ModuleType(target.name)
        spec = ModuleSpec(target.name, None, origin=str(target.path), is_package=target.is_package)
        module.__dict__.update(
            __file__=str(target.path),
            __package__=target.package,
            __spec__=spec,
            __builtins__=self._system.builtins,
            __sm120_imports__={},
            __sm120_assumptions__=self.execution.assumptions,
        )
        module.__dict__[TARGET_MARK] = True
        if target.is_package:
            module.__path__ = [str(target.path.parent)]
        return module

    def _bind(self, dotted: str, module: ModuleType) -> None:
        assert self._state is not None
        self._bind_parents(dotted)
        self._targets[dotted] = module
        self._system.modules[dotted] = module
        self._state.put(dotted, module)

    def _bind_parents(self, dotted: str) -> None:
        assert self._state is not None
        parts = dotted.split(".")
        for length in range(1, len(parts)):
            parent = ".".join(parts[:length])
            if parent not in sys.modules:
                self._state.put(parent, self._system.look_up(parent))

    def _unbind(self, dotted: str) -> None:
        del self._targets[dotted]
        del self._system.modules[dotted]
        sys.modules.pop(dotted, None)

    def _load_sibling(self, dotted: str) -> ModuleType | None:
        target = self._real.pop(dotted, None)
        return None if target is None else self._run(target, sibling=True)

    def _public_names(self, dotted: str) -> list[str]:
        sibling = find_sibling(dotted, self._base)
        return [] if sibling is None else self._files.compile(sibling).public_names

    def _handed_on(self, dotted: str) -> str | None:
        """Return what of torch or triton a name means, through any number of modules, or None."""
        if dotted not in self._origins:
            self._origins[dotted] = self._follow(dotted)
        return self._origins[dotted]

    def _follow(self, dotted: str) -> str | None:
        followed: set[str] = set()
        name: str | None = dotted
        while name is not None and name not in followed and root_of(name) not in REPLACED_PACKAGES:
            followed.add(name)
            parent, _, last = name.rpartition(".")
            sibling = find_sibling(parent, self._base) if parent else None
            name = None if sibling is None else self._files.origin_of(last, sibling)
        return None if name in followed or name == dotted else name

    def _sibling_of(self, dotted: str) -> str | None:
        """Return the module that defines a name, where the root has a file of it, else None."""
        module, _, _ = dotted.rpartition(".")
        found = find_sibling(module, self._base) if module else None
        return None if found is None else module

    def _file_of(self, dotted: str) -> str | None:
        found = find_sibling(dotted, self._base)
        return None if found is None else str(found.path)

    def _globals_that_hold(self, held: object) -> list[str]:
        return [
            name for module in self.targets for name, value in vars(module).items() if value is held
        ]


def _existing_sibling(dotted: str, target: TargetFile) -> TargetFile:
    found = find_sibling(dotted, target.base)
    if found is None:
        raise UsageError(
            f"real= names {dotted!r}, but there is no such module below {target.base}.",
            limit="A real sibling is a file of the same source tree as the target.",
            remedy="Correct the dotted name, or leave it out and provide= what is needed of it.",
        )
    return found


def _unnamed_key(key: str, named: Iterable[str], target: TargetFile) -> UsageError:
    close = difflib.get_close_matches(key, named, n=3)
    also = f" Did you mean {', '.join(close)}?" if close else ""
    return UsageError(
        f"provide= names {key!r}, but no import statement of {target.path.name} or of its real= "
        f"siblings names it.{also}",
        limit="A key that nothing imports would silently provide nothing.",
        remedy="Use the full dotted name as the file imports it, or drop the key.",
    )


def _not_in_a_module(key: str, error: ImportError) -> UsageError:
    parent = key.rpartition(".")[0]
    return UsageError(
        f"provide= names {key!r}, but {parent} cannot be imported as a module: {error}.",
        limit="Inside the standard library and other real packages, names of modules can be given "
        "another meaning, parts of classes and objects cannot.",
        remedy=f"Provide {parent!r} itself.",
    )


def _failed_import(
    target: TargetFile, error: BaseException, assumptions: list[Assumption]
) -> TargetError:
    made = "; ".join(str(assumption) for assumption in assumptions)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return TargetError(
        f"{_site_of(error)}: importing {target.name} raised {what.removesuffix('.')}.",
        limit=f"Until then these answers had been assumed: {made}."
        if made
        else "No answer had been assumed until then.",
        remedy="If the cause is a name that is not there, give it with provide= or load the "
        "sibling with real=; the traceback above is the target's own.",
    )


def _site_of(error: BaseException) -> str:
    """Return the innermost line of a target or sibling that the exception went through."""
    site = ""
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if TARGET_MARK in step.tb_frame.f_globals:
            site = f"{os.path.basename(step.tb_frame.f_code.co_filename)}:{step.tb_lineno}"
        step = step.tb_next
    return site
