"""The clauses of a contract, in the order in which they are reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from pytest_sm120.contracts import initial_value, layout, residence, reuse
from pytest_sm120.contracts.results import ClauseResult, result_of
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.contracts.verdicts import NOT_ASKED_FOR, Verdict


class Clause(NamedTuple):
    """One promise of a contract, and the function that judges it."""

    #: How reports name it.
    name: str
    #: Returns a Finding, the reason why it cannot tell, or None when the clause holds. It is given
    #: what was seen: for the clauses of a Scratch a seen.Seen.
    judge: Callable[[Any], Verdict]
    #: Whether only a consumer that reads what nobody wrote makes it matter.
    is_hazard: bool = False
    #: The field of the contract without which it is not judged; empty where it always is.
    asked_by: str = ""


def judge_each(clauses: Iterable[Clause], seen: Any) -> list[ClauseResult]:
    """Return the outcome of each clause on what was seen of a contract."""
    return [
        result_of(clause.name, _judge(clause, seen), is_hazard=clause.is_hazard)
        for clause in clauses
    ]


def _judge(clause: Clause, seen: Any) -> Verdict:
    if clause.asked_by and not getattr(seen.contract, clause.asked_by):
        return f"{NOT_ASKED_FOR} ({clause.asked_by}={getattr(seen.contract, clause.asked_by)!r})"
    return clause.judge(seen)


def _later(name: str) -> Callable[[Any], Verdict]:
    """Return a judge whose module is read when the contract asks for it: few contracts do."""

    def judge(seen: Any) -> Verdict:
        from pytest_sm120.contracts import further_clauses

        verdict: Verdict = getattr(further_clauses, name)(seen)
        return verdict

    return judge


_FURTHER: tuple[Clause, ...] = (
    Clause("one per stream", _later("judge_streams"), asked_by="per_stream"),
    Clause("one per dtype", _later("judge_dtypes"), asked_by="per_dtype"),
    Clause("one for every spelling", _later("judge_spellings"), asked_by="any_spelling"),
    Clause("kept alive for graphs", _later("judge_graphs"), asked_by="outlives_graphs"),
    Clause(
        "not grown under capture", _later("judge_captured_growth"), asked_by="grows_outside_capture"
    ),
    Clause("not handed out", _later("judge_returned"), asked_by="private"),
)

CLAUSES: tuple[Clause, ...] = (
    Clause("initial value", initial_value.judge_initial_value, is_hazard=True),
    Clause("dtype", layout.judge_dtype),
    Clause("shape", layout.judge_shape),
    Clause("registered under its key", residence.judge_key),
    Clause("reuse on same size", reuse.judge_reuse_on_same_size),
    Clause("reuse on smaller size", reuse.judge_reuse_on_smaller_size),
    Clause("growth re-allocates", reuse.judge_growth),
    Clause("growth initial value", initial_value.judge_initial_value_on_growth, is_hazard=True),
    Clause("growth dtype", layout.judge_dtype_on_growth),
    Clause("growth shape", layout.judge_shape_on_growth),
    Clause("never shrinks", reuse.judge_shrinking),
    Clause("one per device", residence.judge_one_per_device),
    Clause("device follows the input", residence.judge_device),
    Clause("reuse under capture", reuse.judge_reuse_under_capture),
    Clause(
        "cleared on every call", initial_value.judge_clearing, True, asked_by="cleared_each_call"
    ),
    Clause("not allocated in inference mode", residence.judge_inference_mode),
    *_FURTHER,
)


def asks_for_more(contract: Scratch) -> bool:
    """Return whether a contract asks for calls besides those that every contract has."""
    return any(getattr(contract, clause.asked_by) for clause in _FURTHER)


#: Judged only with ``thorough=True``, by any_order.py.
ANY_ORDER = "any order of calls"
