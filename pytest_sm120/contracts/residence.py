"""Clauses on where a buffer lives: under which key, on which device, in which mode."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sm120.contracts.keys import rank_of_key, show_key
from pytest_sm120.contracts.looking import moved_key
from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep, Use
from pytest_sm120.contracts.verdicts import NOT_ASKED_FOR, NOT_FOUND, Verdict
from pytest_sm120.findings import Finding
from pytest_sm120.recorder.records import Allocation

_HOW_TO_KEEP = (
    "Keep it in a dict that sm120.registry() made, show its owner to sm120.watch(owner), or keep"
    " it in a global of the target. A temporary that is freed with each call needs no Scratch"
    " contract."
)


def judge_key(seen: Seen) -> Verdict:
    """Judge whether each device's first buffer is kept under the contract's key."""
    if not seen.kept_first:
        return _explain_not_kept(seen)
    home = seen.steps[0].plan.device
    for step in seen.steps:
        wanted = seen.contract.key_on(step.plan.device)
        if seen.has_one_key and step.plan.device != home:
            # Whether that is right is what "one per device" is about.
            continue
        kept = _under_other_keys(step, wanted)
        if kept:
            return _explain_other_key(kept, wanted)
    wanted = seen.contract.key_on(home)
    return None if seen.first else _explain_other_key(seen.kept_first, wanted)


def _under_other_keys(step: SeenStep, wanted: object) -> Sequence[Buffer]:
    """Return what is meant to be the step's buffer, but is kept under a key of another kind."""
    if step.new is None or step.took_other_key:
        return step.lookalikes if step.new is None and step.before is None else ()
    return [step.new] if rank_of_key(step.new.key, wanted) is None else ()


def _explain_other_key(kept: Sequence[Buffer], wanted: object) -> Finding:
    others = " and ".join(_where(buffer) for buffer in kept)
    return Finding(
        "registered under its key",
        kept[0].allocation.site,
        f"{kept[0].allocation.function} keeps no buffer under {show_key(wanted)}, but {others}.",
        "The contract is about the buffer that is looked up under its key.",
        f"Keep it under {show_key(wanted)}, or correct the contract's key=.",
    )


def _where(buffer: Buffer) -> str:
    made = buffer.allocation
    return f"{made.view} under {show_key(buffer.key)} ({made.site})"


def _explain_not_kept(seen: Seen) -> Finding:
    made = [each for each in seen.steps[0].records if isinstance(each, Allocation)]
    meant = [each for each in made if each.dtype == seen.contract.dtype_name] or made
    one, more = meant[0], len(made) - 1
    others = f" The same is true of {more} more of its allocations." if more else ""
    return Finding(
        "registered under its key",
        one.site,
        f"{one.function} allocates {one.view} with {one.call}, and nothing that is looked into"
        f" keeps it.{others}",
        "A buffer that nothing keeps is allocated by every call.",
        _HOW_TO_KEEP,
    )


def judge_one_per_device(seen: Seen) -> Verdict:
    """Judge whether the second device gets a buffer of its own, under a key of its own."""
    step = seen.step("second device")
    if step is None:
        return seen.why_missing("second device")
    if seen.first is None:
        return NOT_FOUND
    if step.new is None:
        found = step.lookalikes and not seen.has_one_key
        return NOT_FOUND if found else _explain_shared(seen, step)
    return _explain_displaced(seen, step, step.new) if step.took_other_key else None


def _explain_shared(seen: Seen, step: SeenStep) -> Finding:
    kept = _held_on(seen, seen.steps[0].plan.device)
    made, home, other = kept.allocation, seen.steps[0].plan.device, step.plan.device
    use = step.first_use(made.view.storage)
    given = f" and {use.text} with the one on {made.device} ({use.record.site})" if use else ""
    if use and use.input_devices and other not in use.input_devices:
        return _explain_ignored_device(step, use)
    return Finding(
        "one per device",
        made.site,
        f"{made.function} keeps {show_key(kept.key)} for {home}, and the call on {other} allocates"
        f" none of its own{given}.",
        "A kernel cannot follow a pointer into the other device's memory.",
        _how_to_key(seen, home, other),
    )


def _explain_ignored_device(step: SeenStep, use: Use) -> Finding:
    return Finding(
        "one per device",
        use.record.site,
        f"{use.record.function} {use.text} with tensors on {', '.join(use.input_devices)} only, in"
        f" {step.plan}.",
        "Whether each device gets a buffer of its own shows only when the inputs lie there.",
        "Let drive make its inputs on the device that it is given.",
    )


def _held_on(seen: Seen, device: str) -> Buffer:
    """Return the buffer of a device when the last step ended; the first step made one."""
    return [step.current for step in seen.steps if step.plan.device == device and step.current][-1]


def _explain_displaced(seen: Seen, step: SeenStep, new: Buffer) -> Finding:
    made, home, other = new.allocation, seen.steps[0].plan.device, step.plan.device
    return Finding(
        "one per device",
        made.site,
        f"{made.function} keeps the buffers of {home} and of {other} under one key,"
        f" {show_key(new.key)}: the call on {other} replaced the buffer of {home}.",
        "Calls that alternate between the devices then allocate every time.",
        _how_to_key(seen, home, other),
    )


def _how_to_key(seen: Seen, home: str, other: str) -> str:
    remedy = f"Put the device into the key: {home} and {other} each need a buffer."
    if not seen.has_one_key:
        return remedy
    return f'{remedy} Where it is meant for one device only, pass devices=["{home}"].'


def find_unnamed(seen: Seen, step: SeenStep) -> Buffer | None:
    """Return what another device has for itself though the contract's key is that of the first."""
    home = seen.steps[0].plan.device
    if seen.first is None or step.first_use(_held_on(seen, home).allocation.view.storage):
        return None
    others = [buffer.key for buffer in seen.kept_first if buffer.key != seen.first.key]
    for buffer in step.lookalikes:
        if moved_key(buffer.key, step.plan.device, home) not in others:
            return buffer
    return None


def judge_device(seen: Seen) -> Verdict:
    """Judge whether each buffer lies on the device of the call that allocated it."""
    if seen.first is None:
        return NOT_FOUND
    found = [explain_device(step, step.new) for step in seen.steps if step.new]
    return next((finding for finding in found if finding), None)


def explain_device(step: SeenStep, new: Buffer) -> Finding | None:
    """Return what is wrong with the device of a step's new buffer, None when nothing is."""
    if new.allocation.device == step.plan.device:
        return None
    return Finding(
        "device follows the input",
        new.allocation.site,
        f"{new.text} on {new.allocation.device} in {step.plan}.",
        "The buffer must lie where the call's input lies.",
        "Allocate with device= of the input.",
    )


def judge_inference_mode(seen: Seen) -> Verdict:
    """Judge whether a buffer is born in inference mode."""
    if seen.contract.allow_inference:
        return f"{NOT_ASKED_FOR} (allow_inference=True)"
    if seen.first is None:
        return NOT_FOUND
    born = [step for step in seen.steps if step.new and step.new.allocation.inference]
    return _explain_inference(born[0].new) if born and born[0].new else None


def _explain_inference(new: Buffer) -> Finding:
    return Finding(
        "not allocated in inference mode",
        new.allocation.site,
        f"{new.text} in inference mode.",
        "It outlives that mode, and torch refuses to write into it outside (zero_(), copy_()).",
        "Allocate under torch.inference_mode(False), or set allow_inference=True in the contract"
        " when only kernels write it.",
    )
