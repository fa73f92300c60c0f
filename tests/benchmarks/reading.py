"""Compares loaded modules with their source, name by name, and lists every difference.

Which statements of a module ran is heard from the interpreter, line by line, so that each branch is
compared by what it bound and not by what it might have. Notes say what has to be read by a person:
which branch was taken, what became of a decorator, which values are ghosts.
"""

from __future__ import annotations

import ast
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, NamedTuple

from pytest_sm120.errors import Sm120Error
from tests.benchmarks.corpora import Corpus
from tests.benchmarks.forked import for_each
from tests.benchmarks.loaded_files import is_ghost, make_fixture
from tests.benchmarks.source_differences import SCOPES, Compared, beside, differences, has_run

#: The same modules are read each time.
SEED = 120


class Reading(NamedTuple):
    """What a comparison of one module with its source has found."""

    path: str
    #: How many names were compared, by the kind of the statement that binds them.
    compared: dict[str, int]
    #: Places that need a reader, but agree with the text.
    notes: tuple[str, ...]
    differences: tuple[str, ...]


def read_modules(corpora: Sequence[Corpus], count: int, processes: int) -> bool:
    """Print what differs in so many random modules; return whether nothing does."""
    files = sorted((corpus.project, path) for corpus in corpora for path in corpus.paths)
    roots = {corpus.project: corpus.root for corpus in corpora}
    drawn = random.Random(SEED).sample(files, min(count, len(files)))
    print(f"\n{len(drawn)} modules, drawn with seed {SEED}, compared with their source:")
    work = [(roots[project], path) for project, path in drawn]
    readings = sorted(for_each(work, _read, _died, processes))
    for reading in readings:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(reading.compared.items()))
        print(f"  {reading.path}: {kinds}; {len(reading.differences)} differences")
        for note in reading.notes:
            print(f"    note: {note}")
        for difference in reading.differences:
            print(f"    DIFFERS: {difference}")
    names = sum(sum(reading.compared.values()) for reading in readings)
    different = sum(len(reading.differences) for reading in readings)
    print(f"{names} names compared, {different} differences")
    return not different


def _died(item: tuple[Path, str], end: str) -> Reading:
    return Reading(item[1], {}, (), (end,))


def _read(item: tuple[Path, str]) -> Reading:
    root, path = item
    full = (root / path).absolute()
    ran: set[int] = set()
    sys.settrace(lambda frame, event, _: hear_lines(frame, str(full), ran))
    try:
        module = make_fixture(root).load(path)
    except Sm120Error as error:
        return Reading(path, {}, (), (error.cause,))
    finally:
        sys.settrace(None)
    compared = beside(vars(module), ast.parse(full.read_bytes()), ran)
    counts = Counter(binding.kind for binding in compared.bound.values())
    return Reading(path, dict(counts), tuple(_notes(compared)), tuple(differences(compared)))


def hear_lines(frame: FrameType, path: str, ran: set[int]) -> Any:
    if frame.f_code.co_filename != path or frame.f_code.co_name != "<module>":
        return None

    def hear(inner: FrameType, event: str, _: object) -> Any:
        if event == "line":
            ran.add(inner.f_lineno)
        return hear

    return hear


def _notes(compared: Compared) -> Iterator[str]:
    yield from _branches(compared.tree.body, compared.ran)
    for name, binding in compared.bound.items():
        value = compared.held.get(name)
        if isinstance(binding.node, SCOPES) and binding.node.decorator_list:
            shown = ", ".join(f"@{ast.unparse(one)[:60]}" for one in binding.node.decorator_list)
            kept = "is itself" if isinstance(value, (FunctionType, type)) else type(value).__name__
            yield f"line {binding.line}: {shown} {name}: {kept}"
        elif binding.kind == "assignment" and is_ghost(value):
            yield f"line {binding.line}: {name} is {value!r}"


def _branches(body: Sequence[ast.stmt], ran: set[int]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.If) and has_run(node, ran):
            taken = any(has_run(_first(one), ran) for one in node.body)
            outcome = "taken" if taken else "not taken"
            yield f"line {node.lineno}: if {ast.unparse(node.test)[:80]}: {outcome}"
            yield from _branches([*node.body, *node.orelse], ran)
        elif isinstance(node, ast.Try):
            caught = [one for one in node.handlers if any(has_run(step, ran) for step in one.body)]
            yield from (f"line {one.lineno}: the exception was caught" for one in caught)
            yield from _branches([*node.body, *node.orelse, *node.finalbody], ran)


def _first(node: ast.stmt) -> ast.stmt:
    return node.body[0] if isinstance(node, ast.Try) else node
