"""Where buffers live between calls: registries, attributes of objects, globals of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from pytest_sm120.recorder.reachable import (
    LEAVES,
    Found,
    attributes_of,
    find_tensors,
    is_tensor,
    kept_by,
    plain_key,
)
from pytest_sm120.recorder.records import TensorView

#: Called with the key and the view of each tensor that is kept.
OnStore = Callable[[object, TensorView], None]


class Registry(dict[Any, Any]):
    """A dict that reports each tensor stored in it, under which key."""

    def __init__(self, on_store: OnStore) -> None:
        super().__init__()
        self._on_store = on_store

    def __setitem__(self, key: object, value: object) -> None:
        super().__setitem__(key, value)
        for path, view in find_tensors([(plain_key(key), value)]):
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

    @property
    def container(self) -> object:
        """The object whose items are held."""
        return self

    def held_values(self) -> list[Found]:
        """Return (key, value) for each item that is held now."""
        return [(plain_key(key), value) for key, value in list(self.items())]

    def held_tensors(self) -> Iterator[tuple[object, TensorView]]:
        """Yield (key, view) for each tensor that is held now."""
        return find_tensors(self.held_values())


class WatchedObject:
    """Reports each tensor stored in an attribute of one object, until ``release`` is called.

    The object keeps its class; what changes meanwhile is how that class sets attributes. Objects
    that are watched are released in the opposite order.
    """

    def __init__(self, watched: object, on_store: OnStore) -> None:
        self.watched = watched
        self._kind = type(watched)
        self._own = vars(self._kind).get("__setattr__")
        self._changed = self._change_class(on_store)

    def _change_class(self, on_store: OnStore) -> bool:
        set_attribute: Callable[[object, str, object], None] = self._kind.__setattr__

        def store_and_report(target: object, name: str, value: object) -> None:
            set_attribute(target, name, value)
            if target is self.watched:
                for path, view in find_tensors([(name, value)]):
                    on_store(path, view)

        try:
            self._kind.__setattr__ = store_and_report  # type: ignore[method-assign]  # the point
        except TypeError:
            # Built-in kinds such as SimpleNamespace stay as they are; held_tensors still finds
            # what they hold, only without the line that stored it.
            return False
        return True

    def release(self) -> None:
        """Give the object's class its own way of setting attributes back."""
        if self._changed and self._own is not None:
            self._kind.__setattr__ = self._own  # type: ignore[method-assign]  # as it was
        elif self._changed:
            del self._kind.__setattr__
        self._changed = False

    @property
    def container(self) -> object:
        """The object whose attributes are held."""
        return self.watched

    def held_values(self) -> list[Found]:
        """Return (name, value) for each attribute that is set now."""
        return list[Found](attributes_of(self.watched))

    def held_tensors(self) -> Iterator[tuple[object, TensorView]]:
        """Yield (path, view) for each tensor that is held now."""
        return find_tensors(self.held_values())


class ModuleGlobals:
    """Finds the tensors that a module keeps in its globals, classes and functions."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    @property
    def container(self) -> object:
        """The dict whose items are held."""
        return vars(self.module)

    def held_values(self) -> list[Found]:
        """Return (name, value) for each global that belongs to this module."""
        return [
            (name, value)
            for name, value in list(vars(self.module).items())
            if not name.startswith("__") and self._is_kept_here(value)
        ]

    def held_tensors(self) -> Iterator[tuple[object, TensorView]]:
        """Yield (path, view), e.g. ``("_cache[('ws', 'cuda:0')]", view)``."""
        return find_tensors([found for found in self.held_values() if _may_lead_on(found[1])])

    def _is_kept_here(self, value: object) -> bool:
        if isinstance(value, (type, FunctionType)):
            # An imported class or function belongs to another module.
            return value.__module__ == self.module.__name__
        return True


def _may_lead_on(value: object) -> bool:
    """Leave out quickly what most globals are: this is asked at every query."""
    kind = type(value)
    if isinstance(value, FunctionType):
        return bool(value.__dict__ or kept_by(value))
    return kind not in LEAVES and (is_tensor(value) or not hasattr(kind, "__sm120_plain__"))


Holder = Registry | WatchedObject | ModuleGlobals
