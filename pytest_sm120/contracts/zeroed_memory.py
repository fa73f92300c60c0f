"""The clause on arguments that hold zeros when a kernel starts: who wrote there last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_sm120.contracts.byte_ranges import ByteRange, overlap, ranges_of, subtract
from pytest_sm120.contracts.kernel_arguments import KernelArguments, Name
from pytest_sm120.contracts.seen import views_written
from pytest_sm120.contracts.seen_launches import SeenLaunch, SeenLaunches
from pytest_sm120.contracts.verdicts import Verdict
from pytest_sm120.errors import UsageError
from pytest_sm120.findings import Finding
from pytest_sm120.recorder.records import Allocation, Call, Fill, Launch, Record


class _Written(NamedTuple):
    """The last record that left something else than zeros, and the bytes in question."""

    record: Record | None
    bytes: ByteRange


def judge_zeroed(seen: SeenLaunches) -> Verdict:
    """Judge whether the bytes that must be zero were zeroed after everybody else's writes."""
    unknown: str | None = None
    for launch in seen.launches:
        for name in _zeroed_names(seen.contract, launch):
            found = _find_last_writer(seen, launch, name)
            if found is not None and found.record is not None:
                return _explain(launch, name, found, found.record)
            if found is not None and unknown is None:
                unknown = f"{name} is an input of the test in {launch.plan}, and nothing writes it"
    return unknown


def _zeroed_names(contract: KernelArguments, launch: SeenLaunch) -> Sequence[Name]:
    """Return the arguments that must hold zeros; UsageError when the text shows none."""
    if contract.zeroed_names is not None:
        return contract.zeroed_names
    record = launch.record
    if isinstance(record, Launch) and record.accumulated:
        return record.accumulated
    raise UsageError(
        f'{record.site}: zeroed="accumulated", and {launch.text}, which changes no argument with'
        " atomics as far as its text is at hand.",
        limit="The atomics that count are add, max, min, and, or, xor, xchg and cas, in the kernel"
        " and in functions that it calls.",
        remedy='Name the arguments that must hold zeros, e.g. zeroed=["counters"].',
    )


def _find_last_writer(seen: SeenLaunches, launch: SeenLaunch, name: Name) -> _Written | None:
    """Go back from the launch until all bytes are known to be zero, or somebody else wrote them."""
    view = launch.tensor(name)
    left = _wanted(seen.contract, launch, name)
    for record in reversed(seen.records[: launch.record.order]):
        touched = _ranges_touched(record, view.storage)
        if not overlap(left, touched):
            continue
        if _leaves_zeros(record, seen.contract):
            left = subtract(left, touched)
        elif not _is_own(record, launch, seen.contract):
            return _Written(record, _first_common(left, touched))
        if not left:
            return None
    return _Written(None, left[0]) if left else None


def _wanted(contract: KernelArguments, launch: SeenLaunch, name: Name) -> list[ByteRange]:
    view = launch.tensor(name)
    count = contract.zeroed_bytes(name, launch.given)
    low = view.byte_range[0]
    if count is None:
        return ranges_of(view) or [view.byte_range]
    return [(low, low + count)] if count else []


def _ranges_touched(record: Record, storage: int) -> list[ByteRange]:
    if isinstance(record, Allocation):
        return [(0, record.bytes)] if record.view.storage == storage else []
    if isinstance(record, Fill):
        return ranges_of(record.view) if record.view.storage == storage else []
    return [view.byte_range for view in views_written(record) if view.storage == storage]


def _leaves_zeros(record: Record, contract: KernelArguments) -> bool:
    if isinstance(record, Allocation):
        return record.fill == 0
    if isinstance(record, Fill):
        return record.value == 0
    return isinstance(record, Launch) and record.kernel in contract.zeroing_kernels


def _is_own(record: Record, launch: SeenLaunch, contract: KernelArguments) -> bool:
    """Return whether it is a launch of the same kernel that left what it found: zeros."""
    return contract.self_resets and _is_same_kernel(record, launch)


def _is_same_kernel(record: Record, launch: SeenLaunch) -> bool:
    own = launch.record
    if isinstance(own, Launch):
        return isinstance(record, Launch) and record.kernel == own.kernel
    return isinstance(record, Call) and record.name == own.name


def _first_common(left: Sequence[ByteRange], touched: Sequence[ByteRange]) -> ByteRange:
    return next(
        (max(low, start), min(high, end))
        for low, high in left
        for start, end in touched
        if max(low, start) < min(high, end)
    )


def _explain(launch: SeenLaunch, name: Name, found: _Written, writer: Record) -> Finding:
    low, high = found.bytes
    own = _is_same_kernel(writer, launch)
    remedy = ", or set self_resets=True when the kernel leaves zeros there" if own else ""
    return Finding(
        "zeroed since the last writer",
        launch.record.site,
        f"{launch.text} with {name} = {launch.tensor(name)} in {launch.plan}, and bytes {low} to"
        f" {high} of its storage {_what(writer, own)} ({writer.site}).",
        "The kernel counts on zeros there, and starts from what it finds.",
        f"Call zero_() on that part before the launch, after whatever else writes it{remedy}.",
    )


def _what(writer: Record, own: bool) -> str:
    if isinstance(writer, Allocation):
        set_by = "are as" if writer.uninitialized else "were last set by"
        left = " left them" if writer.uninitialized else ""
        return f"{set_by} {writer.call} in {writer.function}{left}"
    if isinstance(writer, Fill):
        return f"were last written by {writer.op} in {writer.function}"
    if own:
        return f"were last given to the same kernel in {writer.function}"
    name = writer.kernel if isinstance(writer, Launch) else getattr(writer, "name", "")
    return f"were last given to {name} in {writer.function}"
