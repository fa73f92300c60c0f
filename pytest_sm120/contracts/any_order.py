"""Looks for a sequence of calls that breaks a contract, in random orders of sizes and devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from pytest_sm120.contracts.clauses import ANY_ORDER
from pytest_sm120.contracts.initial_value import explain_clearing, explain_initial_value
from pytest_sm120.contracts.keys import describe, show_key
from pytest_sm120.contracts.layout import compare_dtype, compare_shape
from pytest_sm120.contracts.looking import look_at
from pytest_sm120.contracts.residence import explain_device
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep
from pytest_sm120.contracts.steps import Bench, Drive, Driven, PlannedStep, drive_steps
from pytest_sm120.errors import UsageError
from pytest_sm120.findings import Finding

_LONGEST = 6
# Sequences tried; a slip in a guard or a key shows after two or three calls.
_EXAMPLES = 50

Calls = Sequence[tuple[int, str]]


class Deviation(Exception):
    """Carries a finding out of the search; its cause is what the drive raised, if it did."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding.message)


def refuse_without_hypothesis() -> None:
    """Raise UsageError when the search cannot run here."""
    try:
        import hypothesis  # noqa: F401  # only whether it is there
    except ImportError as error:
        raise UsageError(
            "sm120.check(thorough=True) needs hypothesis, which is not installed.",
            limit="Random orders of calls are made and shortened by hypothesis.",
            remedy="Run pip install hypothesis, or leave thorough=True out.",
        ) from error


def search_any_order(
    contract: Scratch, drive: Drive, bench: Bench, sizes: Sequence[int], devices: Sequence[str]
) -> Deviation | None:
    """Return the finding of the shortest sequence that fails, None when none was found.

    Sizes are drawn between the smallest and the largest of ``sizes``. Each sequence starts from
    what the holders held when the search began. The same sequences are tried on every run.
    """
    restore = bench.save_state()

    def try_calls(calls: Calls) -> None:
        restore()
        _judge_calls(contract, calls, drive, bench)

    try:
        _search(try_calls, sizes, devices)
    except Deviation as deviation:
        return deviation
    finally:
        restore()
    return None


def _search(
    try_calls: Callable[[Calls], None], sizes: Sequence[int], devices: Sequence[str]
) -> None:
    from hypothesis import HealthCheck, Phase, Verbosity, errors, given, settings
    from hypothesis import strategies as st

    call = st.tuples(st.integers(min(sizes), max(sizes)), st.sampled_from(list(devices)))
    sequences = st.lists(call, min_size=1, max_size=_LONGEST)
    configured = settings(
        max_examples=_EXAMPLES,
        derandomize=True,
        # Without the phase that explains, which drives hundreds of calls more.
        phases=[Phase.generate, Phase.shrink],
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    try:
        configured(given(sequences)(try_calls))()
    except errors.Flaky as error:
        raise UsageError(
            "The same sequence of calls broke the contract once and held it once.",
            limit="Each sequence starts from what the holders held, so the target keeps state that"
            " none of them shows.",
            remedy="Show the object that has it to sm120.watch(), or leave thorough=True out.",
        ) from error


def _judge_calls(contract: Scratch, calls: Calls, drive: Drive, bench: Bench) -> None:
    """Drive the calls and raise Deviation at the first one that the model would not make."""
    plans = [PlannedStep(f"call {at}", *call) for at, call in enumerate(calls, start=1)]
    driven = drive_steps(plans, drive, bench)
    seen = look_at(contract, driven, bench.recording)
    largest: dict[str, int] = {}
    for at, step in enumerate(seen.steps, start=1):
        device = step.plan.device
        finding = _judge_step(seen, step, largest.get(device))
        if finding is not None:
            raise Deviation(_with_sequence(finding, plans[:at]))
        largest[device] = max(_needed(contract, step.plan.size), largest.get(device, 0))
    failure = _explain_error(driven)
    if failure is not None:
        raise Deviation(_with_sequence(failure, plans)) from driven.error


def _needed(contract: Scratch, size: int) -> int:
    shape = contract.shape_at(size)
    return size if shape is None else prod(shape)


def _judge_step(seen: Seen, step: SeenStep, largest: int | None) -> Finding | None:
    found = _judge_allocation(seen, step, largest)
    if found is not None or not seen.contract.cleared_each_call:
        return found
    return explain_clearing(ANY_ORDER, step, seen.contract)


def _judge_allocation(seen: Seen, step: SeenStep, largest: int | None) -> Finding | None:
    """Compare one call with the model: allocate only when more is needed than ever before."""
    grows = largest is None or _needed(seen.contract, step.plan.size) > largest
    if step.new is not None:
        return _judge_new(seen, step, step.new) if grows else _explain_again(step, step.new)
    # Without a shape, only the first call on a device is known to need a buffer.
    needs_one = largest is None or (grows and seen.contract.shape is not None)
    # Growth by a factor leaves room for later calls.
    enough = step.before is not None and prod(step.before.kept.shape) >= _needed(
        seen.contract, step.plan.size
    )
    return _explain_missing(seen, step) if needs_one and not enough else None


def _judge_new(seen: Seen, step: SeenStep, new: Buffer) -> Finding | None:
    verdicts = (
        _explain_other_device(step, new) if step.took_other_key else None,
        explain_device(step, new),
        compare_dtype(ANY_ORDER, new, seen),
        compare_shape(ANY_ORDER, step, seen),
        explain_initial_value(ANY_ORDER, step, seen.contract),
    )
    return next((verdict for verdict in verdicts if isinstance(verdict, Finding)), None)


def _explain_other_device(step: SeenStep, new: Buffer) -> Finding:
    return Finding(
        ANY_ORDER,
        new.allocation.site,
        f"{new.text} in {step.plan}, which is the key of the other device.",
        "Calls that alternate between the devices then allocate every time.",
        "Put the device into the key.",
    )


def _explain_again(step: SeenStep, new: Buffer) -> Finding:
    return Finding(
        ANY_ORDER,
        new.allocation.site,
        f"{new.text} again in {step.plan}, though an earlier call needed as much.",
        "A persistent buffer is allocated once, and again only to grow.",
        "Allocate only when nothing is kept under the key or the kept buffer is smaller than what"
        " the call needs.",
    )


def _explain_missing(seen: Seen, step: SeenStep) -> Finding:
    before = step.before
    if before is None:
        cause = f"no buffer is kept under {show_key(_key_in(seen, step))} after {step.plan}."
        return Finding(
            ANY_ORDER,
            "",
            cause,
            "Each device needs a buffer of its own.",
            "Put the device into the key.",
        )
    made = before.allocation
    return Finding(
        ANY_ORDER,
        made.site,
        f"{made.function} keeps {show_key(before.key)} in the shape {before.kept.shape} for"
        f" {step.plan}, which needs {seen.contract.shape_at(step.plan.size)}.",
        "A launch that is sized for the call writes past the end of the buffer.",
        "Allocate again when the kept buffer is smaller than what the call needs.",
    )


def _key_in(seen: Seen, step: SeenStep) -> object:
    return seen.contract.key_on(step.plan.device)


def _explain_error(driven: Driven) -> Finding | None:
    if driven.failed is None or driven.error is None:
        return None
    cause = f"drive raised {describe(driven.error)} in {driven.failed}."
    return Finding(ANY_ORDER, "", cause, "Each size and each device can be called at any time.", "")


def _with_sequence(finding: Finding, plans: Sequence[PlannedStep]) -> Finding:
    calls = ", ".join(f"{plan.size} on {plan.device}" for plan in plans)
    shortest = f"The shortest sequence of calls that shows it is: {calls}."
    return finding._replace(code=ANY_ORDER, limit=f"{finding.limit} {shortest}")
