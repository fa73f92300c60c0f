"""What can be reached from an object, without running any of the object's own code."""

from __future__ import annotations

import functools
import gc
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
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

# What a function may keep between its calls: other values may be anybody's, such as the recorder.
_KEEPING = (dict, list, tuple, deque)

CachedFunction = type(functools.lru_cache(len))

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
    elif isinstance(value, CachedFunction):
        for key, inner in _results_of(value):
            yield f"[{plain_key(key)!r}]", inner
    else:
        kept = kept_by(value) if isinstance(value, FunctionType) else []
        for name, inner in [*kept, *attributes_of(value)]:
            yield f".{name}", inner


def kept_by(function: FunctionType) -> list[tuple[str, object]]:
    """Return what a function keeps in defaults and in variables that it closes over, by name."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    found = [*zip(names[len(names) - len(defaults) :], defaults, strict=True)]
    found += (function.__kwdefaults__ or {}).items()
    found += [(name, content) for name, _, content in filled_cells(function)]
    return [each for each in found if isinstance(each[1], _KEEPING) or is_tensor(each[1])]


def filled_cells(function: FunctionType) -> list[tuple[str, CellType, object]]:
    """Return (name, cell, content) of each variable with a value that a function closes over."""
    filled = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            filled.append((name, cell, cell.cell_contents))
        except ValueError:
            continue
    return filled


def _results_of(function: object) -> Iterator[tuple[object, object]]:
    """Yield the arguments and the result of each call that a cached function remembers.

    Only the garbage collector tells; a bounded cache keeps each result behind its key.
    """
    referents = gc.get_referents(function)
    for results in referents:
        if type(results) is dict and results is not vars(function):
            for key, result in results.items():
                at = next((at for at, one in enumerate(referents) if one is key), None)
                yield _without_mark(key), result if at is None else referents[at + 1]


def _without_mark(key: object) -> object:
    # An object without properties stands between the positional and the named arguments.
    if not isinstance(key, tuple):
        return key
    return tuple(part for part in tuple(key) if type(part) is not object)


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
