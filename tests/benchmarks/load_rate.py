"""Prints how many files of a corpus load without torch or Triton, and how whole they are then.

    python tests/benchmarks/load_rate.py --lists FOLDER          # corpus_<project>.txt in it
    python tests/benchmarks/load_rate.py --projects sglang,vllm  # every file that mentions torch
    python tests/benchmarks/load_rate.py --source name=FOLDER    # any unpacked package

Each file is loaded with ``sm120.load`` in a process of its own, as it is, once. A file counts as
imported when that raises nothing. A def is lost when a module-level def or class is missing, or
bound to a ghost. A flag is a name such as ``use_x``, ``_is_hip``, ``X_ENABLED`` that an assignment
binds at module level; it must not hold a ghost. Files that fall short are listed with the cause.
``--real`` loads every tenth file once more with its small siblings real; ``--read 30`` compares
that many random modules with their source, name by name. Fails when a bar of ``BARS`` is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.corpora import Corpus, find_corpora, small_siblings
from tests.benchmarks.forked import for_each
from tests.benchmarks.loaded_files import ASSUMED, GHOST, PLAIN, TABLE, Verdict, judge
from tests.benchmarks.reading import read_modules

#: At least so many percent of all files.
BARS = {"imported": 99.5, "no def lost": 99.0, "no flag a ghost": 97.0}

#: With real siblings: every which file.
REAL_STEP = 10


class Job(NamedTuple):
    """One file to load."""

    corpus: Corpus
    path: str
    real: tuple[str, ...] = ()


class Rate(NamedTuple):
    """The verdicts on the files of one project, and how long they took."""

    project: str
    verdicts: list[Verdict]
    seconds: float

    @property
    def shares(self) -> dict[str, float]:
        """The percentage of files behind each bar."""
        imported = [verdict for verdict in self.verdicts if not verdict.error]
        whole = [verdict for verdict in imported if not verdict.lost]
        plain = [verdict for verdict in imported if GHOST not in dict(verdict.flags).values()]
        counts = (len(imported), len(whole), len(plain))
        return {
            bar: 100 * count / (len(self.verdicts) or 1)
            for bar, count in zip(BARS, counts, strict=True)
        }

    def flags(self, kind: str) -> int:
        """How many flag-like names hold what comes from there."""
        return sum(list(dict(verdict.flags).values()).count(kind) for verdict in self.verdicts)


def measure(project: str, jobs: Sequence[Job], processes: int) -> Rate:
    """Load every file in a process of its own."""
    started = time.perf_counter()
    verdicts = list(for_each(jobs, _judge, _died, processes))
    seconds = time.perf_counter() - started
    return Rate(project, sorted(verdicts, key=lambda verdict: verdict.path), seconds)


def _judge(job: Job) -> Verdict:
    return judge(job.corpus.root, job.path, job.real)


def _died(job: Job, end: str) -> Verdict:
    return Verdict(job.path, error=end)


def print_table(rates: Sequence[Rate]) -> None:
    """Print one line for each project, and one for all."""
    heads = [
        "project",
        "files",
        *BARS,
        "files/s",
        "flags",
        "answered",
        "assumed",
        "ghosts",
        "plain",
    ]
    print(" | ".join(f"{head:>15}" for head in heads))
    for rate in rates:
        kinds = [rate.flags(kind) for kind in (TABLE, ASSUMED, GHOST, PLAIN)]
        cells = [rate.project, len(rate.verdicts), *(f"{x:.1f} %" for x in rate.shares.values())]
        cells += [f"{len(rate.verdicts) / (rate.seconds or 1):.0f}", sum(kinds), *kinds]
        print(" | ".join(f"{cell!s:>15}" for cell in cells))


def print_remaining(rates: Iterable[Rate]) -> None:
    """List the files that fall short, each with its cause."""
    for verdict in (verdict for rate in rates for verdict in rate.verdicts):
        ghosts = [name for name, kind in verdict.flags if kind == GHOST]
        if verdict.error:
            print(f"not imported: {verdict.path}: {verdict.error}")
        if verdict.lost:
            print(f"def lost: {verdict.path}: {', '.join(verdict.lost)}")
        if ghosts:
            print(f"flag a ghost: {verdict.path}: {', '.join(ghosts)}")
        for complaint in verdict.broken:
            print(f"not as it must be: {verdict.path}: {complaint}")


def print_assumptions(rates: Iterable[Rate]) -> None:
    """Print how many answers were assumed, and the questions asked most often."""
    questions = Counter(
        assumption.partition(": ")[2]
        for rate in rates
        for verdict in rate.verdicts
        for assumption in verdict.assumptions
    )
    print(f"{questions.total()} answers were assumed; most often:")
    for question, count in questions.most_common(15):
        print(f"  {count:4} {question}")


def report(title: str, rates: list[Rate]) -> bool:
    """Print table and list; return whether every bar is reached and nothing else is wrong."""
    verdicts = [verdict for rate in rates for verdict in rate.verdicts]
    total = Rate("all", verdicts, sum(rate.seconds for rate in rates))
    print_remaining(rates)
    print_assumptions(rates)
    print(f"\n{title}: ")
    print_table([*rates, total])
    missed = [f"{bar} ({least} %)" for bar, least in BARS.items() if total.shares[bar] < least]
    broken = sum(bool(verdict.broken) for verdict in verdicts)
    if missed:
        print(f"missed: {', '.join(missed)}")
    print(f"text compiled as it is, run once, sys.modules put back: {len(verdicts) - broken} files")
    return not missed and not broken


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lists", type=Path, help="folder with corpus_<project>.txt")
    parser.add_argument("--projects", default="", help="names, separated by commas")
    parser.add_argument("--source", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--real", action="store_true", help="also with real small siblings")
    parser.add_argument("--read", type=int, default=0, metavar="N", help="compare N with source")
    parser.add_argument("--only", default="", help="only paths that contain this")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args(words)


def _real(corpus: Corpus) -> tuple[Corpus, list[Job]]:
    some = corpus.paths[::REAL_STEP]
    return corpus, [Job(corpus, path, small_siblings(corpus.root, path)) for path in some]


def main(words: Sequence[str] | None = None) -> int:
    """Print the figures; return 1 when a bar is missed."""
    chosen = _arguments(words)
    corpora = find_corpora(chosen.lists, chosen.projects, chosen.source, chosen.only)

    def run(corpus: Corpus, jobs: list[Job]) -> Rate:
        return measure(corpus.project, jobs, chosen.processes)

    good = report(
        "siblings are ghosts",
        [run(corpus, [Job(corpus, path) for path in corpus.paths]) for corpus in corpora],
    )
    if chosen.real:
        good &= report("small siblings are real", [run(*pair) for pair in map(_real, corpora)])
    if chosen.read:
        good &= read_modules(corpora, chosen.read, chosen.processes)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
