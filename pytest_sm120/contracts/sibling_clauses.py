"""The clauses on buffers that one owner keeps side by side: what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_sm120.contracts.byte_ranges import merge, ranges_of
from pytest_sm120.contracts.clauses import Clause, judge_each
from pytest_sm120.contracts.keys import rank_of_key, show_key
from pytest_sm120.contracts.looking import KeysByStorage, kept_in, keys_by_storage
from pytest_sm120.contracts.results import ClauseResult, result_of
from pytest_sm120.contracts.seen import Buffer, SeenStep
from pytest_sm120.contracts.siblings import Siblings
from pytest_sm120.contracts.steps import Driven, DrivenStep, PlannedStep, why_left_out
from pytest_sm120.contracts.verdicts import NO_GROWTH, NOT_ASKED_FOR, Verdict
from pytest_sm120.errors import UsageError
from pytest_sm120.findings import Finding
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.records import Fill

#: Said where not every sibling was found.
NOT_ALL_FOUND = 'not all of them were found (see "kept under their keys")'


class SeenSiblings(NamedTuple):
    """Everything that the clauses on siblings judge."""

    contract: Siblings
    #: For each driven call, what was seen of each sibling.
    steps: tuple[tuple[SeenStep, ...], ...]
    #: What the first call kept, under whatever key.
    kept_first: tuple[Buffer, ...]
    #: Why steps are missing, by the step's name.
    missing: dict[str, str]

    @property
    def all_found(self) -> bool:
        """Whether the first call kept every sibling."""
        return bool(self.steps) and all(seen.new for seen in self.steps[0])

    def step(self, name: str) -> tuple[SeenStep, ...] | str:
        """Return what was seen in the step of this name, or why that is not known."""
        if not self.all_found:
            return NOT_ALL_FOUND
        found = [step for step in self.steps if step[0].name == name]
        return found[0] if found else self.missing[name]


def judge_siblings(
    contract: Siblings, plans: list[PlannedStep], driven: Driven, recording: Recording
) -> list[ClauseResult]:
    """Judge every clause on the contract's siblings.

    Raises UsageError when ``may_differ`` names no clause.
    """
    _refuse_unknown_clauses(contract)
    if not driven.steps:
        reason = why_left_out(plans, driven)["first"]
        return [result_of(clause.name, reason) for clause in SIBLING_CLAUSES]
    seen = _look_at_siblings(contract, plans, driven, recording)
    allowed = f"{NOT_ASKED_FOR} (may_differ={list(contract.may_differ)!r})"
    return [
        result_of(result.name, allowed) if result.name in contract.may_differ else result
        for result in judge_each(SIBLING_CLAUSES, seen)
    ]


def _refuse_unknown_clauses(contract: Siblings) -> None:
    known = [clause.name for clause in SIBLING_CLAUSES]
    for name in contract.may_differ:
        if name not in known:
            raise UsageError(
                f"Siblings(may_differ=) names {name!r}.",
                limit=f"The clauses are: {', '.join(known)}.",
                remedy="Write it as in the report.",
            )


def _look_at_siblings(
    contract: Siblings, plans: list[PlannedStep], driven: Driven, recording: Recording
) -> SeenSiblings:
    keys = keys_by_storage(recording)
    held: dict[tuple[int, str], Buffer] = {}
    steps = tuple(
        tuple(
            _see(at, contract.key_on(key, step.plan.device), step, keys, held)
            for at, key in enumerate(contract.keys)
        )
        for step in driven.steps
    )
    kept_first = tuple(kept_in(driven.steps[0], keys))
    return SeenSiblings(contract, steps, kept_first, why_left_out(plans, driven))


def _see(
    at: int, key: object, step: DrivenStep, keys: KeysByStorage, held: dict[tuple[int, str], Buffer]
) -> SeenStep:
    ranked = [(rank_of_key(buffer.key, key), buffer) for buffer in kept_in(step, keys)]
    found = [buffer for wanted in (1, 0) for rank, buffer in ranked if rank == wanted]
    new, before = (found[-1] if found else None), held.get((at, str(key)))
    if new is not None:
        held[at, str(key)] = new
    return SeenStep(step.plan, tuple(step.step.records()), new, before)


def judge_keys(seen: SeenSiblings) -> Verdict:
    """Judge whether the first call kept every sibling."""
    names = seen.contract.names
    lost = [name for name, step in zip(names, seen.steps[0], strict=True) if not step.new]
    if not lost:
        return None
    kept = [f"{show_key(each.key)} ({each.allocation.site})" for each in seen.kept_first]
    return Finding(
        "kept under their keys",
        seen.kept_first[0].allocation.site if seen.kept_first else "",
        f"{seen.steps[0][0].plan} kept nothing under {' and '.join(lost)}, but"
        f" {', '.join(kept) or 'nothing at all'}.",
        "Buffers are found where they are looked up.",
        "Correct the contract's keys=, or keep them in a dict that sm120.registry() made, in an"
        " object given to sm120.watch, or in a global of the target.",
    )


def judge_guards(seen: SeenSiblings) -> Verdict:
    """Judge whether a sibling is born in inference mode."""
    if seen.contract.allow_inference:
        return f"{NOT_ASKED_FOR} (allow_inference=True)"
    for step in seen.steps:
        made = [new for _, new in _made_in(step)]
        if any(buffer.allocation.inference for buffer in made):
            return _explain_inference(made)
    return None if seen.all_found else NOT_ALL_FOUND


def _explain_inference(made: Sequence[Buffer]) -> Finding:
    first, *others = [buffer for buffer in made if buffer.allocation.inference]
    guarded = [show_key(each.key) for each in made if not each.allocation.inference]
    besides = f", and {guarded[0]} is allocated outside it" if guarded else ""
    likewise = f" So is {' and '.join(show_key(each.key) for each in others)}." if others else ""
    return Finding(
        "guarded alike",
        first.allocation.site,
        f"{first.text} in inference mode{besides}.{likewise}",
        "It outlives that mode, and torch refuses to write into it outside (zero_(), copy_()).",
        "Allocate each of them under torch.inference_mode(False), or set allow_inference=True when"
        " only kernels write them.",
    )


def _made_in(step: Sequence[SeenStep]) -> list[tuple[int, Buffer]]:
    """Return (position among the siblings, buffer) for each that the step allocated."""
    return [(at, each.new) for at, each in enumerate(step) if each.new is not None]


def judge_resets(seen: SeenSiblings) -> Verdict:
    """Judge whether a call that sets all of one sibling anew does so with each."""
    if not seen.all_found:
        return NOT_ALL_FOUND
    for step in seen.steps:
        kept = [(each, each.before) for each in step if each.before and not each.new]
        reset = [_writes_before_use(each, buffer) for each, buffer in kept]
        for (_, done), fills in zip(kept, reset, strict=True):
            stale = [kept[at][1] for at, others in enumerate(reset) if fills and not others]
            if stale:
                return _explain_stale(step[0].plan, done, fills[0], stale[0])
    return None


def _writes_before_use(step: SeenStep, buffer: Buffer) -> list[Fill]:
    """Return host code's writes before a launch or a call takes the buffer, if they cover it."""
    made = buffer.allocation
    use = step.first_use(made.view.storage)
    last = step.records[-1:] if use is None else [use.record]
    fills = [
        fill
        for record in last
        for fill in step.fills_before(made.view.storage, record.order + (use is None))
        if fill.op in _RESETS or (fill.op == "__setitem__" and fill.value is not None)
    ]
    written = merge(part for fill in fills for part in ranges_of(fill.view))
    return fills if written == [(0, made.bytes)] else []


# What leaves nothing of the old contents. Setting items may reach some of them only, unless it
# sets one number.
_RESETS = frozenset({"zero_", "fill_", "copy_"})


def _explain_stale(plan: PlannedStep, done: Buffer, fill: Fill, stale: Buffer) -> Finding:
    return Finding(
        "reset alike",
        fill.site,
        f"{fill.function} sets all of {show_key(done.key)} anew in {plan}, and not all of"
        f" {show_key(stale.key)}.",
        "What a larger call left in the other is still there, beside the new values of the one.",
        f"Reset {show_key(stale.key)} in the same place, too.",
    )


def judge_devices(seen: SeenSiblings) -> Verdict:
    """Judge whether each sibling has a buffer of its own on the second device."""
    step = seen.step("second device")
    if isinstance(step, str):
        return step
    own = [(at, new) for at, new in _made_in(step) if new.allocation.device == step[0].plan.device]
    shared = [name for at, name in enumerate(seen.contract.names) if at not in dict(own)]
    if not shared:
        return None
    made = [show_key(new.key) for _, new in own]
    besides = f", though it makes {' and '.join(made)}" if made else ""
    return Finding(
        "one each per device",
        own[0][1].allocation.site if own else "",
        f"The call on {step[0].plan.device} makes no buffer there for {' and '.join(shared)}"
        f"{besides}.",
        "A kernel cannot follow a pointer into the other device's memory.",
        "Put the device into every key.",
    )


def judge_growth(seen: SeenSiblings) -> Verdict:
    """Judge whether a larger call that replaces one sibling replaces each."""
    step = seen.step("larger")
    if isinstance(step, str):
        return step
    grown = dict(_made_in(step))
    left = [name for at, name in enumerate(seen.contract.names) if at not in grown]
    if not grown:
        return NO_GROWTH
    return _explain_growth(step[0].plan, list(grown.values())[0], left) if left else None


def _explain_growth(plan: PlannedStep, new: Buffer, left: Sequence[str]) -> Finding:
    return Finding(
        "grow together",
        new.allocation.site,
        f"{new.text} again in {plan}, and {' and '.join(left)} stays as it was.",
        "What describes the larger call has no room in the smaller buffer.",
        "Let one guard decide for all of them.",
    )


SIBLING_CLAUSES: tuple[Clause, ...] = (
    Clause("kept under their keys", judge_keys),
    Clause("guarded alike", judge_guards),
    Clause("reset alike", judge_resets),
    Clause("one each per device", judge_devices),
    Clause("grow together", judge_growth),
)
