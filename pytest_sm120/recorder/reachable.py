"""What can be reached from an object, without running any of the object's own code."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from types import MemberDescriptorType, ModuleType
from typing import TypeVar

from pytest_sm120.recorder.records import TensorView
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DType

K = TypeVar("K")

#: A path as a user would write it, or the key of a registry; and what is found there.
Found = tuple[object, object]

# cache -> object -> dict -> tuple -> tensor is the deepest nesting seen upstream.
_DEEPEST = 4

#: Types that hold nothing. Modules may have tables of a hundred thousand of these.
LEAVES = frozenset(
    {type(None), bool, int, float, complex, str, bytes, bytearray, range, ModuleType}
)

# A logger leads to every other logger and handler of the process.
_FOREIGN_ROOTS = frozenset({"logging"})


def plain_key(key: object) -> object:
    """Return the key with devices, dtypes and ghosts as plain data, as a test would write it."""
    if isinstance(key, Device):
        return str(key)
    if isinstance(key, DType):
        return key.name
    if isinstance(key, tuple):
        return tuple(plain_key(part) for part in key)
    if hasattr(type(key), "__sm120_plain__"):
        return key.__sm120_plain__()  # type: ignore[attr-defined]  # seen on the line above
    return key


def walk(roots: Iterable[Found]) -> Iterator[Found]:
    """Yield the roots and what they hold, level by level, each object once; leaves are left out.

    An object that is reached in several ways has the shortest path; a tensor has all of them.
    """
    seen: set[int] = set()
    level = list(roots)
    for _ in range(_DEEPEST + 1):
        entered: list[Found] = []
        for path, value in level:
            if is_tensor(value):
                yield path, value
            elif type(value) not in LEAVES and id(value) not in seen:
                seen.add(id(value))
                entered.append((path, value))
                yield path, value
        level = [
            (f"{path}{step}", inner) for path, value in entered for step, inner in _parts(value)
        ]


def find_tensors(roots: Iterable[Found]) -> Iterator[tuple[object, TensorView]]:
    """Yield (path, view) for each tensor among what the roots hold."""
    for path, value in walk(roots):
        if is_tensor(value):
            yield path, value.__sm120_view__()  # type: ignore[attr-defined]  # that is the test


def is_tensor(value: object) -> bool:
    """Return whether a value stands for a piece of memory."""
    return hasattr(type(value), "__sm120_view__")


def _parts(value: object) -> Iterator[tuple[str, object]]:
    # The methods of the built-in types, on a copy: a subclass may have its own, and another thread
    # of the code under test may be adding to it.
    if isinstance(value, dict):
        for key, inner in _worth_a_look(list(dict.items(value)), list(dict.values(value))):
            yield f"[{plain_key(key)!r}]", inner
    elif isinstance(value, (list, tuple, deque)):
        items = _items(value)
        for position, inner in _worth_a_look(enumerate(items), items):
            yield f"[{position}]", inner
    else:
        for name, inner in attributes_of(value):
            yield f".{name}", inner


def _worth_a_look(
    pairs: Iterable[tuple[K, object]], values: list[object]
) -> Iterator[tuple[K, object]]:
    """Yield the pairs whose values may hold something; a long table of numbers costs little."""
    if not LEAVES.issuperset(map(type, values)):
        yield from (pair for pair in pairs if type(pair[1]) not in LEAVES)


def _items(value: list[object] | tuple[object, ...] | deque[object]) -> list[object]:
    if isinstance(value, list):
        return list(list.__iter__(value))
    return list(tuple.__iter__(value) if isinstance(value, tuple) else deque.__iter__(value))


def attributes_of(value: object) -> list[tuple[str, object]]:
    """Return the attributes stored on an object itself, in its dict and in its slots."""
    kind = type(value)
    if isinstance(value, ModuleType) or hasattr(kind, "__sm120_plain__"):
        return []
    if kind.__module__.partition(".")[0] in _FOREIGN_ROOTS:
        return []
    stored = {**own_dict(value), **{name: found for name, _, found in filled_slots(value)}}
    return [(name, inner) for name, inner in stored.items() if not name.startswith("__")]


def own_dict(value: object) -> dict[str, object]:
    """Return the dict behind an object, or the namespace of a class; empty where there is none."""
    if isinstance(value, threading.local):
        # Its dict is another one in each thread, and only it knows which.
        return vars(value)
    try:
        return object.__getattribute__(value, "__dict__")  # type: ignore[no-any-return]  # a dict
    except AttributeError:
        return {}


def filled_slots(value: object) -> list[tuple[str, MemberDescriptorType, object]]:
    """Return (name, descriptor, content) of each slot that holds something."""
    filled = []
    for name, slot in _slots_of(type(value)):
        try:
            filled.append((name, slot, slot.__get__(value)))
        except AttributeError:
            continue
    return filled


def _slots_of(kind: type) -> list[tuple[str, MemberDescriptorType]]:
    return [
        (name, slot)
        for base in kind.__mro__
        if "__slots__" in vars(base)
        for name, slot in vars(base).items()
        if isinstance(slot, MemberDescriptorType)
    ]
