"""Contract tests on any CPU for the host-side Python around GPU kernels.

Importing this package imports nothing else: the public names are found on first use, since pytest
imports the package at start-up, also in runs that never use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_sm120.contracts import Scratch as Scratch

__version__ = "0.1.0"
__all__ = ["Scratch", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Scratch":
        from pytest_sm120.contracts import Scratch

        return Scratch
    raise AttributeError(f"module 'pytest_sm120' has no attribute {name!r}")
