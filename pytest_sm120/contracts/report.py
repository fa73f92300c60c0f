"""The text of a broken contract, for a maintainer in a hurry."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sm120.contracts.keys import describe
from pytest_sm120.contracts.results import ClauseResult, ContractResult
from pytest_sm120.contracts.steps import Driven


def report_of(result: ContractResult, ending: str = "") -> str:
    """Return the headline, each finding in a paragraph of its own, the hazard and the cost.

    ``ending`` is what cut the check short, or an empty text.
    """
    broken = [clause for clause in result.clauses if clause.outcome == "broken"]
    unfinished = f"The contract for {result.title} could not be judged to the end."
    headline = result.headline if broken else unfinished
    paragraphs = [headline, ending, *_numbered(broken)]
    if any(clause.is_hazard for clause in broken):
        paragraphs.append("\n".join([*_hazard_line(result), *result.cost_lines]))
    if not ending:
        paragraphs += _unjudged(result)
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _unjudged(result: ContractResult) -> list[str]:
    """Return a paragraph that names what was not judged, by reason; none when all was."""
    by_reason: dict[str, list[str]] = {}
    for clause in result.unjudged:
        by_reason.setdefault(clause.reason, []).append(clause.name)
    lines = [f"{', '.join(names)} ({reason})" for reason, names in by_reason.items()]
    return [f"Not judged: {'; '.join(lines)}."] if lines else []


def _numbered(broken: Sequence[ClauseResult]) -> list[str]:
    return [
        f"{number}. {clause.name}: {clause.finding.message}"
        for number, clause in enumerate(broken, start=1)
        if clause.finding is not None
    ]


def _hazard_line(result: ContractResult) -> list[str]:
    return [f"Hazard: {result.hazard.explanation}"] if result.hazard else []


def explain_ending(driven: Driven) -> str:
    """Return what cut the driving short, or an empty text."""
    if driven.failed is None or driven.error is None:
        return ""
    return (
        f"In {driven.failed} drive raised {describe(driven.error)}. That call and those after it"
        f" were not judged."
    )
