"""Clauses on what a buffer holds before a launch takes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_sm120.contracts.byte_counts import bytes_in_words
from pytest_sm120.contracts.scratch import Scratch, show_key
from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep, Use
from pytest_sm120.contracts.verdicts import NO_GROWTH, NOT_ASKED_FOR, NOT_FOUND, Verdict
from pytest_sm120.findings import Finding
from pytest_sm120.recorder.records import Allocation, Fill, TensorView
from pytest_sm120.tensors.layouts import is_dense
from pytest_sm120.tensors.storages import Number

_RECYCLED = "Rows that a launch skips keep what the allocator recycled."
_OTHER_VALUE = "Rows that a launch skips keep that value, and who reads them expects another."
_STALE = "What an earlier call left there is still there."


def judge_initial_value(seen: Seen) -> Verdict:
    """Judge the first buffer of each device."""
    if seen.first is None:
        return NOT_FOUND
    found = [explain_initial_value("initial value", step, seen.contract) for step in seen.firsts]
    return next((finding for finding in found if finding), None)


def judge_initial_value_on_growth(seen: Seen) -> Verdict:
    """Judge the buffer that a larger call allocated in place of a smaller one."""
    step = seen.step("larger")
    if step is None:
        return seen.why_missing("larger")
    if step.new is None or step.before is None:
        return NO_GROWTH
    return explain_initial_value("growth initial value", step, seen.contract)


def judge_clearing(seen: Seen) -> Verdict:
    """Judge whether each call sets what the first launch is given of the buffer."""
    if not seen.contract.cleared_each_call:
        return f"{NOT_ASKED_FOR} (cleared_each_call=False)"
    if seen.first is None:
        return NOT_FOUND
    uses = [(step, buffer, use) for step, buffer, use in _uses(seen) if use is not None]
    for step, buffer, use in uses:
        if not _is_cleared(step, buffer, use, seen.contract):
            return _explain_clearing(step, buffer, use, seen.contract)
    return None if uses else "no launch and no call was given the buffer"


def _uses(seen: Seen) -> Iterable[tuple[SeenStep, Buffer, Use | None]]:
    for step in seen.steps:
        if step.current is not None:
            yield step, step.current, step.first_use(step.current.allocation.view.storage)


def is_value(value: object, wanted: Number) -> bool:
    """Return whether two numbers are the same; NaN is the same as NaN."""
    return value == wanted or (value is not None and value != value and wanted != wanted)


def explain_initial_value(code: str, step: SeenStep, contract: Scratch) -> Finding | None:
    """Return what is wrong with the contents of the step's new buffer, None when nothing is."""
    if step.new is None or _is_set(step, step.new.allocation, contract):
        return None
    grows = f" when it grows to {bytes_in_words(step.new.bytes)}" if step.before else ""
    if contract.init == "empty":
        return _explain_waste(code, step.new, grows)
    return _explain_contents(code, step, step.new, grows, contract)


def _is_set(step: SeenStep, made: Allocation, contract: Scratch) -> bool:
    """Return whether the step's new buffer got the contract's initial value in time."""
    if contract.init == "empty":
        return made.uninitialized
    return is_value(made.fill, contract.value) or _is_covered(
        made.view, _fills_in_time(step, made, contract.value)
    )


def _fills_in_time(step: SeenStep, made: Allocation, value: Number) -> list[Fill]:
    use = step.first_use(made.view.storage)
    order = step.records[-1].order + 1 if use is None else use.record.order
    fills = step.fills_before(made.view.storage, order)
    return [fill for fill in fills if _sets(fill, value, made.dtype)]


def _sets(fill: Fill, value: Number, dtype: str) -> bool:
    # Bytes of another dtype are the same value only when that is zero.
    same_bits = fill.view.dtype == dtype or value == 0
    dense = is_dense(fill.view.shape, fill.view.strides)
    return same_bits and dense and is_value(fill.value, value)


def _is_covered(view: TensorView, fills: Sequence[Fill]) -> bool:
    low, high = view.byte_range
    for start, end in sorted(fill.view.byte_range for fill in fills):
        if start <= low:
            low = max(low, end)
    return low >= high


def _is_cleared(step: SeenStep, buffer: Buffer, use: Use, contract: Scratch) -> bool:
    made = buffer.allocation
    if step.new is buffer and is_value(made.fill, contract.value):
        return True
    return _is_covered(use.view, _fills_in_time(step, made, contract.value))


def _explain_contents(
    code: str, step: SeenStep, buffer: Buffer, grows: str, contract: Scratch
) -> Finding:
    made = buffer.allocation
    seen = "" if made.uninitialized else f", which sets {_shown(made.fill)}"
    partly = _explain_partial(step, made, contract)
    return Finding(
        code,
        made.site,
        f"{buffer.text}{seen}{grows}{partly}; the contract asks for {_asked(contract)}.",
        _RECYCLED if made.uninitialized else _OTHER_VALUE,
        f"Allocate with {_right_call(made.call, contract)}.",
    )


def _explain_partial(step: SeenStep, made: Allocation, contract: Scratch) -> str:
    fills = _fills_in_time(step, made, contract.value)
    if not fills:
        return ""
    ranges = ", ".join("{} to {}".format(*fill.view.byte_range) for fill in fills)
    return f" and sets bytes {ranges} of {made.bytes} before the first launch"


def _explain_waste(code: str, buffer: Buffer, grows: str) -> Finding:
    made = buffer.allocation
    return Finding(
        code,
        made.site,
        f"{buffer.text}{grows}; the contract asks for no initial value.",
        f"One memset of {bytes_in_words(made.bytes)} per (re)allocation is for nothing.",
        "Allocate with torch.empty, or correct init= when something reads what nobody wrote.",
    )


def _shown(value: object) -> str:
    return "its elements to values of its own" if value is None else f"each element to {value}"


def _asked(contract: Scratch) -> str:
    return "zeros" if contract.init == "zeros" else f"{contract.value} in every element"


def _right_call(call: str, contract: Scratch) -> str:
    wanted = "zeros" if contract.init == "zeros" else "full"
    owner, _, name = call.rpartition(".")
    form = {"new_empty": "new_{}", "empty_like": "{}_like"}.get(name, "{}")
    place = owner or "torch"
    value = "" if wanted == "zeros" else f"(..., {contract.value})"
    return f"{place}.{form.format(wanted)}{value}"


def _explain_clearing(step: SeenStep, buffer: Buffer, use: Use, contract: Scratch) -> Finding:
    low, high = use.view.byte_range
    value = contract.value
    remedy = "zero_()" if value == 0 else f"fill_({value})"
    return Finding(
        "cleared on every call",
        use.record.site,
        f"{use.record.function} {use.text} with bytes {low} to {high} of {show_key(buffer.key)} in"
        f" {step.plan}, and that call has not set all of them to {value} before.",
        _STALE,
        f"Call {remedy} on that part of the buffer before the first launch of every call.",
    )
