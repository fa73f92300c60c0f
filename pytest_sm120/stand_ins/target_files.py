"""Reads and compiles target files, and says which dotted name a file has."""

from __future__ import annotations

import ast
import functools
import os
import warnings
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple, cast

from pytest_sm120.errors import TargetError, UsageError
from pytest_sm120.stand_ins.execution import Effects
from pytest_sm120.stand_ins.import_statements import NAMING_CALLS, imported_names, public_names

if TYPE_CHECKING:
    from pytest_sm120.stand_ins.import_guesses import Facts


class TargetFile(NamedTuple):
    """One file that can be run as a module."""

    path: Path
    #: Real dotted name, e.g. ``"sglang.kernels.ops.attention.flash_mla_sm120"``.
    name: str
    #: Folder that the dotted name starts from.
    base: Path

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__.py`` of a package."""
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


def find_target(path: str | os.PathLike[str], root: Path, name: str | None = None) -> TargetFile:
    """Return the file that a path, relative to the root, means.

    The dotted name starts at the outermost folder below the root that holds an ``__init__.py``; if
    there is none, at the root itself. Raises UsageError when there is no such file.
    """
    full = Path(os.path.abspath(root / path))
    if full.is_dir():
        raise UsageError(
            f"{full} is a folder, not a file.",
            limit="A target is one Python file.",
            remedy=f"To load a package, name its {Path(path) / '__init__.py'}.",
        )
    if not full.is_file():
        raise UsageError(
            f"There is no file {full}.",
            limit=f"The path {os.fspath(path)!r} was taken relative to the root {root}.",
            remedy="Check the path, or set the root with --sm120-root or the setting sm120_root.",
        )
    base = _base_folder(full, root)
    return TargetFile(full, name or _dotted_name(full, base), base)


def _base_folder(full: Path, root: Path) -> Path:
    root = Path(os.path.abspath(root))
    if full.is_relative_to(root):
        below = [folder for folder in full.parents if folder != root and root in folder.parents]
        packages = [folder for folder in below if (folder / "__init__.py").is_file()]
        return packages[-1].parent if packages else root
    folder = full.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _dotted_name(full: Path, base: Path) -> str:
    parts = list(full.relative_to(base).with_suffix("").parts)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


def find_sibling(dotted: str, base: Path) -> TargetFile | None:
    """Return the file of a module below the same base folder, or None."""
    # Text rather than Path, which takes ten times as long: nearly every name that is asked for is
    # that of something in a module, and the answer is no.
    stem = os.path.join(base, *dotted.split("."))
    # In the order in which Python itself looks.
    for path in (os.path.join(stem, "__init__.py"), f"{stem}.py"):
        if os.path.isfile(path):
            return TargetFile(Path(path), dotted, base)
    return None


class CompiledFile(NamedTuple):
    """A file's code and what its import statements name."""

    code: CodeType
    #: Nobody changes it: the source view reads the same one.
    tree: ast.Module
    imports: frozenset[str]
    #: What a star import of it binds.
    public_names: list[str]


class CompiledFiles:
    """Compiles files once for each state they are in, for all tests of a run."""

    def __init__(self) -> None:
        self._compiled: dict[tuple[object, ...], CompiledFile] = {}
        self._origins: dict[tuple[object, ...], str | None] = {}
        self._facts: dict[ast.Module, Facts] = {}
        #: Execution.effects_of_kernels of all tests of the run.
        self.effects_of_kernels: dict[CodeType, Effects] = {}

    def compile(self, target: TargetFile) -> CompiledFile:
        """Return the compiled file; the text is read again when the file has changed.

        Raises TargetError when it is not Python, with Python's own reason.
        """
        key = (target.name, *_state_of(target.path))
        if key not in self._compiled:
            self._compiled[key] = _compile(target)
        return self._compiled[key]

    def origin_of(self, name: str, file: TargetFile) -> str | None:
        """Return the dotted name that the file imports as ``name``; see ``find_origin``."""
        key = (file.name, name, *_state_of(file.path))
        if key not in self._origins:
            # A target without siblings, as in a small test, has no use for it.
            from pytest_sm120.stand_ins.names_handed_on import find_origin

            text = file.path.read_bytes()
            parse = functools.partial(_parse, path=file.path)
            self._origins[key] = find_origin(name, text, file.package, parse)
        return self._origins[key]

    def known_tree(self, path: Path) -> ast.Module | None:
        """Return the tree of a file that was compiled in its present state, else None."""
        state = _state_of(path) if path.is_file() else None
        found = (file.tree for key, file in self._compiled.items() if key[1:] == state)
        return next(found, None)

    def facts_of(self, code: CodeType) -> Facts | None:
        """Return what is known of the compiled file that the code is of, else None."""
        tree = self.known_tree(Path(code.co_filename))
        if tree is None:
            return None
        if tree not in self._facts:
            # A target that decides nothing on what is not there has no use for it.
            from pytest_sm120.stand_ins.import_guesses import read_facts

            file = next(file for file in self._compiled.values() if file.tree is tree)
            self._facts[tree] = read_facts(tree, file.imports)
        return self._facts[tree]

    def definition_of(self, code: CodeType) -> ast.FunctionDef | None:
        """Return the tree of a function at the top level of a compiled file, else None."""
        tree = self.known_tree(Path(code.co_filename))
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.FunctionDef) and _is_definition_of(node, code):
                return node
        return None


def _is_definition_of(node: ast.FunctionDef, code: CodeType) -> bool:
    # The code of a decorated function starts at its first decorator.
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return (node.name, first) == (code.co_name, code.co_firstlineno)


def _state_of(path: Path) -> tuple[object, ...]:
    state = os.stat(path)
    return (os.path.abspath(path), state.st_mtime_ns, state.st_size, state.st_ino)


def _compile(target: TargetFile) -> CompiledFile:
    text = target.path.read_bytes()
    try:
        tree = _parse(text, target.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(tree, str(target.path), "exec", dont_inherit=True)
    # MemoryError: what the parser raises for expressions that are nested too deeply.
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _not_python(target, error) from error
    calls = any(name.encode() in text for name in NAMING_CALLS)
    named = imported_names(tree, target.package, calls=calls)
    return CompiledFile(code, tree, named, public_names(tree))


def _parse(text: bytes, path: Path) -> ast.Module:
    # Python warns of invalid escapes and the like when it compiles; that is not our business.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Not ast.parse, whose frame would stand between the user's test and the error.
        parsed = compile(text, str(path), "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    return cast(ast.Module, parsed)


def _not_python(target: TargetFile, error: BaseException) -> TargetError:
    line = getattr(error, "lineno", None)
    site = f"{target.path.name}:{line}" if line else target.path.name
    reason = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
    return TargetError(
        f"{site}: the file is not Python that this interpreter can compile: "
        f"{type(error).__name__}: {reason}.",
        limit=f"It was read from {target.path}.",
        remedy="Correct the file, or name another one.",
    )
