"""Looks for the buffer of a contract among what each driven step allocated and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pytest_sm120.contracts.keys import rank_of_key
from pytest_sm120.contracts.scratch import Scratch
from pytest_sm120.contracts.seen import Buffer, Seen, SeenStep
from pytest_sm120.contracts.steps import Driven, DrivenStep, PlannedStep
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.tensors.layouts import Shape

KeysByStorage = Mapping[int, list[object]]


def look_at(
    contract: Scratch,
    driven: Driven,
    recording: Recording,
    missing: Mapping[str, str] = MappingProxyType({}),
) -> Seen:
    """Find the contract's buffer in each driven step; ``missing`` says why others were not."""
    if not driven.steps:
        return Seen(contract, (), (), missing)
    keys = keys_by_storage(recording)
    kept_first = kept_in(driven.steps[0], keys)
    finder = _Finder(contract, kept_first, driven.steps[0].plan)
    held: dict[str, Buffer] = {}
    steps: list[SeenStep] = []
    for step in driven.steps:
        device = step.plan.device
        kept, records = kept_in(step, keys), tuple(step.step.records())
        new = finder.find(kept, step.plan)
        alike = () if new else finder.find_lookalikes(kept, step.plan)
        before = held.get(device)
        steps.append(
            SeenStep(
                step.plan,
                records,
                new,
                before,
                _took_a_place(new, held, step),
                alike,
                step.returned,
                step.refusal is not None,
                *_fate_of(before, contract, recording),
            )
        )
        if new is not None:
            held[device] = new
    return Seen(contract, tuple(steps), tuple(kept_first), missing)


def _took_a_place(new: Buffer | None, held: Mapping[str, Buffer], step: DrivenStep) -> bool:
    """Return whether a new buffer lies under the key at which another device's was until now."""
    others = [buffer for device, buffer in held.items() if device != step.plan.device]
    return any(
        new is not None
        and str(new.key) == str(other.key)
        and (str(other.key), other.allocation.view.storage) not in step.held
        for other in others
    )


def _fate_of(before: Buffer | None, contract: Scratch, recording: Recording) -> tuple[bool, bool]:
    """Return whether a captured graph took a buffer, and whether its memory is free by now."""
    if before is None or not contract.outlives_graphs:
        return False, False
    made = before.allocation
    return bool(recording.graphs_holding(made)), recording.freed_at(made) is not None


def find_rivals(contract: Scratch, kept: Sequence[Buffer], plan: PlannedStep) -> list[Buffer]:
    """Return the buffers that the contract's key means alike, when it means more than one.

    They are kept in one object under the key, e.g. in a tuple, with the same dtype and shape.
    """
    key = contract.key_on(plan.device)
    ranks = [rank_of_key(buffer.key, key) for buffer in kept]
    if 0 in ranks:
        return []
    inside = [buffer for rank, buffer in zip(ranks, kept, strict=True) if rank == 1]
    wanted = _Wanted(contract.dtype_name, contract.shape_at(plan.size))
    alike = wanted.choose(inside)
    # Under one place, the later buffer has taken the place of the earlier one.
    return alike if len({str(buffer.key) for buffer in alike}) > 1 else []


def keys_by_storage(recording: Recording) -> KeysByStorage:
    """Return the keys under which each storage is or was kept."""
    keys: dict[int, list[object]] = {}
    for store in recording.stores():
        keys.setdefault(store.view.storage, []).append(store.key)
    return keys


def kept_in(step: DrivenStep, keys: KeysByStorage) -> list[Buffer]:
    """Return what a step allocated and somebody kept, once for each key."""
    views = {(each.view.storage, str(each.key)): each.view for each in step.step.stores()}
    return [
        Buffer(made, key, views.get((made.view.storage, str(key)), made.view))
        for made in step.step.allocations()
        for key in keys.get(made.view.storage, ())
    ]


class _Finder:
    """Knows under which keys the buffer of a device is looked for, the contract's own first."""

    def __init__(self, contract: Scratch, kept_first: Sequence[Buffer], home: PlannedStep) -> None:
        self._contract = contract
        self._home = home.device
        self._stand_in: object = None
        if self.find(kept_first, home) is None:
            self._stand_in = _stand_in_key(kept_first, self._wanted_by(home))

    def find(self, kept: Sequence[Buffer], plan: PlannedStep) -> Buffer | None:
        """Return the buffer; a key of the first device counts, too."""
        keys = [*self._keys_on(plan.device), *self._keys_on(self._home)]
        found = (_best_match(kept, key, self._wanted_by(plan)) for key in keys)
        return next((buffer for buffer in found if buffer is not None), None)

    def find_lookalikes(self, kept: Sequence[Buffer], plan: PlannedStep) -> tuple[Buffer, ...]:
        """Return the kept buffers that have all the properties and lie on the call's device."""
        wanted = self._wanted_by(plan)
        return tuple(
            each
            for each in kept
            if each.kept.dtype == wanted.dtype
            and wanted.shape in (None, each.kept.shape)
            and each.allocation.device == plan.device
        )

    def _wanted_by(self, plan: PlannedStep) -> _Wanted:
        return _Wanted(self._contract.dtype_name, self._contract.shape_at(plan.size))

    def _keys_on(self, device: str) -> list[object]:
        wanted = self._contract.key_on(device)
        if self._stand_in is None:
            return [wanted]
        return [wanted, moved_key(self._stand_in, self._home, device)]


def moved_key(key: object, home: str, device: str) -> object:
    """Return a key with the name of one device in the place of another's."""
    if isinstance(key, str):
        return key.replace(home, device)
    return tuple(moved_key(part, home, device) for part in key) if isinstance(key, tuple) else key


def _best_match(kept: Sequence[Buffer], key: object, wanted: _Wanted) -> Buffer | None:
    ranked = [(rank_of_key(buffer.key, key), buffer) for buffer in kept]
    exact = [buffer for rank, buffer in ranked if rank == 0]
    # Several buffers may be kept in one object under the key; its name does not tell them apart.
    inside = wanted.choose([buffer for rank, buffer in ranked if rank == 1])
    # The last one is what the call left behind.
    return next(reversed(exact or inside), None)


class _Wanted(NamedTuple):
    """The properties that tell the contract's buffer from others."""

    dtype: str
    shape: Shape | None

    def choose(self, kept: Sequence[Buffer]) -> list[Buffer]:
        """Return those that have the properties; one that none of them has does not choose."""
        alike = [each for each in kept if each.kept.dtype == self.dtype] or list(kept)
        return [each for each in alike if each.kept.shape == self.shape] or alike


def _stand_in_key(kept: Sequence[Buffer], wanted: _Wanted) -> object:
    """Return the key of the one kept buffer that could be meant, else None."""
    alike = wanted.choose(kept)
    return alike[0].key if len({each.allocation.order for each in alike}) == 1 else None
