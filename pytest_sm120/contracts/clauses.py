"""The clauses of a contract, in the order in which they are reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pytest_sm120.contracts import initial_value, layout, residence, reuse
from pytest_sm120.contracts.seen import Seen
from pytest_sm120.contracts.verdicts import Verdict


class Clause(NamedTuple):
    """One promise of a contract, and the function that judges it."""

    #: How reports name it.
    name: str
    #: Returns a Finding, the reason why it cannot tell, or None when the clause holds.
    judge: Callable[[Seen], Verdict]
    #: Whether only a consumer that reads what nobody wrote makes it matter.
    is_hazard: bool = False


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
    Clause("cleared on every call", initial_value.judge_clearing, is_hazard=True),
    Clause("not allocated in inference mode", residence.judge_inference_mode),
)

#: Judged only with ``thorough=True``, by any_order.py.
ANY_ORDER = "any order of calls"
