"""The sequence of calls that a contract is judged on: planned, then driven."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import eq, gt, lt
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

from pytest_sm120.contracts.keys import describe, rank_of_key, show_key
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.errors import UsageError
from pytest_sm120.recorder.reachable import find_tensors
from pytest_sm120.recorder.recording import Recording, Step
from pytest_sm120.recorder.records import TensorView
from pytest_sm120.tensors.devices import Device, without_default_index

#: Calls the code under test once, with a size and a device.
Drive = Callable[..., object]
Mode = Literal["ordinary", "inference", "capture", "other stream", "padded", "transposed"]
Restore = Callable[[], None]

DEFAULT_SIZES = (4, 4, 2, 8)
DEFAULT_DEVICES = ("cuda:0", "cuda:1")


class Bench(Protocol):
    """What a check needs of the tier that runs the code under test."""

    @property
    def recording(self) -> Recording:
        """What the code under test did so far."""

    def inference_mode(self) -> AbstractContextManager[object]:
        """Return a context manager that runs its block as ``torch.inference_mode()`` does."""

    def capture(self) -> AbstractContextManager[object]:
        """Return a context manager that runs its block as the capture of a CUDA graph does."""

    def other_stream(self) -> AbstractContextManager[object]:
        """Return a context manager that runs its block on a stream that nobody else has."""

    def arranged(self, arrangement: str) -> AbstractContextManager[object]:
        """Return a context manager in whose block inputs are ``"padded"`` or ``"transposed"``."""

    def save_state(self) -> Restore:
        """Return a function that puts everything that holds buffers back to what it holds now."""


class PlannedStep(NamedTuple):
    """One call that is going to be made."""

    #: ``"first"``, ``"same"``, ``"smaller"``, ``"larger"``, ``"second device"`` or ``"back"``;
    #: contracts that ask for more add steps of their own.
    name: str
    size: int
    device: str
    #: The mode that the call runs in.
    mode: Mode = "ordinary"
    #: What drive is given by keyword.
    keywords: Mapping[str, str] = MappingProxyType({})
    #: Whether the code under test may refuse what this call gives it.
    may_refuse: bool = False
    #: What drive is given as the device, where that is not its name.
    spelled: object = None

    def __str__(self) -> str:
        return f'the step "{self.name}" (size {self.size} on {self.device})'


class DrivenStep(NamedTuple):
    """One call that was made, with what it recorded."""

    plan: PlannedStep
    step: Step
    #: What the code under test raised to refuse the call, if it did.
    refusal: Exception | None = None
    #: The tensors in what drive returned.
    returned: tuple[TensorView, ...] = ()
    #: Each key with the storage that was kept there when the call had ended.
    held: frozenset[tuple[str, int]] = frozenset()


class Driven(NamedTuple):
    """The calls that were made, and the error that ended them, if one did."""

    steps: tuple[DrivenStep, ...]
    failed: PlannedStep | None = None
    error: Exception | None = None


def plan_steps(sizes: Sequence[int], devices: Sequence[str]) -> list[PlannedStep]:
    """Return first, same, smaller, larger, second device and back, as far as the arguments go.

    Raises UsageError when a size does not fit its role, or a device is no device or given twice.
    """
    _refuse_wrong_sizes(sizes)
    known = _normalise_devices(devices)
    named = zip(("first", "same", "smaller", "larger"), sizes, strict=False)
    steps = [PlannedStep(name, size, known[0]) for name, size in named]
    steps[0] = PlannedStep("first", sizes[0], known[0], "inference")
    steps += [PlannedStep("second device", sizes[0], device) for device in known[1:]]
    return [*steps, PlannedStep("back", sizes[0], known[0], "capture")]


# What each size is to the first one.
_ROLES = (("equal to", eq), ("equal to", eq), ("smaller than", lt), ("larger than", gt))


def _refuse_wrong_sizes(sizes: Sequence[int]) -> None:
    listed = isinstance(sizes, Sequence) and 1 <= len(sizes) <= 4
    if not (listed and all(isinstance(size, int) and size >= 1 for size in sizes)):
        raise UsageError(
            f"sizes={sizes!r} is not a list of one to four whole numbers from 1 on.",
            limit="They are the sizes of the first, the same, a smaller and a larger call.",
            remedy=f"Pass e.g. sizes={DEFAULT_SIZES!r}, or fewer to leave calls out.",
        )
    for size, (relation, fits) in zip(sizes, _ROLES, strict=False):
        if not fits(size, sizes[0]):
            raise UsageError(
                f"sizes={tuple(sizes)!r}: {size} is not {relation} {sizes[0]}.",
                limit="They are the sizes of the first, the same, a smaller and a larger call.",
                remedy=f"Pass e.g. sizes={DEFAULT_SIZES!r}.",
            )


def _normalise_devices(devices: Sequence[str]) -> list[str]:
    if isinstance(devices, str) or not 1 <= len(devices) <= 2:
        raise UsageError(
            f"devices={devices!r} does not name one or two devices.",
            limit="The second device is where a buffer of its own is looked for.",
            remedy=f"Pass e.g. devices={list(DEFAULT_DEVICES)!r}, or one device in a list.",
        )
    known = [_normalise_device(device) for device in devices]
    if len(set(known)) < len(known):
        raise UsageError(
            f"devices={list(devices)!r} names {known[0]} twice.",
            limit="The second device is where a buffer of its own is looked for.",
            remedy=f'Name two devices, or pass devices=["{known[0]}"] to leave the second one out.',
        )
    return known


def _normalise_device(device: object) -> str:
    try:
        return str(without_default_index(Device(device)))
    except RuntimeError as error:
        raise UsageError(
            f"devices= names {device!r}, which is no device: {error}.",
            limit="A device is written as torch writes it.",
            remedy=f"Pass e.g. devices={list(DEFAULT_DEVICES)!r}.",
        ) from error


def refuse_held_buffer(contract: Scratch, plans: Sequence[PlannedStep], bench: Bench) -> None:
    """Raise UsageError when a buffer is there already: no first allocation could be seen."""
    wanted = [contract.key_on(plan.device) for plan in plans]
    for key, view in bench.recording.held_tensors():
        if view.storage_bytes and any(rank_of_key(key, each) is not None for each in wanted):
            raise UsageError(
                f"{show_key(key)} already holds {view} before the first step.",
                limit="A contract is judged from the first allocation on.",
                remedy="Check it before anything else drives the target, or in a test of its own.",
            )


def drive_steps(plans: Sequence[PlannedStep], drive: Drive, bench: Bench) -> Driven:
    """Make the planned calls in order, until one of them raises."""
    __tracebackhide__ = True
    done: list[DrivenStep] = []
    for plan in plans:
        refusal: Exception | None = None
        returned: tuple[TensorView, ...] = ()
        try:
            with bench.recording.step(plan.name) as step, _mode_of(plan, bench):
                returned = _views_in(drive(plan.size, plan.spelled or plan.device, **plan.keywords))
        except _REFUSALS as error:
            if not plan.may_refuse:
                return Driven(tuple(done), plan, error)
            refusal = error
        except Exception as error:
            return Driven(tuple(done), plan, error)
        done.append(DrivenStep(plan, step, refusal, returned, _held(bench.recording)))
    return Driven(tuple(done))


def _views_in(result: object) -> tuple[TensorView, ...]:
    # Not the tensors themselves: whether they are still held by others is asked later.
    return tuple(view for _, view in find_tensors([("", result)]))


def _held(recording: Recording) -> frozenset[tuple[str, int]]:
    return frozenset((str(key), view.storage) for key, view in recording.held_tensors())


# What code raises to refuse an argument. An AttributeError is a slip, and an Sm120Error is ours.
_REFUSALS = (AssertionError, NotImplementedError, RuntimeError, TypeError, ValueError)


def why_left_out(plans: Sequence[PlannedStep], driven: Driven) -> dict[str, str]:
    """Return, for each step that was not driven to its end, the reason by the step's name."""
    asked = {plan.name for plan in plans}
    reasons = {
        name: f'sizes= names no size for the step "{name}"'
        for name in ("same", "smaller", "larger")
        if name not in asked
    }
    if "second device" not in asked:
        reasons["second device"] = "devices= names one device"
    if driven.failed is not None and driven.error is not None:
        raised = f"{driven.failed} raised {describe(driven.error)}"
        reasons.update({plan.name: raised for plan in plans[len(driven.steps) :]})
    return reasons


def _mode_of(plan: PlannedStep, bench: Bench) -> AbstractContextManager[object]:
    if plan.mode == "ordinary":
        return nullcontext()
    if plan.mode == "inference":
        return bench.inference_mode()
    if plan.mode == "capture":
        return bench.capture()
    return bench.other_stream() if plan.mode == "other stream" else bench.arranged(plan.mode)
