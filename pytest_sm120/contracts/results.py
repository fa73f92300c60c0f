"""What a check found out, clause by clause."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pytest_sm120.contracts.byte_counts import bytes_in_words
from pytest_sm120.contracts.consumers import Hazard
from pytest_sm120.contracts.verdicts import NO_GROWTH, NOT_ASKED_FOR, NOT_FOUND, Verdict
from pytest_sm120.findings import Finding


class ClauseResult(NamedTuple):
    """The outcome of one clause."""

    #: The clause's name, e.g. ``"initial value"``.
    name: str
    #: Whether it holds, is broken, or could not be judged.
    outcome: Literal["held", "broken", "skipped"]
    #: What is broken and where; None unless the outcome is ``"broken"``.
    finding: Finding | None = None
    #: Why it could not be judged; empty unless the outcome is ``"skipped"``.
    reason: str = ""
    #: Whether only a consumer that reads what nobody wrote makes it matter.
    is_hazard: bool = False

    @property
    def detail(self) -> str:
        """The place of a broken clause, the reason of a skipped one."""
        return self.finding.site if self.finding else self.reason


def result_of(name: str, verdict: Verdict, is_hazard: bool = False) -> ClauseResult:
    """Return the outcome that a clause's verdict stands for."""
    if isinstance(verdict, Finding):
        return ClauseResult(name, "broken", finding=verdict, is_hazard=is_hazard)
    if verdict is None:
        return ClauseResult(name, "held", is_hazard=is_hazard)
    return ClauseResult(name, "skipped", reason=verdict, is_hazard=is_hazard)


class ContractResult(NamedTuple):
    """The outcome of a whole contract; ``str()`` is a table with one line for each clause."""

    #: How messages name the contract: its key.
    title: str
    #: Every clause, in the order of the report.
    clauses: tuple[ClauseResult, ...]
    #: What one memset of the first call's buffer writes: the price of the initial value that the
    #: contract asks for; 0 when it asks for none.
    cost_bytes: int = 0
    #: The size of the call that ``cost_bytes`` belongs to.
    cost_size: int = 0
    #: What has that price: each ``"(re)allocation"``, or each ``"call"``.
    cost_of: str = "(re)allocation"
    #: Whether the hazard is live with the version in force; None when nothing is
    #: broken or no consumer is named.
    hazard: Hazard | None = None

    @property
    def findings(self) -> list[Finding]:
        """What is broken, one for each broken clause."""
        return [clause.finding for clause in self.clauses if clause.finding is not None]

    @property
    def cost_lines(self) -> list[str]:
        """What the initial value costs, in one line; none when the contract asks for none."""
        count = self.cost_bytes
        if not count:
            return []
        exact = "" if count < 1024 else f" ({count:,} bytes)"
        return [
            f"Cost of the initial value: one memset of {bytes_in_words(count)}{exact} per"
            f" {self.cost_of}, at size {self.cost_size}."
        ]

    @property
    def judged(self) -> int:
        """How many clauses could be judged."""
        return sum(clause.outcome != "skipped" for clause in self.clauses)

    @property
    def unjudged(self) -> list[ClauseResult]:
        """The clauses that other sizes or devices would show.

        Not those that nobody asked for, nor those that a broken clause has made pointless.
        """
        pointless = {NOT_FOUND, NO_GROWTH} if self.findings else {NOT_FOUND}
        skipped = [clause for clause in self.clauses if clause.outcome == "skipped"]
        asked = [clause for clause in skipped if not clause.reason.startswith(NOT_ASKED_FOR)]
        return [clause for clause in asked if clause.reason not in pointless]

    @property
    def headline(self) -> str:
        """One line: the contract, and how many of how many clauses are broken."""
        broken = len(self.findings)
        if not broken:
            return f"The contract for {self.title} holds in all {self.judged} clauses judged."
        return f"The contract for {self.title} is broken in {broken} of {self.judged} clauses."

    def __str__(self) -> str:
        width = max((len(clause.name) for clause in self.clauses), default=0)
        rows = [
            f"  {clause.outcome:7}  {clause.name:{width}}  {clause.detail}".rstrip()
            for clause in self.clauses
        ]
        return "\n".join([self.headline, *rows])
