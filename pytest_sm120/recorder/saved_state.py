"""Saves what holders hold and puts it back, so that a sequence of calls can start afresh."""

from __future__ import annotations

import functools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from types import CellType, FunctionType
from typing import Any

from pytest_sm120.recorder.holders import Holder
from pytest_sm120.recorder.reachable import (
    CachedFunction,
    filled_cells,
    filled_slots,
    is_tensor,
    own_dict,
    walk,
)

Restore = Callable[[], None]


def save_state(holders: Iterable[Holder]) -> Restore:
    """Return a function that puts every holder back to what it holds now, containers included.

    The containers stay the same objects and get their old items back. The contents of tensors are
    not saved. A function with an lru_cache that has been called in between forgets its results.
    """
    listed = list(holders)
    values = [(None, holder.container) for holder in listed]
    held = [found for holder in listed for found in holder.held_values()]
    restores = [_save(value) for _, value in values]
    restores += [_save(value) for _, value in walk(held) if not _is_fixed(value)]

    def restore() -> None:
        for put_back in restores:
            put_back()

    return restore


def _is_fixed(value: object) -> bool:
    # What a kernel's dict holds was worked out from its text; it would only be worked out again.
    return is_tensor(value) or hasattr(type(value), "__sm120_kernel__")


def _save(value: Any) -> Restore:
    """Save one container; what its items hold is saved by itself."""
    if isinstance(value, dict):
        return functools.partial(_restore_dict, value, dict(value))
    if isinstance(value, (list, deque)):
        return functools.partial(_restore_sequence, value, list(value))
    if isinstance(value, set):
        return functools.partial(_restore_set, value, set(value))
    if isinstance(value, CachedFunction):
        return functools.partial(_restore_cached_function, value, value.cache_info().misses)
    if isinstance(value, FunctionType):
        return functools.partial(_restore_function, value, dict(vars(value)), filled_cells(value))
    if isinstance(value, type):
        return functools.partial(_restore_class, value, dict(vars(value)))
    slots = {slot: content for _, slot, content in filled_slots(value)}
    return functools.partial(_restore_object, value, dict(own_dict(value)), slots)


def _restore_dict(value: dict[Any, Any], items: dict[Any, Any]) -> None:
    # Not the object's own methods: a registry would report each item, as if it were stored anew.
    # An OrderedDict has a list of its keys beside the dict.
    plain: Any = OrderedDict if isinstance(value, OrderedDict) else dict
    for added in dict.keys(value) - items.keys():
        plain.__delitem__(value, added)
    for key, item in items.items():
        if not dict.__contains__(value, key) or dict.__getitem__(value, key) is not item:
            plain.__setitem__(value, key, item)
    if any(now is not before for now, before in zip(plain.__iter__(value), items, strict=True)):
        for key in items:
            plain.__setitem__(value, key, plain.pop(value, key))


def _restore_sequence(value: Any, items: list[object]) -> None:
    value.clear()
    value.extend(items)


def _restore_set(value: set[object], items: set[object]) -> None:
    value.clear()
    value.update(items)


def _restore_cached_function(value: Any, misses: int) -> None:
    if value.cache_info().misses != misses:
        value.cache_clear()


def _restore_function(
    value: FunctionType, attributes: dict[str, Any], cells: list[tuple[str, CellType, object]]
) -> None:
    _restore_dict(vars(value), attributes)
    for _, cell, content in cells:
        cell.cell_contents = content


def _restore_class(value: type, attributes: Mapping[str, object]) -> None:
    for added in vars(value).keys() - attributes.keys():
        type.__delattr__(value, added)
    for name, attribute in attributes.items():
        if vars(value).get(name, value) is not attribute:
            type.__setattr__(value, name, attribute)


def _restore_object(value: object, attributes: dict[str, Any], slots: dict[Any, object]) -> None:
    if attributes or own_dict(value):
        _restore_dict(own_dict(value), attributes)
    for _, slot, _ in filled_slots(value):
        if slot not in slots:
            slot.__delete__(value)
    for slot, content in slots.items():
        slot.__set__(value, content)
