"""The clauses of a Scratch that only some contracts ask for, and the calls that they need."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sm120.contracts.keys import show_key
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep
from pytest_sm120.contracts.steps import PlannedStep
from pytest_sm120.contracts.verdicts import NOT_FOUND, Verdict
from pytest_sm120.findings import Finding
from pytest_sm120.tensors.devices import Device

_OTHER_STREAM = "other stream"
_OTHER_DTYPE = "other dtype"
_SPELLINGS = ("device object", "device without index")
_GROWTH = "growth under a graph"
_CAPTURED_GROWTH = "growth under capture"


def more_steps(contract: Scratch, plans: Sequence[PlannedStep]) -> list[PlannedStep]:
    """Return the calls that the contract asks for; those that grow come last."""
    like = plans[0]._replace(mode="ordinary")
    steps: list[PlannedStep] = []
    if contract.per_stream:
        steps.append(like._replace(name=_OTHER_STREAM, mode="other stream"))
    if contract.per_dtype:
        steps.append(like._replace(name=_OTHER_DTYPE, keywords={"dtype": contract.per_dtype}))
    if contract.any_spelling:
        spelled = [Device(like.device), *(["cuda"] if like.device == "cuda:0" else [])]
        steps += [
            like._replace(name=name, spelled=device)
            for name, device in zip(_SPELLINGS, spelled, strict=False)
        ]
    largest = max(plan.size for plan in plans)
    if contract.outlives_graphs:
        steps.append(like._replace(name=_GROWTH, size=2 * largest, may_refuse=True))
    if contract.grows_outside_capture:
        # Twice what the growth before it may have left.
        growth = like._replace(name=_CAPTURED_GROWTH, size=4 * largest, mode="capture")
        steps.append(growth._replace(may_refuse=True))
    return steps


def judge_streams(seen: Seen) -> Verdict:
    """Judge whether a call on another stream works in memory of its own."""
    return _judge_own(
        seen,
        "one per stream",
        _OTHER_STREAM,
        "Two streams that run at the same time overwrite each other's contents.",
        "Put the current stream into the key.",
    )


def judge_dtypes(seen: Seen) -> Verdict:
    """Judge whether a call with another dtype works in memory of its own."""
    return _judge_own(
        seen,
        "one per dtype",
        _OTHER_DTYPE,
        "A kernel that is compiled for the one dtype reads the bytes of the other wrongly.",
        "Put the dtype into the key.",
    )


def _judge_own(seen: Seen, code: str, name: str, limit: str, remedy: str) -> Verdict:
    step = seen.step(name)
    before = (step and step.before) or seen.first
    if before is None:
        return NOT_FOUND
    if step is None:
        return seen.why_missing(name)
    use = step.first_use(before.allocation.view.storage)
    if use is not None:
        return Finding(
            code,
            use.record.site,
            f"{use.record.function} {use.text} with {show_key(before.key)} in {_shown(step)},"
            " the buffer of the calls before.",
            limit,
            remedy,
        )
    return None if step.allocations else f"{step.plan} was given no buffer by any launch or call"


def _shown(step: SeenStep) -> str:
    dtype = step.plan.keywords.get("dtype")
    return f"{step.plan}, which is driven with {dtype}" if dtype else str(step.plan)


def judge_spellings(seen: Seen) -> Verdict:
    """Judge whether a device finds its buffer however it is written."""
    steps = [step for step in seen.steps if step.name in _SPELLINGS]
    if seen.first is None:
        return NOT_FOUND
    for step in steps:
        made = [*([step.new] if step.new else []), *step.lookalikes]
        if made:
            return _explain_spelling(step, made[0])
    return None if steps else seen.why_missing(_SPELLINGS[0])


def _explain_spelling(step: SeenStep, made: Buffer) -> Finding:
    return Finding(
        "one for every spelling",
        made.allocation.site,
        f"{made.text} when the device is given as {step.plan.spelled!r}, though that of"
        f" {step.plan.device} was there.",
        "One device then has two buffers, and what is written to the one is not in the other.",
        "Build the key from the device of a tensor, which always has its index.",
    )


def judge_graphs(seen: Seen) -> Verdict:
    """Judge whether a growth keeps the memory that a captured graph still points at."""
    step = seen.step(_GROWTH)
    if seen.first is None:
        return NOT_FOUND
    if step is None or step.refused:
        return seen.why_missing(_GROWTH) if step is None else None
    if step.new is None or step.before is None:
        return _needs_no_more(step)
    if not step.in_graph:
        return "no launch and no call was given the buffer under capture"
    return _explain_dangling(step, step.new, step.before) if step.freed else None


def _explain_dangling(step: SeenStep, new: Buffer, before: Buffer) -> Finding:
    return Finding(
        "kept alive for graphs",
        new.allocation.site,
        f"{new.text} again in {step.plan}, and nothing holds the memory of"
        f" {before.allocation.view} any longer, which a captured graph points at.",
        "Each replay of that graph writes to memory that belongs to somebody else.",
        "Keep the old buffer in a list beside the new one, or refuse to grow after a capture.",
    )


def judge_captured_growth(seen: Seen) -> Verdict:
    """Judge whether a call under capture keeps memory that it allocates there."""
    step = seen.step(_CAPTURED_GROWTH)
    if seen.first is None:
        return NOT_FOUND
    if step is None:
        return seen.why_missing(_CAPTURED_GROWTH)
    if step.new is None:
        return None if step.refused or step.allocations else _needs_no_more(step)
    return Finding(
        "not grown under capture",
        step.new.allocation.site,
        f"{step.new.text} in {step.plan}, under capture, and keeps it.",
        "Memory that is allocated during capture belongs to that graph alone: later calls, which"
        " find it under the key, write to what the next replay writes to.",
        "Allocate for the largest size before a capture, and refuse to grow during one.",
    )


def _needs_no_more(step: SeenStep) -> str:
    return f"a call of size {step.plan.size} allocated no other buffer"


def judge_returned(seen: Seen) -> Verdict:
    """Judge whether a call returns a view of the buffer."""
    if seen.first is None:
        return NOT_FOUND
    kept_in = [(step, step.current) for step in seen.steps if step.current is not None]
    for step, kept in kept_in:
        if any(view.shares_storage_with(kept.allocation) for view in step.returned):
            return _explain_handed_out(step, kept)
    return None


def _explain_handed_out(step: SeenStep, kept: Buffer) -> Finding:
    return Finding(
        "not handed out",
        kept.allocation.site,
        f"{step.plan} returns a view of {show_key(kept.key)}, which"
        f" {kept.allocation.function} allocates.",
        "The next call overwrites what the caller still holds.",
        "Return a copy, or allocate what is returned anew.",
    )
