"""Modules that stand in for real ones, and the tables of the names that the real ones have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any


class StandInModule(ModuleType):
    """A module whose attributes are looked up when they are asked for.

    ``find(module, name)`` returns the attribute or raises AttributeError; ``list_names(module)``
    returns what ``dir`` shows besides what has been looked up.
    """

    def __init__(
        self,
        name: str,
        find: Callable[[str, str], Any],
        list_names: Callable[[str], Iterable[str]] = lambda module: (),
    ) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__dict__.update(_find=find, _list_names=list_names)

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__["_find"](self.__name__, name)
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["_list_names"](self.__name__)})


def no_attribute(module: str, name: str) -> AttributeError:
    """Return the error of a module that has no such attribute, in Python's words."""
    return AttributeError(f"module {module!r} has no attribute {name!r}")


@cache
def read_names(table: Path) -> dict[str, frozenset[str]]:
    """Return the names that each owner has, from a table with a ``[section]`` for each owner."""
    sections = [part.partition("]") for part in table.read_text("utf-8").split("\n[")[1:]]
    return {owner: frozenset(names.split()) for owner, _, names in sections}
