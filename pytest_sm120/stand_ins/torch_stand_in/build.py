"""Builds the modules that stand in for torch during one test."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.stand_in_modules import StandInModule, no_attribute
from pytest_sm120.stand_ins.torch_stand_in import custom_ops
from pytest_sm120.stand_ins.torch_stand_in.known_names import torch_has
from pytest_sm120.stand_ins.torch_stand_in.namespace import BOUND, CONSTANTS, LATER
from pytest_sm120.stand_ins.torch_stand_in.stream_names import STREAM_NAMES, find_stream_name

MakeGhost = Callable[[str], object]

#: The modelled modules, parents before their children.
MODULES = (*CONSTANTS,)

# What these hold differs from build to build, so that no table of their names is right.
_PRIVATE = frozenset({"torch._C"})

#: The classes that the stand-ins of all tests share.
TORCH_CLASSES = tuple(
    value
    for constants in CONSTANTS.values()
    for value in constants.values()
    if isinstance(value, type) and not issubclass(value, Exception)
)


def _list_names(module: str) -> set[str]:
    later = LATER[module]() if module in LATER else {}
    return {*CONSTANTS[module], *BOUND.get(module, ()), *STREAM_NAMES.get(module, ()), *later}


def build_torch(execution: Execution, make_ghost: MakeGhost) -> dict[str, ModuleType]:
    """Return the modelled modules by dotted name, linked to each other.

    What torch has and this stand-in does not model is ``make_ghost(dotted_name)``; what torch does
    not have raises AttributeError, as in a module.
    """
    own = _bound_objects(execution, make_ghost)

    def find(module: str, name: str) -> Any:
        dotted = f"{module}.{name}"
        if dotted in own:
            return own[dotted]()
        if name in CONSTANTS[module]:
            return CONSTANTS[module][name]
        if name in BOUND.get(module, ()):
            return partial(BOUND[module][name], execution)
        if name in STREAM_NAMES.get(module, ()):
            return find_stream_name(execution, name)
        later = LATER[module]() if module in LATER and not name.startswith("__") else {}
        if name in later:
            return later[name]
        if torch_has(module, name) or (module in _PRIVATE and not name.startswith("__")):
            return make_ghost(dotted)
        raise no_attribute(module, name)

    modules: dict[str, ModuleType] = {
        name: StandInModule(name, find, _list_names) for name in MODULES
    }
    for name, module in modules.items():
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(modules[parent], child, module)
    for part in ("streams", "graphs"):
        own[f"torch.cuda.{part}"] = lambda: modules["torch.cuda"]
    own["torch.get_device_module"] = lambda: _device_module_finder(modules)
    return modules


def _bound_objects(execution: Execution, make_ghost: MakeGhost) -> dict[str, Callable[[], Any]]:
    """Return what makes each object that belongs to one build, by dotted name."""
    operators = custom_ops.Operators(execution, make_ghost)
    library = custom_ops.library_class(operators)
    return {
        "torch.ops": lambda: operators,
        "torch.library.Library": lambda: library,
        "torch.library.custom_op": lambda: partial(custom_ops.custom_op, operators),
        "torch.library.triton_op": lambda: partial(custom_ops.custom_op, operators),
        "torch.library.impl": lambda: partial(custom_ops.impl, operators),
        "torch.library.define": lambda: partial(custom_ops.define, operators),
    }


def _device_module_finder(modules: dict[str, ModuleType]) -> Callable[..., Any]:
    def get_device_module(device: Any = None) -> Any:
        """Return the module of the device's type."""
        kind = getattr(device, "type", str(device or "cuda").partition(":")[0])
        return getattr(modules["torch"], kind)

    return get_device_module
