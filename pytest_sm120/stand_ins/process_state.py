"""What a load changes in the process, and how it is put back. Nothing else touches sys."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import FunctionType, MethodType, ModuleType
from typing import Any

from pytest_sm120.errors import UsageError
from pytest_sm120.recorder.places import TARGET_MARK

#: The packages that are replaced in sys.modules, for every importer, while targets are loaded.
REPLACED_PACKAGES = ("torch", "triton")

# Where the classes live whose objects must not outlive the test that they were made for.
_OURS = (__name__.rpartition(".")[0], "pytest_sm120.tensors")

_LISTS = ("path", "meta_path", "path_hooks")


def root_of(dotted: str) -> str:
    """Return the first part of a dotted name."""
    return dotted.partition(".")[0]


class StandInFinder:
    """Answers imports of torch and triton that come from anywhere but a target."""

    def __init__(self, module_of: Callable[[str], Any]) -> None:
        self._module_of = module_of

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for any part of torch or triton."""
        if root_of(fullname) not in REPLACED_PACKAGES:
            return None
        return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]  # a Loader by shape

    def create_module(self, spec: ModuleSpec) -> Any:
        """Return the stand-in."""
        return self._module_of(spec.name)

    def exec_module(self, module: object) -> None:
        """Do nothing: a stand-in is complete as it is."""


class ProcessState:
    """Everything of the process that targets can change, as it was when this was made."""

    def __init__(self, finder: StandInFinder) -> None:
        _refuse_second_user()
        self._table = sys.modules
        self._modules = dict(sys.modules)
        # The lists themselves, too: code may bind another list to sys.path.
        self._lists = [(name, getattr(sys, name), list(getattr(sys, name))) for name in _LISTS]
        self._environment = dict(os.environ)
        self._environ = os.environ
        # None where a test has put a plain dictionary in its place.
        self._encode_value: Any = getattr(os.environ, "encodevalue", None)
        if self._encode_value is not None:
            os.environ.encodevalue = self._encode
        self._attributes: list[tuple[ModuleType, str, object]] = []
        self._put: list[object] = []
        self._put_names: set[str] = set()
        for name in [name for name in sys.modules if root_of(name) in REPLACED_PACKAGES]:
            del sys.modules[name]
        sys.meta_path.insert(0, finder)

    def put(self, name: str, module: object) -> None:
        """Bind a module in sys.modules and on its parent, until ``restore``."""
        sys.modules[name] = module  # type: ignore[assignment]  # ghosts are modules by behaviour
        self._put.append(module)
        self._put_names.add(name)
        parent, _, last = name.rpartition(".")
        holder = self._modules.get(parent)
        if holder is not None and sys.modules.get(parent) is holder:
            self._attributes.append((holder, last, holder.__dict__.get(last, _ABSENT)))
            setattr(holder, last, module)

    def _encode(self, value: Any) -> Any:
        # os.environ["X"] = ghost: what a ghost is as a path is what it is as a text.
        opaque = hasattr(type(value), "__sm120_opaque__")
        return self._encode_value(os.fspath(value) if opaque else value)

    def restore(self) -> None:
        """Put everything back; real modules that were first imported meanwhile stay."""
        for holder, name, value in reversed(self._attributes):
            if value is _ABSENT:
                vars(holder).pop(name, None)
            else:
                setattr(holder, name, value)
        self._attributes.clear()
        # Code may bind another table, which the interpreter itself goes past.
        sys.modules = self._table
        self._restore_modules()
        self._put.clear()
        for name, live, items in self._lists:
            if live != items:
                live[:] = items
            setattr(sys, name, live)
        if self._encode_value is not None:
            self._environ.encodevalue = self._encode_value
        _restore_environment(self._environment)

    def _restore_modules(self) -> None:
        for name in self._put_names - self._modules.keys():
            # A target may have put something else in its own place.
            sys.modules.pop(name, None)
        added = {name: sys.modules[name] for name in sys.modules if name not in self._modules}
        for name in names_to_remove(added, self._put):
            self._remove_from_parent(name, sys.modules.pop(name))
        for name, module in self._modules.items():
            if sys.modules.get(name, _ABSENT) is not module:
                sys.modules[name] = module

    def _remove_from_parent(self, name: str, module: object) -> None:
        parent, _, last = name.rpartition(".")
        held = getattr(self._modules.get(parent), "__dict__", {})
        if held.get(last, _ABSENT) is module:
            del held[last]


_ABSENT = object()


def _refuse_second_user() -> None:
    if any(isinstance(finder, StandInFinder) for finder in sys.meta_path):
        raise UsageError(
            "Another sm120 fixture of this process has loaded a target and has not ended yet.",
            limit="sys.modules belongs to the whole process, so one test at a time can use it.",
            remedy="Do not load from two threads at once; run tests in parallel with pytest-xdist.",
        )


def names_to_remove(added: dict[str, ModuleType], put: Iterable[object] = ()) -> list[str]:
    """Return which newly imported modules are ours, or would keep something of ours alive.

    A real package that was imported meanwhile and has bound a stand-in goes as a whole: it would
    go on using the stand-in of a test that is over. ``put`` are the stand-ins themselves.
    """
    # None is what blocks an import; no real package leaves it behind.
    removed = {
        name
        for name, module in added.items()
        if module is None or _is_ours(module) or _is_made_by_hand(added.get(root_of(name)))
    }
    gone = {id(module) for module in put}
    tainted = True
    while tainted:
        gone |= {id(added[name]) for name in removed}
        rest = {name: module for name, module in added.items() if name not in removed}
        roots = {root_of(name) for name, module in rest.items() if _binds_ours(module, gone)}
        tainted = bool(roots)
        removed |= {name for name in rest if root_of(name) in roots}
    return [name for name in added if name in removed]


def _is_made_by_hand(root: object) -> bool:
    """Return whether a root was put into sys.modules by code under test, rather than imported."""
    return isinstance(root, ModuleType) and root.__spec__ is None


def _restore_environment(saved: dict[str, str]) -> None:
    # pytest writes the name of the running phase there, and goes on doing so.
    wanted = {**saved, **_phase(os.environ)} if _phase(os.environ) else saved
    if dict(os.environ) != wanted:
        os.environ.clear()
        os.environ.update(wanted)


def _phase(environment: Mapping[str, str]) -> dict[str, str]:
    name = "PYTEST_CURRENT_TEST"
    return {name: environment[name]} if name in environment else {}


def _is_ours(module: object) -> bool:
    return type(module).__module__.startswith(_OURS) or hasattr(module, TARGET_MARK)


def _binds_ours(module: ModuleType, gone: set[int]) -> bool:
    if root_of(getattr(module, "__name__", "")) in _NEVER_TAINTED:
        return False
    values = list(getattr(module, "__dict__", {}).values())
    return any(id(value) in gone or _is_part_of_ours(value) for value in values)


_NEVER_TAINTED = sys.stdlib_module_names | {"pytest_sm120"}


def _is_part_of_ours(value: object) -> bool:
    """Return whether a value is an object, a function, a class of ours, or derived from one."""
    inner = getattr(value, "__func__", value) if isinstance(value, MethodType) else value
    inner = value.func if isinstance(value, functools.partial) else inner
    if isinstance(inner, FunctionType):
        return inner.__module__.startswith(_OURS)
    kinds = inner.__mro__ if isinstance(inner, type) else (type(inner),)
    return any(str(kind.__module__).startswith(_OURS) for kind in kinds)
