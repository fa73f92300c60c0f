"""Loads one file through the fixture's own method, and judges what became of its names."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from pytest_sm120.arch import DEFAULT_ARCH
from pytest_sm120.errors import Sm120Error
from pytest_sm120.plugin.fixture import Sm120
from pytest_sm120.plugin.settings import Settings
from pytest_sm120.stand_ins.ghosts import Ghost
from pytest_sm120.stand_ins.platform_answers import find_answer
from pytest_sm120.stand_ins.target_files import CompiledFiles
from tests.benchmarks.module_names import Binding, bindings, definitions, flags

#: Flags, by what their value comes from.
PLAIN, TABLE, ASSUMED, GHOST = "plain", "table", "assumed", "ghost"


class Verdict(NamedTuple):
    """What became of one file. Plain data, since it is sent from one process to another."""

    path: str
    #: Why it could not be imported, else "".
    error: str = ""
    #: Names of defs and classes that are missing or ghosts.
    lost: tuple[str, ...] = ()
    #: What each flag-like name holds: PLAIN, TABLE, ASSUMED or GHOST.
    flags: tuple[tuple[str, str], ...] = ()
    assumptions: tuple[str, ...] = ()
    #: What was not as it must be: the text not compiled as it is, not run once, state left behind.
    broken: tuple[str, ...] = ()
    seconds: float = 0.0
    #: Number of siblings that were loaded for real.
    siblings: int = 0


def make_fixture(root: Path) -> Sm120:
    """Return what a test gets as ``sm120`` in the record tier."""
    settings = Settings(root, ("record",), False, DEFAULT_ARCH, (), (), CompiledFiles())
    return Sm120("record", DEFAULT_ARCH, settings, dict)


class Witness:
    """Hears from the interpreter itself which texts are compiled and which code is run."""

    def __init__(self, path: str) -> None:
        self.compiled: list[bytes] = []
        self.run: list[CodeType] = []
        self._path = path
        # Cannot be taken out again, which does not matter in a process that ends with the file.
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "compile" and args[1] == self._path and isinstance(args[0], bytes):
            self.compiled.append(args[0])
        elif event == "exec" and args[0].co_filename == self._path:
            self.run.append(args[0])

    def complaints(self, text: bytes) -> list[str]:
        """Return what does not agree with one run of the whole, unchanged text."""
        heard = {hashlib.sha256(source).hexdigest() for source in self.compiled}
        whole = compile(text, self._path, "exec", dont_inherit=True)
        modules = [code for code in self.run if code.co_name == "<module>"]
        found = []
        if heard != {hashlib.sha256(text).hexdigest()}:
            found.append("another text than the file's was compiled")
        if len(modules) != 1:
            found.append(f"the module's code was run {len(modules)} times")
        if any(code != whole for code in modules):
            found.append("the code that was run is not what Python compiles from the file")
        return found


def judge(root: Path, path: str, real: tuple[str, ...] = ()) -> Verdict:
    """Load a file in this process, which must end afterwards, and say what became of it."""
    full = os.path.abspath(root / path)
    text = Path(full).read_bytes()
    before = dict(sys.modules)
    witness = Witness(full)
    sm120 = make_fixture(root)
    started = time.perf_counter()
    try:
        module = sm120.load(path, real=real)
    except Sm120Error as error:
        return Verdict(path, error=f"{error.cause}", siblings=len(real))
    seconds = time.perf_counter() - started
    found = bindings(ast.parse(text))
    verdict = Verdict(
        path,
        lost=lost_definitions(vars(module), found),
        flags=tuple(judge_flags(vars(module), found, sites(module)).items()),
        assumptions=tuple(map(str, module.__sm120_assumptions__)),
        seconds=seconds,
        siblings=len(real),
    )
    sm120.session.close()
    broken = witness.complaints(text) + state_left_behind(before)
    return verdict._replace(broken=tuple(broken))


def sites(module: Any) -> set[str]:
    """Return the places at which the import of a module assumed an answer."""
    return {assumption.site for assumption in module.__sm120_assumptions__}


def is_ghost(value: object) -> bool:
    """Return whether a value is a ghost, or a constexpr that holds one."""
    if type(value).__name__ == "constexpr":
        return is_ghost(value.value)  # type: ignore[attr-defined]  # every constexpr has it
    return issubclass(type(value), Ghost)


def lost_definitions(held: dict[str, object], found: list[Binding]) -> tuple[str, ...]:
    """Return the names of defs and classes that are missing, or bound to a ghost."""
    return tuple(
        name
        for name, must in definitions(found).items()
        if (must and name not in held) or is_ghost(held.get(name))
    )


def judge_flags(held: dict[str, object], found: list[Binding], assumed: set[str]) -> dict[str, str]:
    """Return what each flag-like name that is there holds."""
    file = os.path.basename(str(held["__file__"]))
    kinds = {}
    for name, binding in flags(found).items():
        if name not in held:
            continue
        lines = range(binding.line, (getattr(binding.node, "end_lineno", None) or 0) + 1)
        if is_ghost(held[name]):
            kinds[name] = GHOST
        elif any(f"{file}:{line}" in assumed for line in lines):
            kinds[name] = ASSUMED
        else:
            kinds[name] = TABLE if asks_the_table(binding.node) else PLAIN
    return kinds


def asks_the_table(statement: ast.AST) -> bool:
    """Return whether an assignment asks a platform question."""
    names = [node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)]
    names += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return any(find_answer(name) is not None for name in names)


def state_left_behind(before: Mapping[str, object]) -> list[str]:
    """Return what a load has left in sys.modules that was not there, or is another object."""
    changed = [name for name in before if sys.modules.get(name) is not before[name]]
    ghosts = [name for name, module in sys.modules.items() if issubclass(type(module), Ghost)]
    packages = [name for name in ("torch", "triton") if name in sys.modules]
    return [f"sys.modules still has another {name}" for name in [*changed, *ghosts, *packages]]
