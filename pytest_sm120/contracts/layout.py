"""Clauses on the dtype and the shape of a buffer."""

from __future__ import annotations

from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep
from pytest_sm120.contracts.verdicts import NO_GROWTH, NOT_FOUND, Verdict
from pytest_sm120.findings import Finding
from pytest_sm120.tensors.layouts import Shape


def judge_dtype(seen: Seen) -> Verdict:
    """Judge the dtype of the first buffer."""
    return NOT_FOUND if seen.first is None else compare_dtype("dtype", seen.first, seen)


def judge_shape(seen: Seen) -> Verdict:
    """Judge the shape of the first buffer."""
    return NOT_FOUND if seen.first is None else compare_shape("shape", seen.steps[0], seen)


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
    if made.dtype == wanted:
        return None
    return Finding(
        code,
        made.site,
        f"{buffer.text} as {made.dtype}; the contract asks for {wanted}.",
        "A kernel that is compiled for the one reads the bytes of the other wrongly.",
        f"Allocate with dtype=torch.{wanted}, or correct the contract's dtype.",
    )


def compare_shape(code: str, step: SeenStep, seen: Seen) -> Verdict:
    """Return what is wrong with the shape of a step's new buffer, if the contract names one."""
    wanted = seen.contract.shape_at(step.plan.size)
    if wanted is None:
        return "the contract names no shape"
    if step.new is None or step.new.allocation.shape == wanted:
        return None
    return _explain_shape(code, step, step.new, wanted)


def _explain_shape(code: str, step: SeenStep, buffer: Buffer, wanted: Shape) -> Finding:
    made = buffer.allocation
    return Finding(
        code,
        made.site,
        f"{buffer.text} in the shape {made.shape} for a call of size {step.plan.size}; the contract"
        f" asks for {wanted}.",
        "The shape must be equal, also where the buffer is rounded up.",
        "Correct the shape that is allocated, or the contract's shape=.",
    )
