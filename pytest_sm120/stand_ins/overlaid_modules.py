"""Real modules in which some names mean something else, for targets only."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from types import ModuleType
from typing import Any


class OverlaidModule(ModuleType):
    """A real module in which some names have been given another meaning."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__, real.__doc__)
        self.__dict__["_real"] = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_real"], name)

    def __dir__(self) -> Iterable[str]:
        return sorted({*dir(self.__dict__["_real"]), *self.__dict__})


def overlay(modules: dict[str, Any], dotted: str) -> OverlaidModule:
    """Return the overlaid form of a real module, kept among the modules like its parents'.

    Raises ImportError when there is no such module.
    """
    found = modules.get(dotted)
    if isinstance(found, OverlaidModule):
        return found
    overlaid = OverlaidModule(importlib.import_module(dotted))
    modules[dotted] = overlaid
    parent, _, last = dotted.rpartition(".")
    if parent:
        setattr(overlay(modules, parent), last, overlaid)
    return overlaid
