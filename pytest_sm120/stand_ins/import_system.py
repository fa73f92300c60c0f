"""What an import statement of a target gets, without touching anybody else's imports.

Each target runs with an ``__import__`` of its own: only targets see ghosts, and the test, pytest
and its plugins go on importing the real things.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from pytest_sm120.recorder.places import find_place
from pytest_sm120.stand_ins.ghosts import Ghosts
from pytest_sm120.stand_ins.import_statements import absolute_name
from pytest_sm120.stand_ins.process_state import REPLACED_PACKAGES, root_of

#: Third-party packages that are themselves when they are installed: plain host-side libraries
#: that neither allocate nor launch.
REAL_PACKAGES = frozenset({"numpy", "packaging", "typing_extensions", "regex", "einops", "msgspec"})

LoadSibling = Callable[[str], "ModuleType | None"]


class OverlaidModule(ModuleType):
    """A real module in which some names have been given another meaning, for targets only."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__, real.__doc__)
        self.__dict__["_real"] = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_real"], name)

    def __dir__(self) -> Iterable[str]:
        return sorted({*dir(self.__dict__["_real"]), *self.__dict__})


class ImportSystem:
    """Resolves the dotted names that targets import."""

    def __init__(self, ghosts: Ghosts, stand_ins: Mapping[str, Any], real: Iterable[str]) -> None:
        self.ghosts = ghosts
        #: Stand-ins, targets and overlaid modules, by dotted name.
        self.modules: dict[str, Any] = dict(stand_ins)
        #: ``"stand-in"``, ``"ghost"``, ``"real"``, ``"provided"`` or ``"target"``, by dotted name.
        self.kinds: dict[str, str] = {}
        #: Loads a sibling that was asked for with ``real=``; None when it was not.
        self.load_sibling: LoadSibling = lambda dotted: None
        self._real = frozenset(root_of(name) for name in real)
        self._builtins = {**vars(builtins), "__import__": self.import_for_target}
        self._overlay_importlib()
        ghosts.look_up = self.look_up

    def builtins_for_target(self) -> dict[str, Any]:
        """Return the built-ins that a target runs with."""
        return self._builtins

    def import_for_target(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Iterable[str] | None = (),
        level: int = 0,
    ) -> Any:
        """Do what ``__import__`` does, for an import statement in a target."""
        package = (globals or {}).get("__package__") or ""
        absolute = absolute_name(name, package, level)
        if self.is_real(absolute):
            self.kinds.setdefault(absolute, "real")
            return importlib.__import__(name, globals, locals, tuple(fromlist or ()), level)
        module = self.module(absolute)
        if fromlist:
            self._prepare_names(module, absolute, fromlist)
            return module
        return self.module(root_of(absolute))

    def is_real(self, dotted: str) -> bool:
        """Return whether a module is imported for real, rather than stood in for."""
        root = root_of(dotted)
        if root in self.modules or root in REPLACED_PACKAGES:
            return False
        if root in sys.stdlib_module_names or root in self._real:
            return True
        return root in REAL_PACKAGES and importlib.util.find_spec(root) is not None

    def module(self, dotted: str) -> Any:
        """Return what ``import dotted`` means, and note of which kind it is."""
        found = self.look_up(dotted)
        self.kinds.setdefault(dotted, self._kind_of(dotted))
        return found

    def _kind_of(self, dotted: str) -> str:
        if dotted in self.ghosts.execution.provided:
            return "provided"
        if dotted not in self.modules:
            return "ghost"
        if isinstance(self.modules[dotted], OverlaidModule):
            return "real"
        return "stand-in"

    def look_up(self, dotted: str) -> Any:
        """Return what a dotted name stands for: provided, loaded, part of a stand-in, or a ghost."""
        provided = self.ghosts.execution.provided
        if dotted in provided:
            return provided[dotted]
        if dotted in self.modules:
            return self.modules[dotted]
        sibling = self.load_sibling(dotted)
        if sibling is not None:
            return sibling
        parent, _, attribute = dotted.rpartition(".")
        if root_of(dotted) in self.modules and parent:
            return self._part_of_known(self.look_up(parent), attribute, dotted)
        return self.ghosts.named(dotted)

    def _part_of_known(self, parent: Any, attribute: str, dotted: str) -> Any:
        try:
            return getattr(parent, attribute)
        except AttributeError:
            if isinstance(parent, OverlaidModule):
                return importlib.import_module(dotted)
            return self.ghost(dotted)

    def ghost(self, dotted: str) -> Any:
        """Return the ghost of a name; what torch or triton has but we do not model is stricter."""
        modelled = root_of(dotted) in REPLACED_PACKAGES and not dotted.startswith("torch.ops.")
        return self.ghosts.modelled_only(dotted) if modelled else self.ghosts.named(dotted)

    def _prepare_names(self, module: Any, dotted: str, names: Iterable[str]) -> None:
        for name in names:
            full = f"{dotted}.{name}"
            if full in self.ghosts.execution.provided:
                self.kinds.setdefault(full, "provided")
            if isinstance(module, ModuleType) and not hasattr(module, name):
                sibling = self.load_sibling(full)
                if sibling is not None:
                    setattr(module, name, sibling)

    # -- importlib, as targets see it ------------------------------------------------------------

    def overlay(self, dotted: str) -> OverlaidModule:
        """Return the overlaid form of a real module, with its parents overlaid, too."""
        found = self.modules.get(dotted)
        if isinstance(found, OverlaidModule):
            return found
        overlaid = OverlaidModule(importlib.import_module(dotted))
        self.modules[dotted] = overlaid
        parent, _, last = dotted.rpartition(".")
        if parent:
            setattr(self.overlay(parent), last, overlaid)
        return overlaid

    def _overlay_importlib(self) -> None:
        self.overlay("importlib").__dict__["import_module"] = self._import_module
        self.overlay("importlib.util").__dict__["find_spec"] = self._find_spec
        self.overlay("importlib.metadata").__dict__["version"] = self._version

    def _import_module(self, name: str, package: str | None = None) -> Any:
        level = len(name) - len(name.lstrip("."))
        absolute = absolute_name(name.lstrip("."), package or "", level)
        if self.is_real(absolute):
            return importlib.import_module(absolute)
        return self.module(absolute)

    def _find_spec(self, name: str, package: str | None = None) -> ModuleSpec | None:
        level = len(name) - len(name.lstrip("."))
        absolute = absolute_name(name.lstrip("."), package or "", level)
        if self.is_real(absolute):
            return importlib.util.find_spec(absolute)
        return ModuleSpec(absolute, None, origin=find_place().path)

    def _version(self, distribution_name: str) -> str:
        if distribution_name in REPLACED_PACKAGES:
            return str(self.modules[distribution_name].__version__)
        return importlib.metadata.version(distribution_name)
