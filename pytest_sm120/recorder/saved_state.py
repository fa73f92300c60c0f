"""Saves what holders hold and puts it back, so that a sequence of calls can start afresh."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType

from pytest_sm120.recorder.holders import Holder, ModuleGlobals, Registry, WatchedObject

Restore = Callable[[], None]


def save_state(holders: Iterable[Holder]) -> Restore:
    """Return a function that puts every holder back to what it holds now, containers included."""
    restores = [_save(_namespace_of(holder), seen=set()) for holder in holders]

    def restore() -> None:
        for put_back in restores:
            put_back()

    return restore


def _namespace_of(holder: Holder) -> object:
    if isinstance(holder, ModuleGlobals):
        return vars(holder.module)
    if isinstance(holder, WatchedObject):
        return getattr(holder.watched, "__dict__", holder.watched)
    return holder


def _save(value: object, seen: set[int]) -> Restore:
    """Save a container in place: the same object gets its old items back."""
    seen.add(id(value))
    if isinstance(value, dict):
        return _save_dict(value, seen)
    if isinstance(value, list):
        return _save_list(value, seen)
    return _save_nothing


def _save_nothing() -> None:
    return None


def _save_dict(value: dict[object, object], seen: set[int]) -> Restore:
    items = dict(value)
    inner = _save_each(items.values(), seen)

    def restore() -> None:
        if isinstance(value, Registry):
            value.clear()
            dict.update(value, items)
        else:
            for added in value.keys() - items.keys():
                del value[added]
            value.update(items)
        for put_back in inner:
            put_back()

    return restore


def _save_list(value: list[object], seen: set[int]) -> Restore:
    items = list(value)
    inner = _save_each(items, seen)

    def restore() -> None:
        value[:] = items
        for put_back in inner:
            put_back()

    return restore


def _save_each(values: Iterable[object], seen: set[int]) -> list[Restore]:
    return [_save(value, seen) for value in map(_container_of, values) if id(value) not in seen]


def _container_of(value: object) -> object:
    """Return the dict behind an object of the user's, the value itself for anything else."""
    opaque = (type, FunctionType, ModuleType)
    if isinstance(value, (dict, list, *opaque)) or hasattr(type(value), "__sm120_view__"):
        return value
    if hasattr(type(value), "__sm120_plain__"):
        return value
    return getattr(value, "__dict__", value)
