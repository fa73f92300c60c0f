"""Contract tests on any CPU for the host-side Python around GPU kernels.

Importing this package imports nothing else: the public names are found on first use, since pytest
imports the package at start-up, also in runs that never use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pytest_sm120.contracts import Scratch as Scratch
    from pytest_sm120.contracts.implementations import Implementations as Implementations
    from pytest_sm120.contracts.kernel_arguments import KernelArguments as KernelArguments
    from pytest_sm120.contracts.siblings import Siblings as Siblings

    # Declared, not imported: the plugin knows pytest, and no room may reach it through this module.
    for_each_arch: Callable[..., Any]

__version__ = "0.1.0"
__all__ = [
    "Implementations",
    "KernelArguments",
    "Scratch",
    "Siblings",
    "__version__",
    "for_each_arch",
]

# Where each public name is; read when it is asked for.
_HOMES = {
    "Implementations": "contracts.implementations",
    "KernelArguments": "contracts.kernel_arguments",
    "Scratch": "contracts",
    "Siblings": "contracts.siblings",
    "for_each_arch": "plugin.turns",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pytest_sm120' has no attribute {name!r}")
