"""Clauses on the dtype and the shape of a buffer."""

from __future__ import annotations

from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep
from pytest_sm120.contracts.verdicts import NO_GROWTH, NOT_FOUND, Verdict
from pytest_sm120.findings import Finding
from pytest_sm120.tensors.layouts import Shape


def judge_dtype(seen: Seen) -> Verdict:
    """Judge the dtype of the first buffer of each device."""
    if seen.first is None:
        return NOT_FOUND
    found = [compare_dtype("dtype", step.new, seen) for step in _own_firsts(seen) if step.new]
    return next((finding for finding in found if finding), None)


def judge_shape(seen: Seen) -> Verdict:
    """Judge the shape of the first buffer of each device."""
    if seen.first is None:
        return NOT_FOUND
    found = [compare_shape("shape", step, seen) for step in _own_firsts(seen)]
    return next((verdict for verdict in found if verdict), None)


def _own_firsts(seen: Seen) -> list[SeenStep]:
    # A buffer that took another device's place may follow that one's size.
    return [step for step in seen.firsts if not step.took_other_key]


def judge_dtype_on_growth(seen: Seen) -> Verdict:
    """Judge the dtype of the buffer that a larger call allocated."""
    grown = _grown(seen)
    if isinstance(grown, str):
        return grown
    return compare_dtype("growth dtype", grown, seen)


def judge_shape_on_growth(seen: Seen) -> Verdict:
    """Judge the shape of the buffer that a larger call allocated."""
    grown, step = _grown(seen), seen.step("larger")
    if isinstance(grown, str) or step is None:
        return str(grown)
    return compare_shape("growth shape", step, seen)


def _grown(seen: Seen) -> Buffer | str:
    step = seen.step("larger")
    if step is None:
        return seen.why_missing("larger")
    return step.new or NO_GROWTH


def compare_dtype(code: str, buffer: Buffer, seen: Seen) -> Finding | None:
    """Return what is wrong with a buffer's dtype, None when nothing is."""
    wanted, made = seen.contract.dtype_name, buffer.allocation
    if buffer.kept.dtype == wanted:
        return None
    return Finding(
        code,
        made.site,
        f"{buffer.text} as {made.dtype}{_kept_as(made.dtype, buffer.kept.dtype)}; the contract asks"
        f" for {wanted}.",
        "A kernel that is compiled for the one reads the bytes of the other wrongly.",
        f"Allocate with dtype=torch.{wanted}, or correct the contract's dtype.",
    )


def _kept_as(made: object, kept: object) -> str:
    return "" if kept == made else f" and keeps it as {kept}"


def compare_shape(code: str, step: SeenStep, seen: Seen) -> Verdict:
    """Return what is wrong with the shape of a step's new buffer, if the contract names one."""
    wanted = seen.contract.shape_at(step.plan.size)
    if wanted is None:
        return "the contract names no shape"
    if step.new is None or _fits(step.new.kept.shape, wanted, seen.contract.at_least):
        return None
    return _explain_shape(code, step, step.new, wanted)


def _fits(shape: Shape, wanted: Shape, at_least: bool) -> bool:
    if not at_least or len(shape) != len(wanted):
        return shape == wanted
    return all(there >= needed for there, needed in zip(shape, wanted, strict=True))


def _explain_shape(code: str, step: SeenStep, buffer: Buffer, wanted: Shape) -> Finding:
    made = buffer.allocation
    return Finding(
        code,
        made.site,
        f"{buffer.text} in the shape {made.shape}{_kept_as(made.shape, buffer.kept.shape)}"
        f" for a call of size {step.plan.size}; the contract asks for {wanted}.",
        "The shape must be equal, also where the buffer is rounded up.",
        "Correct the shape that is allocated, or the contract's shape=.",
    )
