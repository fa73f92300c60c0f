"""Where buffers live between calls: registries, attributes of objects, globals of modules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from pytest_sm120.recorder.records import TensorView
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DType

#: Called with the key and the view of each tensor that is kept.
OnStore = Callable[[object, TensorView], None]

# cache -> object -> dict -> tuple -> tensor is the deepest nesting seen upstream.
_DEEPEST = 4


def plain_key(key: object) -> object:
    """Return the key with devices and dtypes as strings, so that it can be written in a test."""
    if isinstance(key, Device):
        return str(key)
    if isinstance(key, DType):
        return key.name
    if isinstance(key, tuple):
        return tuple(plain_key(part) for part in key)
    return key


def find_tensors(
    value: object, path: object, depth: int = 0
) -> Iterator[tuple[object, TensorView]]:
    """Yield (path, view) for each tensor in a value, its containers and its attributes."""
    if hasattr(type(value), "__sm120_view__"):
        yield path, value.__sm120_view__()  # type: ignore[attr-defined]  # seen on the line above
    elif depth < _DEEPEST:
        for step, inner in _parts(value):
            yield from find_tensors(inner, f"{path}{step}", depth + 1)


def _parts(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        # A copy: another thread of the code under test may be adding to it.
        for key, inner in list(value.items()):
            yield f"[{plain_key(key)!r}]", inner
    elif isinstance(value, (list, tuple, deque)):
        for position, inner in enumerate(value):
            yield f"[{position}]", inner
    else:
        for name, inner in attributes_of(value):
            yield f".{name}", inner


def attributes_of(value: object) -> list[tuple[str, object]]:
    """Return the attributes stored on an object itself, without asking the object."""
    if isinstance(value, ModuleType) or hasattr(type(value), "__sm120_plain__"):
        return []
    try:
        stored = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    return [(name, inner) for name, inner in list(stored.items()) if not name.startswith("__")]


class Registry(dict[Any, Any]):
    """A dict that reports each tensor stored in it, under which key."""

    def __init__(self, on_store: OnStore) -> None:
        super().__init__()
        self._on_store = on_store

    def __setitem__(self, key: object, value: object) -> None:
        super().__setitem__(key, value)
        for path, view in find_tensors(value, plain_key(key)):
            self._on_store(path, view)

    def setdefault(self, key: object, default: object = None) -> object:
        """Store the default under the key unless it is there; return what is there."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others: Any, **named: object) -> None:
        """Store each item, one by one."""
        for key, value in dict(*others, **named).items():
            self[key] = value

    def __ior__(self, other: Any) -> Registry:  # type: ignore[misc]  # narrower than dict's
        self.update(other)
        return self

    def held_tensors(self) -> Iterator[tuple[object, TensorView]]:
        """Yield (key, view) for each tensor that is held now."""
        for key, value in list(self.items()):
            yield from find_tensors(value, plain_key(key))


class WatchedObject:
    """Reports each tensor stored in an attribute of one object, until ``release`` is called."""

    def __init__(self, watched: object, on_store: OnStore) -> None:
        self.watched = watched
        self._own_class = type(watched)
        self._swap_class(on_store)

    def _swap_class(self, on_store: OnStore) -> None:
        own_class = self._own_class

        def store_and_report(watched: object, name: str, value: object) -> None:
            own_class.__setattr__(watched, name, value)
            for path, view in find_tensors(value, name):
                on_store(path, view)

        try:
            reporting = type(
                own_class.__name__,
                (own_class,),
                {
                    "__slots__": (),
                    "__setattr__": store_and_report,
                    "__module__": own_class.__module__,
                    "__qualname__": own_class.__qualname__,
                },
            )
            self.watched.__class__ = reporting
        except TypeError:
            # Built-in kinds such as SimpleNamespace keep their class; held_tensors still finds
            # what they hold, only without the line that stored it.
            return

    def release(self) -> None:
        """Give the object its own class back."""
        if type(self.watched) is not self._own_class:
            self.watched.__class__ = self._own_class

    def held_tensors(self) -> Iterator[tuple[object, TensorView]]:
        """Yield (path, view) for each tensor that is held now."""
        for name, value in attributes_of(self.watched) + _slots_of(self.watched):
            yield from find_tensors(value, name)


def _slots_of(value: object) -> list[tuple[str, object]]:
    names: Iterable[str] = (
        name
        for kind in type(value).__mro__
        for name in _as_names(kind.__dict__.get("__slots__", ()))
    )
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]


def _as_names(slots: str | Iterable[str]) -> Iterable[str]:
    return (slots,) if isinstance(slots, str) else slots


class ModuleGlobals:
    """Finds the tensors that a module keeps in its globals, classes and functions."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def held_tensors(self) -> Iterator[tuple[object, TensorView]]:
        """Yield (path, view), e.g. ``("_cache[('ws', 'cuda:0')]", view)``."""
        for name, value in list(vars(self.module).items()):
            if not name.startswith("__") and self._is_kept_here(value):
                yield from find_tensors(value, name)

    def _is_kept_here(self, value: object) -> bool:
        if isinstance(value, (type, FunctionType)):
            # An imported class or function belongs to another module.
            return value.__module__ == self.module.__name__
        return True


Holder = Registry | WatchedObject | ModuleGlobals
