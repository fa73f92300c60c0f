"""Clauses on what a buffer holds before a launch takes it."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sm120.contracts.byte_counts import bytes_in_words
from pytest_sm120.contracts.keys import show_key
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep, Use
from pytest_sm120.contracts.verdicts import NO_GROWTH, NOT_FOUND, Verdict
from pytest_sm120.findings import Finding
from pytest_sm120.recorder.records import Allocation, Fill, TensorView
from pytest_sm120.tensors.dtypes import find_dtype
from pytest_sm120.tensors.layouts import is_dense
from pytest_sm120.tensors.number_formats import convert_number
from pytest_sm120.tensors.storages import Number

ByteRange = tuple[int, int]
# As many as a message lists.
_MOST_RANGES = 4

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
    if seen.first is None:
        return NOT_FOUND
    found = [explain_clearing("cleared on every call", step, seen.contract) for step in seen.steps]
    used = any(_uses_of_current(step) for step in seen.steps)
    unused = None if used else "no launch and no call was given the buffer"
    return next((finding for finding in found if finding), unused)


def explain_clearing(code: str, step: SeenStep, contract: Scratch) -> Finding | None:
    """Return which launch of the step is given what an earlier step left, None when none is."""
    if step.current is None:
        return None
    made = step.current.allocation
    given: list[ByteRange] = []
    for use in _uses_of_current(step):
        # An earlier launch of the same step may have written what it was given.
        known = _ranges_set(step, made, use.view, contract.value, use.record.order)
        if not _is_covered(use.view, [*known, *given]):
            return _explain_stale(code, step, step.current, use, contract)
        given.append(use.view.byte_range)
    return None


def _uses_of_current(step: SeenStep) -> list[Use]:
    return step.uses(step.current.allocation.view.storage) if step.current else []


def is_value(value: object, wanted: Number) -> bool:
    """Return whether two numbers are the same; NaN is the same as NaN."""
    return value == wanted or (value is not None and value != value and wanted != wanted)


def _is_stored_as(value: Number | None, wanted: Number, dtype: str) -> bool:
    """Return whether two numbers are the same in a dtype: -1 is 255 in uint8, 0.5 is 0 in int32."""
    if value is None or is_value(value, wanted):
        return value is not None
    kind = find_dtype(dtype)
    try:
        return convert_number(value, kind) == convert_number(wanted, kind)
    except (ArithmeticError, ValueError):
        # NaN as an integer, or a format to which rounding is not followed.
        return False


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
    order = _first_use_order(step, made)
    return _is_covered(made.view, _ranges_set(step, made, made.view, contract.value, order))


def _first_use_order(step: SeenStep, made: Allocation) -> int:
    use = step.first_use(made.view.storage)
    return step.records[-1].order + 1 if use is None else use.record.order


def _ranges_set(
    step: SeenStep, made: Allocation, view: TensorView, value: Number, before: int
) -> list[ByteRange]:
    """Return the bytes that the step set to the value before one of its records.

    A write of another value counts against that when it covers the whole view: what host code
    writes into a part is data.
    """
    born_now = step.new is not None and step.new.allocation is made
    ranges = (
        [made.view.byte_range] if born_now and _is_stored_as(made.fill, value, made.dtype) else []
    )
    for fill in step.fills_before(made.view.storage, before):
        if _sets(fill, value, made.dtype):
            ranges += _bytes_of(fill.view)
        elif _replaces(fill, view):
            ranges.clear()
    return ranges


def _replaces(fill: Fill, view: TensorView) -> bool:
    """Return whether a write leaves one number everywhere in the view."""
    return (
        fill.value is not None
        and is_dense(fill.view.shape, fill.view.strides)
        and _is_covered(view, [fill.view.byte_range])
    )


def _sets(fill: Fill, value: Number, dtype: str) -> bool:
    # Bytes of another dtype are the same value only when that is zero.
    same_bits = fill.view.dtype == dtype or value == 0
    return same_bits and _is_stored_as(fill.value, value, dtype)


def _bytes_of(view: TensorView) -> list[ByteRange]:
    if is_dense(view.shape, view.strides):
        return [view.byte_range]
    # Read only here: hardly any code sets a buffer column by column.
    from pytest_sm120.contracts.byte_ranges import ranges_of

    return ranges_of(view)


def _is_covered(view: TensorView, ranges: Sequence[ByteRange]) -> bool:
    low, high = view.byte_range
    for start, end in sorted(ranges):
        if start <= low:
            low = max(low, end)
    return low >= high


def _explain_contents(
    code: str, step: SeenStep, buffer: Buffer, grows: str, contract: Scratch
) -> Finding:
    made = buffer.allocation
    replaced = _find_replacing(step, made, contract)
    if replaced is not None:
        return _explain_replaced(code, buffer, replaced, grows, contract)
    seen = "" if made.uninitialized else f", which sets {_shown(made.fill)}"
    partly = _explain_partial(step, made, contract)
    return Finding(
        code,
        made.site,
        f"{buffer.text}{seen}{grows}{partly}; the contract asks for {_asked(contract)}.",
        _RECYCLED if made.uninitialized else _OTHER_VALUE,
        f"Allocate with {_right_call(made.call, contract)}.",
    )


def _find_replacing(step: SeenStep, made: Allocation, contract: Scratch) -> Fill | None:
    """Return the last write before the first launch that leaves another value everywhere."""
    for fill in reversed(step.fills_before(made.view.storage, _first_use_order(step, made))):
        if not _sets(fill, contract.value, made.dtype) and _replaces(fill, made.view):
            return fill
    return None


def _explain_replaced(
    code: str, buffer: Buffer, fill: Fill, grows: str, contract: Scratch
) -> Finding:
    return Finding(
        code,
        buffer.allocation.site,
        f"{buffer.text}{grows}, and {fill.function} sets all of it to {fill.value} before the first"
        f" launch ({fill.site}); the contract asks for {_asked(contract)}.",
        _OTHER_VALUE,
        f"Set it to {contract.value} there, or correct the contract's init=.",
    )


def _explain_partial(step: SeenStep, made: Allocation, contract: Scratch) -> str:
    order = _first_use_order(step, made)
    known = _ranges_set(step, made, made.view, contract.value, order)
    if not known:
        return ""
    more = ", ..." if len(known) > _MOST_RANGES else ""
    ranges = ", ".join(f"{low} to {high}" for low, high in known[:_MOST_RANGES]) + more
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
    # A tensor has new_zeros, but no zeros.
    place = owner if form.startswith("new_") else "torch"
    value = "" if wanted == "zeros" else f"(..., {contract.value})"
    return f"{place}.{form.format(wanted)}{value}"


def _explain_stale(
    code: str, step: SeenStep, buffer: Buffer, use: Use, contract: Scratch
) -> Finding:
    low, high = use.view.byte_range
    value = contract.value
    remedy = "zero_()" if value == 0 else f"fill_({value})"
    return Finding(
        code,
        use.record.site,
        f"{use.record.function} {use.text} with bytes {low} to {high} of {show_key(buffer.key)} in"
        f" {step.plan}, and that call has not set all of them to {value} before.",
        _STALE,
        f"Call {remedy} on that part of the buffer before the first launch of every call.",
    )
