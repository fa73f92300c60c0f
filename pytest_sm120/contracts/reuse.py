"""Clauses on when a buffer is allocated again, and when not."""

from __future__ import annotations

from math import prod

from pytest_sm120.contracts.byte_counts import bytes_in_words
from pytest_sm120.contracts.keys import show_key
from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep
from pytest_sm120.contracts.verdicts import NOT_FOUND, Verdict
from pytest_sm120.findings import Finding


def judge_reuse_on_same_size(seen: Seen) -> Verdict:
    """Judge whether a second call of the same size allocates again."""
    return _judge_reuse("reuse on same size", "same", seen)


def judge_reuse_on_smaller_size(seen: Seen) -> Verdict:
    """Judge whether a smaller call allocates again."""
    return _judge_reuse("reuse on smaller size", "smaller", seen)


def judge_reuse_under_capture(seen: Seen) -> Verdict:
    """Judge whether a call allocates again while a CUDA graph is captured."""
    if any(step is not None and step.new for step in (seen.step("same"), seen.step("smaller"))):
        return "the buffer is allocated again without capture, too"
    other = seen.step("second device")
    if other is not None and other.took_other_key:
        return 'the other device took its place (see "one per device")'
    return _judge_reuse("reuse under capture", "back", seen)


def _judge_reuse(code: str, name: str, seen: Seen) -> Verdict:
    step = seen.step(name)
    if seen.first is None:
        return NOT_FOUND
    if step is None:
        return seen.why_missing(name)
    before = step.before or seen.first
    if step.new is None:
        return _explain_temporary(code, seen.first, step, before)
    return _explain_reuse(code, step, step.new, before)


def _explain_temporary(code: str, first: Buffer, step: SeenStep, before: Buffer) -> Finding | None:
    """Tell of a step that works in a temporary like the first buffer, and leaves the kept one."""
    if step.first_use(before.allocation.view.storage) is not None:
        return None
    for made in step.allocations:
        use = step.first_use(made.view.storage)
        if use is not None and made.dtype == first.allocation.dtype and made.bytes >= first.bytes:
            return Finding(
                code,
                made.site,
                f"{made.function} allocates {made.view} with {made.call} in {step.plan}, and"
                f" {use.text} with it ({use.record.site}), though {_sized(before)} were kept.",
                "A persistent buffer that later calls do not use is memory for nothing.",
                "Take the buffer that is kept under the key.",
            )
    return None


def _explain_reuse(code: str, step: SeenStep, new: Buffer, before: Buffer) -> Finding:
    captured = step.plan.mode == "capture"
    limit = (
        "Memory that is allocated during capture belongs to that graph alone."
        if captured
        else "A persistent buffer is allocated once, and again only to grow."
    )
    return Finding(
        code,
        new.allocation.site,
        f"{new.text} again ({_sized(new)}) in {step.plan}{', under capture' if captured else ''},"
        f" though {_sized(before)} were there.",
        limit,
        "Allocate only when nothing is kept under the key or the kept buffer is smaller than what"
        " the call needs.",
    )


def _sized(buffer: Buffer) -> str:
    return f"{bytes_in_words(buffer.bytes)} in the shape {buffer.kept.shape}"


def judge_growth(seen: Seen) -> Verdict:
    """Judge whether a call that needs more than is there allocates."""
    step = seen.step("larger")
    if seen.first is None:
        return NOT_FOUND
    if step is None:
        return seen.why_missing("larger")
    if step.new is not None or step.before is None:
        return None
    return _judge_missing_growth(seen, step, step.before)


def _judge_missing_growth(seen: Seen, step: SeenStep, kept: Buffer) -> Verdict:
    wanted = seen.contract.shape_at(step.plan.size)
    if wanted is None:
        return "the contract names no shape, so what a larger call needs is not known"
    if prod(wanted) <= prod(kept.kept.shape):
        return f"a call of size {step.plan.size} needs no more than is there; pass larger sizes"
    made = kept.allocation
    return Finding(
        "growth re-allocates",
        made.site,
        f"{made.function} keeps {show_key(kept.key)} in the shape {kept.kept.shape} for"
        f" {step.plan}, which needs {wanted}.",
        "A launch that is sized for the call writes past the end of the buffer.",
        "Allocate again when the kept buffer is smaller than what the call needs.",
    )


def judge_shrinking(seen: Seen) -> Verdict:
    """Judge whether a buffer is ever replaced by a smaller one."""
    if seen.first is None:
        return NOT_FOUND
    for step in _before_other_device(seen):
        new, before = step.new, step.before
        if new is not None and before is not None and new.bytes < before.bytes:
            return _explain_shrinking(step, new, before)
    return None if seen.step("smaller") else seen.why_missing("smaller")


def _before_other_device(seen: Seen) -> list[SeenStep]:
    # On the way back, a key without the device and a guard with != look the same.
    return [step for step in seen.steps if step.name in ("same", "smaller", "larger")]


def _explain_shrinking(step: SeenStep, new: Buffer, before: Buffer) -> Finding:
    made = new.allocation
    return Finding(
        "never shrinks",
        made.site,
        f"{made.function} replaces {show_key(new.key)} of {bytes_in_words(before.bytes)} by one of"
        f" {bytes_in_words(new.bytes)} in {step.plan}.",
        "Sizes that alternate then allocate on every call.",
        "Allocate again only when the kept buffer is too small: compare with <, not with !=.",
    )
