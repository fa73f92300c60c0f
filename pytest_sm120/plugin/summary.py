"""The report header and the terminal summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from pytest_sm120 import __version__
from pytest_sm120.plugin.settings import read_settings
from pytest_sm120.tiers.choose import TIERS, Availability, find_availability


def describe_settings(config: pytest.Config) -> list[str]:
    """Return the header lines: tiers that run here, the arch, the root, and why others do not."""
    settings = read_settings(config)
    every = [find_availability(tier) for tier in TIERS]
    runs = ", ".join(tier.tier for tier in every if tier.runs)
    first = f"sm120: {__version__}, tiers {runs}; arch {settings.arch.name}; root {settings.root}"
    return [first, *describe_absent(every)]


def describe_absent(every: Iterable[Availability]) -> list[str]:
    """Return one line with the tiers that cannot run here and why, or none when all can."""
    by_cause: dict[str, list[str]] = {}
    for available in every:
        if not available.runs:
            by_cause.setdefault(available.short_cause, []).append(available.tier)
    absent = "; ".join(f"{', '.join(tiers)} ({cause})" for cause, tiers in by_cause.items())
    return [f"sm120: cannot run here: {absent}; see sm120 doctor"] if absent else []


def write_summary(reporter: pytest.TerminalReporter) -> None:
    """Write one line with the counts, and one for each cost of a fix."""
    every = [report for reports in reporter.stats.values() for report in reports]
    uses = [report.sm120 for report in every if hasattr(report, "sm120")]
    lines = [*(summary_lines(uses) if uses else []), *_skips_by_tier(every)]
    if lines:
        reporter.write_sep("-", "sm120")
        for line in lines:
            reporter.write_line(line)


def _skips_by_tier(reports: Iterable[Any]) -> list[str]:
    """Return one line for each reason why tests of ours were skipped before they began."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: sm120: ")
        for report in reports
        if getattr(report, "skipped", False)
        and isinstance(report.longrepr, tuple)
        and report.longrepr[2].startswith("Skipped: sm120: ")
        and not hasattr(report, "sm120")
    )
    return [f"{_count(number, 'test')} skipped: {reason}" for reason, number in reasons.items()]


def summary_lines(uses: Sequence[dict[str, Any]]) -> list[str]:
    """Return the summary of what all tests together did."""
    targets = {target for use in uses for target in use["targets"]}
    assumptions = {assumption for use in uses for assumption in use["assumptions"]}
    counts = [
        _count(len(targets), "target") + " loaded",
        _count(sum(use["contracts"] for use in uses), "contract") + " checked",
        _count(sum(use["clauses_broken"] for use in uses), "clause") + " broken",
        _count(len(assumptions), "assumption") + " made",
    ]
    unjudged = sum(use["clauses_not_judged"] for use in uses)
    if unjudged:
        counts.insert(3, f"{unjudged} not judged")
    costs = dict.fromkeys(cost for use in uses for cost in use["costs"])
    return [f"{_describe_tests(uses)}: {', '.join(counts)}", *costs]


def _describe_tests(uses: Sequence[dict[str, Any]]) -> str:
    ran = Counter(use["tier"] for use in uses if not use["skipped"])
    parts = [f"{ran[tier]} in {tier}" for tier in TIERS if ran[tier]]
    skipped = len(uses) - sum(ran.values())
    parts += [f"{skipped} skipped"] if skipped else []
    return f"{_count(len(uses), 'test')} ({', '.join(parts)})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
