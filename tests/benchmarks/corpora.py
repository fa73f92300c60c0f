"""Which files are loaded: from lists, from a wheel, from any unpacked package."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_sm120.stand_ins.import_statements import imported_names
from pytest_sm120.stand_ins.target_files import find_sibling, find_target
from tests.upstream.wheels import WHEELS, cache_folder, fetch_sources

#: A file without these words has nothing to do with us.
SUBJECT = re.compile(rb"\b(?:torch|triton)\b")

#: A sibling of more bytes is not "small".
SMALL_BYTES = 20_000


class Corpus(NamedTuple):
    """The files of one project, relative to the folder that holds its package."""

    project: str
    root: Path
    paths: list[str]


def find_corpora(
    lists: Path | None, projects: str, sources: Iterable[str], only: str = ""
) -> list[Corpus]:
    """Return the corpora that the command line asks for."""
    found = list(_from_sources(sources)) or list(_from_wheels(lists, projects))
    return [
        corpus._replace(paths=[path for path in corpus.paths if only in path]) for corpus in found
    ]


def _from_sources(sources: Iterable[str]) -> Iterator[Corpus]:
    for source in sources:
        name, _, folder = source.partition("=")
        yield Corpus(name, Path(folder), files_on_the_subject(Path(folder)))


def _from_wheels(lists: Path | None, projects: str) -> Iterator[Corpus]:
    for project in projects.split(",") if projects else WHEELS:
        root = fetch_sources(WHEELS[project], cache_folder())
        listed = lists / f"corpus_{project}.txt" if lists is not None else None
        if listed is None:
            yield Corpus(project, root, files_on_the_subject(root))
        elif listed.is_file():
            yield Corpus(project, root, listed.read_text("utf-8").split())


def files_on_the_subject(folder: Path) -> list[str]:
    """Return the Python files below a folder that mention torch or Triton."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if SUBJECT.search(path.read_bytes())
    )


def small_siblings(root: Path, path: str) -> tuple[str, ...]:
    """Return the dotted names of the small modules of the same tree that a file imports."""
    target = find_target(path, root)
    named = imported_names(ast.parse(target.path.read_bytes()), target.package)
    found = set()
    for name in named:
        if name.partition(".")[0] in sys.stdlib_module_names:
            continue
        for dotted in (name, name.rpartition(".")[0]):
            sibling = find_sibling(dotted, target.base) if dotted else None
            if sibling is not None and sibling.path.stat().st_size <= SMALL_BYTES:
                found.add(dotted)
                break
    return tuple(sorted(found - {target.name}))
