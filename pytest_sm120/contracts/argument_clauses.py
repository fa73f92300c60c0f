"""The clauses on what the launches of one kernel are given."""

from __future__ import annotations

from pytest_sm120.contracts.clauses import Clause, judge_each
from pytest_sm120.contracts.kernel_arguments import KernelArguments, Name, evaluate
from pytest_sm120.contracts.results import ClauseResult
from pytest_sm120.contracts.seen_launches import SeenLaunch, SeenLaunches, look_at_launches
from pytest_sm120.contracts.steps import Driven
from pytest_sm120.contracts.verdicts import Verdict
from pytest_sm120.contracts.zeroed_memory import judge_zeroed
from pytest_sm120.errors import UsageError
from pytest_sm120.findings import Finding
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.records import TensorView


def judge_arguments(
    contract: KernelArguments, driven: Driven, recording: Recording
) -> list[ClauseResult]:
    """Judge every clause on the arguments of the contract's kernel."""
    return judge_each(ARGUMENT_CLAUSES, look_at_launches(contract, driven, recording))


def judge_strides(seen: SeenLaunches) -> Verdict:
    """Judge whether the kernel steps through each tensor by that tensor's own strides."""
    for launch in seen.launches:
        for name, factors in seen.contract.strides.items():
            found = _compare_strides(launch, name, factors)
            if found is not None:
                return found
    return None


def _compare_strides(launch: SeenLaunch, name: Name, factors: object) -> Finding | None:
    view = launch.tensor(name)
    if not isinstance(factors, (tuple, list)) or len(factors) != len(view.shape):
        raise UsageError(
            f"KernelArguments(strides=) has {factors!r} for {name!r}, which is {view}"
            f" ({launch.record.site}).",
            limit="There is one entry for each dimension: a parameter's name, a number or None.",
            remedy=f'Write e.g. strides={{{name!r}: ("stride_row", 1)}} for a matrix.',
        )
    for dimension, (factor, stride, size) in enumerate(
        zip(factors, view.strides, view.shape, strict=True)
    ):
        used = launch.value(factor) if isinstance(factor, str) else factor
        # An index that is always 0 can be multiplied by anything.
        if used is not None and used != stride and size > 1:
            return _explain_stride(launch, name, view, dimension, factor, used)
    return None


def _explain_stride(
    launch: SeenLaunch, name: Name, view: TensorView, dimension: int, factor: object, used: object
) -> Finding:
    given = f"{factor} = {used}" if isinstance(factor, str) else f"a stride of {used} in its text"
    remedy = (
        f"Pass {name}.stride({dimension}) as {factor}, or hand over a contiguous copy."
        if isinstance(factor, str)
        else "Refuse such a tensor, or hand over a contiguous copy."
    )
    return Finding(
        "strides",
        launch.record.site,
        f"{launch.text} with {name} = {view} in {launch.plan}, whose dimension {dimension} has the"
        f" stride {view.strides[dimension]}, and with {given} to step through it.",
        "The kernel then reads other elements than the caller's.",
        remedy,
    )


def judge_sizes(seen: SeenLaunches) -> Verdict:
    """Judge whether each number that describes a tensor is the one that the tensor has."""
    for launch in seen.launches:
        for name, function in seen.contract.sizes.items():
            wanted, given = evaluate("sizes", name, function, launch.given), launch.value(name)
            if given != wanted:
                return _explain_size(launch, name, given, wanted)
    return None


def _explain_size(launch: SeenLaunch, name: Name, given: object, wanted: int) -> Finding:
    return Finding(
        "sizes",
        launch.record.site,
        f"{launch.text} with {name} = {given!r} in {launch.plan}; what it is given with it says"
        f" {wanted}.",
        "A size that is stated in two places is wrong as soon as one of them changes.",
        "Take it from the tensor that is passed with it.",
    )


def judge_bytes(seen: SeenLaunches) -> Verdict:
    """Judge whether each tensor reaches as far as the kernel goes."""
    for launch in seen.launches:
        for name, function in seen.contract.needs_bytes.items():
            needed = evaluate("needs_bytes", name, function, launch.given)
            low, high = launch.tensor(name).byte_range
            if needed > high - low:
                return _explain_bytes(launch, name, needed, high - low)
    return None


def _explain_bytes(launch: SeenLaunch, name: Name, needed: int, there: int) -> Finding:
    return Finding(
        "bytes",
        launch.record.site,
        f"{launch.text} with {name} = {launch.tensor(name)} in {launch.plan}: {there} bytes, and"
        f" the kernel may touch {needed}.",
        "What lies behind belongs to somebody else.",
        "Allocate as much as the kernel's own layout takes, with the sizes taken from there.",
    )


def judge_dtypes(seen: SeenLaunches) -> Verdict:
    """Judge whether each tensor has a dtype that the kernel is written for."""
    for launch in seen.launches:
        for name in seen.contract.dtypes:
            view, right = launch.tensor(name), seen.contract.dtypes_of(name)
            if view.dtype not in right:
                return _explain_dtype(launch, name, view, right)
    return None


def _explain_dtype(launch: SeenLaunch, name: Name, view: TensorView, right: list[str]) -> Finding:
    wanted = " or ".join(right)
    return Finding(
        "dtypes",
        launch.record.site,
        f"{launch.text} with {name} = {view} in {launch.plan}; the kernel reads it as {wanted}.",
        "It takes the bytes for something else, and no error says so.",
        f"Refuse what is not {wanted}, or convert it before the launch.",
    )


ARGUMENT_CLAUSES: tuple[Clause, ...] = (
    Clause("zeroed since the last writer", judge_zeroed, asked_by="zeroed"),
    Clause("strides", judge_strides, asked_by="strides"),
    Clause("sizes", judge_sizes, asked_by="sizes"),
    Clause("bytes", judge_bytes, asked_by="needs_bytes"),
    Clause("dtypes", judge_dtypes, asked_by="dtypes"),
)
