"""Checks a contract: drives the calls, judges every clause, reports all that is broken at once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_sm120.contracts.any_order import (
    Deviation,
    refuse_without_hypothesis,
    search_any_order,
)
from pytest_sm120.contracts.clauses import ANY_ORDER, CLAUSES, asks_for_more, judge_each
from pytest_sm120.contracts.consumers import Hazard, check_pins, judge_hazard
from pytest_sm120.contracts.keys import show_key
from pytest_sm120.contracts.looking import find_rivals, look_at
from pytest_sm120.contracts.report import explain_ending, report_of
from pytest_sm120.contracts.residence import find_unnamed
from pytest_sm120.contracts.results import ClauseResult, ContractResult, result_of
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.contracts.seen import Seen
from pytest_sm120.contracts.steps import (
    DEFAULT_DEVICES,
    DEFAULT_SIZES,
    Bench,
    Drive,
    Driven,
    DrivenStep,
    PlannedStep,
    drive_steps,
    plan_steps,
    refuse_held_buffer,
    why_left_out,
)
from pytest_sm120.errors import ContractBroken, HazardWarning, UsageError
from pytest_sm120.recorder.places import find_place

if TYPE_CHECKING:
    from pytest_sm120.contracts.other_contracts import Checked


def check(
    contract: Scratch | Checked,
    drive: Drive | None = None,
    *,
    bench: Bench,
    sizes: Sequence[int] | None = None,
    devices: Sequence[str] | None = None,
    thorough: bool = False,
    versions: Sequence[str] = (),
) -> ContractResult:
    """Drive the code under test and judge every clause of the contract.

    ``drive(size, device)`` calls it once. It is called with the first size, the same, a smaller
    and a larger one, on a second device, and once more on the first, under capture. Shorter
    ``sizes`` and ``devices`` leave calls out; what cannot be judged then is a skipped clause.
    ``thorough`` also tries random orders of calls, with hypothesis. ``versions`` are pins such as
    ``"flashinfer-python==0.6.18"``. Afterwards the holders hold what they held before.

    Raises ContractBroken with all that is broken, and UsageError when nothing could be judged.
    """
    __tracebackhide__ = True
    if not isinstance(contract, Scratch) or drive is None:
        # Read only here: most checks are of a Scratch, and every run waits for what is read.
        from pytest_sm120.contracts.other_contracts import check_other

        return check_other(contract, drive, bench, sizes, devices, thorough)
    plans = plan_steps(
        DEFAULT_SIZES if sizes is None else sizes, DEFAULT_DEVICES if devices is None else devices
    )
    if asks_for_more(contract):
        from pytest_sm120.contracts.further_clauses import more_steps

        plans += more_steps(contract, plans)
    _refuse_what_cannot_be_judged(contract, plans, bench, thorough)
    check_pins(versions)
    driven, seen = _drive_and_look(contract, plans, drive, bench)
    clauses = _judge_clauses(seen)
    deviation = None
    if thorough and driven.error is None:
        last, deviation = _judge_any_order(clauses, contract, plans, drive, bench)
        clauses.append(last)
    result = _result(contract, seen, clauses, _judge_hazard(contract, clauses, versions))
    _conclude(contract, result, driven, deviation)
    return result


def _refuse_what_cannot_be_judged(
    contract: Scratch, plans: Sequence[PlannedStep], bench: Bench, thorough: bool
) -> None:
    for plan in plans:
        contract.shape_at(plan.size)
    refuse_held_buffer(contract, plans, bench)
    if thorough:
        refuse_without_hypothesis()


def _drive_and_look(
    contract: Scratch, plans: Sequence[PlannedStep], drive: Drive, bench: Bench
) -> tuple[Driven, Seen]:
    __tracebackhide__ = True
    restore = bench.save_state()
    try:
        driven = drive_steps(plans, drive, bench)
        seen = look_at(contract, driven, bench.recording, why_left_out(plans, driven))
    finally:
        restore()
    _refuse_no_allocation(contract, driven)
    _refuse_rivals(seen)
    _refuse_one_key_of_several(seen)
    return driven, seen


def _refuse_rivals(seen: Seen) -> None:
    if not seen.steps:
        return
    plan = seen.steps[0].plan
    rivals = find_rivals(seen.contract, seen.kept_first, plan)
    if rivals:
        places = " and ".join(
            f"{each.allocation.view} under {show_key(each.key)} ({each.allocation.site})"
            for each in rivals
        )
        raise UsageError(
            f"Scratch(key=) means {show_key(seen.contract.key_on(plan.device))} on {plan.device},"
            f" and {len(rivals)} buffers are kept there: {places}.",
            limit="A contract is about one buffer, and nothing tells these apart.",
            remedy='Name one to the end, as in key=lambda device: f"...[{device!r}][0]", and'
            " check a contract for each.",
        )


def _refuse_one_key_of_several(seen: Seen) -> None:
    step = seen.step("second device")
    if step is None or not seen.has_one_key:
        return
    unnamed = find_unnamed(seen, step)
    if unnamed is not None:
        home, other = seen.steps[0].plan.device, step.plan.device
        raise UsageError(
            f"Scratch(key=) is {show_key(seen.contract.key_on(home))} on {home} and on {other}, and"
            f" the call on {other} keeps {unnamed.allocation.view} under {show_key(unnamed.key)}"
            f" ({unnamed.allocation.site}).",
            limit="The contract then says nothing about that buffer.",
            remedy=f'Put {{device}} into the key, or pass devices=["{home}"].',
        )


def _refuse_no_allocation(contract: Scratch, driven: Driven) -> None:
    first = driven.steps[0] if driven.steps else None
    if first is None or any(made.bytes for made in first.step.allocations()):
        return
    raise UsageError(
        f"drive allocated nothing in {first.plan}, so there is no buffer to hold to the contract"
        f" for {contract.title}.{_name_ghosts_called(first)}",
        limit="The first call must be the one that allocates; tensors made with sm120.tensor are"
        " inputs and do not count.",
        remedy="Let drive call the function that allocates, in the module that sm120.load returned,"
        " with nothing cached from an earlier call.",
    )


def _name_ghosts_called(first: DrivenStep) -> str:
    """Name what was called though it is not there: it may have answered where a buffer was due."""
    names = dict.fromkeys(call.name for call in first.step.calls())
    if not names:
        return ""
    called = ", ".join(f"{name}()" for name in names)
    return f" It called what is neither loaded nor provided: {called}."


def _judge_clauses(seen: Seen) -> list[ClauseResult]:
    if not seen.steps:
        reason = seen.why_missing("first")
        return [result_of(clause.name, reason, clause.is_hazard) for clause in CLAUSES]
    return judge_each(CLAUSES, seen)


def _judge_any_order(
    clauses: Sequence[ClauseResult],
    contract: Scratch,
    plans: Sequence[PlannedStep],
    drive: Drive,
    bench: Bench,
) -> tuple[ClauseResult, Deviation | None]:
    __tracebackhide__ = True
    if any(clause.outcome == "broken" for clause in clauses):
        return result_of(ANY_ORDER, "the planned calls break the contract already"), None
    sizes = [plan.size for plan in plans]
    devices = dict.fromkeys(plan.device for plan in plans)
    deviation = search_any_order(contract, drive, bench, sizes, list(devices))
    return result_of(ANY_ORDER, deviation.finding if deviation else None), deviation


def _judge_hazard(
    contract: Scratch, clauses: Sequence[ClauseResult], versions: Sequence[str]
) -> Hazard | None:
    """Return what the consumer's version makes of what is broken; None when nothing is."""
    broken = any(clause.outcome == "broken" for clause in clauses)
    return judge_hazard(contract.consumer, versions) if contract.consumer and broken else None


def _result(
    contract: Scratch, seen: Seen, clauses: Sequence[ClauseResult], hazard: Hazard | None
) -> ContractResult:
    first = seen.first
    costs = first is not None and (contract.init != "empty" or contract.cleared_each_call)
    return ContractResult(
        contract.title,
        tuple(clauses),
        first.bytes if first is not None and costs else 0,
        seen.steps[0].plan.size if seen.steps else 0,
        "call" if contract.cleared_each_call else "(re)allocation",
        hazard,
    )


def _conclude(
    contract: Scratch, result: ContractResult, driven: Driven, deviation: Deviation | None
) -> None:
    """Raise or warn about what is broken; return when nothing is."""
    __tracebackhide__ = True
    failing = _without_softened(contract, result)
    ending = explain_ending(driven)
    if failing.findings or driven.error:
        cause = deviation.__cause__ if deviation else driven.error
        raise ContractBroken(report_of(failing, ending), failing) from cause


def _without_softened(contract: Scratch, result: ContractResult) -> ContractResult:
    """Warn about the latent hazards that the contract softens; return the result without them."""
    latent = result.hazard is not None and result.hazard.state == "latent"
    if not (latent and contract.latent == "warn"):
        return result
    softened = _without(result, hazards=False)
    if softened.findings:
        place = find_place()
        warnings.warn_explicit(report_of(softened), HazardWarning, place.path, place.line)
    return _without(result, hazards=True)


def _without(result: ContractResult, *, hazards: bool) -> ContractResult:
    """Leave out what is broken among the hazards, or else among the other clauses."""
    kept = [
        each for each in result.clauses if each.finding is None or each.is_hazard is not hazards
    ]
    return result._replace(clauses=tuple(kept))
