"""What an import statement of a target gets, without touching anybody else's imports.

Each target runs with an ``__import__`` of its own: only targets see ghosts, and the test, pytest
and its plugins go on importing the real things.
"""

from __future__ import annotations

import builtins
import dataclasses
import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from pytest_sm120.recorder.places import TARGET_MARK, find_place
from pytest_sm120.stand_ins.execution import Assumption
from pytest_sm120.stand_ins.ghost_errors import value_asked_of_ghost
from pytest_sm120.stand_ins.ghosts import Ghost, Ghosts
from pytest_sm120.stand_ins.import_statements import absolute_name, leading_dots
from pytest_sm120.stand_ins.overlaid_modules import OverlaidModule, overlay
from pytest_sm120.stand_ins.process_state import REPLACED_PACKAGES, root_of

#: Third-party packages that are themselves when they are installed: plain host-side libraries
#: that neither allocate nor launch.
REAL_PACKAGES = frozenset({"numpy", "packaging", "typing_extensions", "regex", "einops", "msgspec"})

# Packages that are there only beside another vendor's card; we stand for an NVIDIA one.
_OTHER_VENDORS = frozenset(
    """
    aiter amdsmi pyhip torch_npu sgl_kernel_npu intel_extension_for_pytorch habana_frameworks
    torch_musa torch_mlu torch_xla torch_neuronx
    """.split()
)


# Below these names torch has what code under test registers or compiles itself.
_EXTENSIONS = ("torch.ops.", "torch.classes.", "torch.utils.cpp_extension.")


class ImportSystem:
    """Resolves the dotted names that targets import."""

    def __init__(self, ghosts: Ghosts, stand_ins: Mapping[str, Any], real: Iterable[str]) -> None:
        self.ghosts = ghosts
        #: Stand-ins, targets and overlaid modules, by dotted name.
        self.modules: dict[str, Any] = dict(stand_ins)
        #: Loads a sibling that was asked for with ``real=``; None when it was not.
        self.load_sibling: Callable[[str], ModuleType | None] = lambda dotted: None
        #: Says which names a star import of a module that is not loaded would bind.
        self.public_names: Callable[[str], list[str]] = lambda dotted: []
        #: Says which part of torch or triton a module that is not loaded hands on under a name.
        self.handed_on: Callable[[str], str | None] = lambda dotted: None
        self._real = frozenset(root_of(name) for name in real)
        #: The built-ins that a target runs with.
        self.builtins = {**vars(builtins), "__import__": self.import_for_target}
        self._overlay_importlib()
        ghosts.look_up = self.look_up

    @property
    def _provided(self) -> dict[str, object]:
        return self.ghosts.execution.provided

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
        kinds = (globals or {}).get("__sm120_imports__", {})
        if self.is_real(absolute):
            kinds.setdefault(absolute, "real")
            return importlib.__import__(name, globals, locals, tuple(fromlist or ()), level)
        module = self._noted(absolute, kinds)
        if not fromlist:
            return self.look_up(root_of(absolute))
        for imported in fromlist:
            self._prepare_name(module, absolute, imported, kinds)
        return module

    def is_real(self, dotted: str) -> bool:
        """Return whether a module is imported for real, rather than stood in for."""
        root = root_of(dotted)
        return root not in self.modules and root not in self._provided and self._exists(root)

    def _exists(self, root: str) -> bool:
        if root in REPLACED_PACKAGES:
            return False
        if root in sys.stdlib_module_names or root in self._real:
            return True
        return root in REAL_PACKAGES and importlib.util.find_spec(root) is not None

    def _noted(self, dotted: str, kinds: dict[str, str]) -> Any:
        found = self.look_up(dotted)
        kinds.setdefault(dotted, self._kind_of(dotted, found))
        return found

    def _kind_of(self, dotted: str, found: object) -> str:
        if dotted in self._provided:
            return "provided"
        if isinstance(found, Ghost):
            return "ghost"
        if hasattr(found, TARGET_MARK):
            return "target"
        if root_of(dotted) in REPLACED_PACKAGES:
            return "stand-in"
        return "real" if self._exists(root_of(dotted)) else "provided"

    def look_up(self, dotted: str) -> Any:
        """Return what a name stands for: provided, loaded, part of a stand-in, or a ghost."""
        if dotted in self._provided:
            return self._provided[dotted]
        if dotted in self.modules:
            return self.modules[dotted]
        sibling = self.load_sibling(dotted)
        if sibling is not None:
            return sibling
        parent, _, attribute = dotted.rpartition(".")
        holder = self.look_up(parent) if parent else None
        if holder is None or isinstance(holder, Ghost):
            origin = self.handed_on(dotted)
            return self.ghost(dotted) if origin is None else self.look_up(origin)
        return self._part_of(holder, attribute, dotted)

    def _part_of(self, holder: Any, attribute: str, dotted: str) -> Any:
        if isinstance(holder, OverlaidModule) and not hasattr(holder, attribute):
            return importlib.import_module(dotted)
        return getattr(holder, attribute) if hasattr(holder, attribute) else self.ghost(dotted)

    def ghost(self, dotted: str) -> Any:
        """Return the ghost of a name; what torch or triton has but we do not model is stricter."""
        modelled = root_of(dotted) in REPLACED_PACKAGES and not dotted.startswith(_EXTENSIONS)
        return self.ghosts.modelled_only(dotted) if modelled else self.ghosts.named(dotted)

    def _prepare_name(self, module: Any, dotted: str, name: str, kinds: dict[str, str]) -> None:
        """Let a module have what ``from module import name`` asks of it."""
        full = f"{dotted}.{name}"
        if full in self._provided:
            kinds.setdefault(full, "provided")
        if name == "*":
            if isinstance(module, Ghost):
                module.__dict__["__all__"] = self.public_names(dotted)
        elif isinstance(module, Ghost) and name.startswith("__"):
            # Asked for by name, as in ``from .version import __version__``.
            module.__dict__.setdefault(name, self.look_up(full))
        elif isinstance(module, OverlaidModule) and not hasattr(module, name):
            importlib.__import__(dotted, fromlist=(name,))
        elif hasattr(module, TARGET_MARK) and not hasattr(module, name):
            sibling = self.load_sibling(full)
            if sibling is not None or hasattr(module, "__path__"):
                # What a package does not define itself is a module inside it.
                setattr(module, name, sibling or self.look_up(full))

    # -- names in real modules, as targets see them ------------------------------------------------

    def put_provided(self, dotted: str, value: object) -> None:
        """Let a provided name reach inside a stand-in or a real module, which hold their own names.

        Raises ImportError when the name lies inside something real that is not a module.
        """
        parent, _, last = dotted.rpartition(".")
        if not parent or root_of(dotted) in self._provided:
            return
        if self._exists(root_of(dotted)):
            setattr(overlay(self.modules, parent), last, value)
            return
        holder = self.look_up(parent) if root_of(dotted) in self.modules else None
        if holder is not None and not isinstance(holder, (Ghost, type)):
            setattr(holder, last, value)

    def _overlay_importlib(self) -> None:
        for dotted, name, meaning in (
            ("importlib", "import_module", self._import_module),
            ("importlib.util", "find_spec", self._find_spec),
            ("importlib.metadata", "version", self._version),
            ("dataclasses", "replace", self._replace),
        ):
            setattr(overlay(self.modules, dotted), name, meaning)

    def _import_module(self, name: str, package: str | None = None) -> Any:
        absolute = absolute_name(name.lstrip("."), package or "", leading_dots(name))
        kinds = sys._getframe(1).f_globals.get("__sm120_imports__", {})
        if self.is_real(absolute):
            kinds.setdefault(absolute, "real")
            return importlib.import_module(absolute)
        return self._noted(absolute, kinds)

    def _find_spec(self, name: str, package: str | None = None) -> ModuleSpec | None:
        absolute = absolute_name(name.lstrip("."), package or "", leading_dots(name))
        if self.is_real(absolute):
            return importlib.util.find_spec(absolute)
        found = self.look_up(absolute)
        if found is None:
            # provide={"flashinfer": None}: let it be absent.
            return None
        if not isinstance(found, Ghost):
            return ModuleSpec(absolute, None, origin=getattr(found, "__file__", None))
        missing = root_of(absolute) in _OTHER_VENDORS
        question = f"importlib.util.find_spec({absolute!r})"
        if not self.ghosts.execution.importing and not missing:
            raise value_asked_of_ghost(
                find_place().site, absolute, question, key=absolute, called=False, held=()
            )
        answer = "not found" if missing else "found"
        self.ghosts.execution.assume(Assumption(find_place().site, question, answer))
        return None if missing else ModuleSpec(absolute, None)

    def _replace(self, obj: Any, /, **changes: Any) -> Any:
        if isinstance(obj, Ghost):
            return obj._ghosts.result_of(obj.replace, (), changes)
        return dataclasses.replace(obj, **changes)

    def _version(self, distribution_name: str) -> str:
        if distribution_name in REPLACED_PACKAGES:
            return str(self.modules[distribution_name].__version__)
        return importlib.metadata.version(distribution_name)
