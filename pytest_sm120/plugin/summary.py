"""The report header and the terminal summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from pytest_sm120 import __version__
from pytest_sm120.plugin.settings import read_settings
from pytest_sm120.tiers.choose import TIERS, find_availability


def describe_settings(config: pytest.Config) -> list[str]:
    """Return the header lines: tiers that run here, the arch, the root, and why others do not."""
    settings = read_settings(config)
    every = [find_availability(tier) for tier in TIERS]
    runs = ", ".join(tier.tier for tier in every if tier.runs)
    absent = ", ".join(tier.tier for tier in every if not tier.runs)
    return [
        f"sm120: {__version__}, tiers {runs}; arch {settings.arch.name}; root {settings.root}",
        f"sm120: tiers {absent} cannot run here (why: sm120 doctor)",
    ]


def write_summary(reporter: pytest.TerminalReporter) -> None:
    """Write one line with the counts, and one for each cost of a fix."""
    uses = [report.sm120 for report in _reports(reporter) if hasattr(report, "sm120")]
    if any(use["targets"] for use in uses):
        reporter.section("sm120", sep="-")
        for line in summary_lines(uses):
            reporter.write_line(line)


def _reports(reporter: pytest.TerminalReporter) -> Iterator[Any]:
    for reports in reporter.stats.values():
        yield from reports


def summary_lines(uses: Iterable[dict[str, Any]]) -> list[str]:
    """Return the summary of what all tests together did."""
    uses = list(uses)
    targets = {target for use in uses for target in use["targets"]}
    assumptions = {assumption for use in uses for assumption in use["assumptions"]}
    tiers = Counter(use["tier"] for use in uses)
    by_tier = ", ".join(f"{tiers[tier]} in {tier}" for tier in TIERS if tiers[tier])
    counts = [
        _count(len(targets), "target") + " loaded",
        _count(sum(use["contracts"] for use in uses), "contract") + " checked",
        _count(sum(use["clauses_broken"] for use in uses), "clause") + " broken",
        _count(len(assumptions), "assumption") + " made",
    ]
    costs = dict.fromkeys(cost for use in uses for cost in use["costs"])
    return [f"{_count(len(uses), 'test')} ({by_tier}): {', '.join(counts)}", *costs]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
