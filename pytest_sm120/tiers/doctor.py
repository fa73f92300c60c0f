"""What ``sm120 doctor`` prints: which tiers run here, which do not, why, and what to install."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable

from pytest_sm120.tiers.choose import TIERS, HasPackage, find_availability, is_installed

_PROOF = {
    "source": "the invariant is in the source text",
    "record": "the host code's contract: allocations, reuse, keys, fills, launches",
    "interpret": "kernels stay in bounds and do not read memory nobody wrote",
    "compile": "kernels build for sm_120 within its limits, without the card",
    "device": "the numbers, on an SM120 or SM121 card",
}

_PACKAGES = ("pytest", "numpy", "libcst", "torch", "triton", "hypothesis")


def describe_machine(
    has_package: HasPackage = is_installed,
    version_of: Callable[[str], str] = importlib.metadata.version,
) -> str:
    """Return the report as text, one line a fact, ending in a newline."""
    lines = [f"python {platform.python_version()}"]
    lines += [_describe_package(package, has_package, version_of) for package in _PACKAGES]
    lines.append("")
    for tier in TIERS:
        lines += _describe_tier(tier, has_package)
    return "\n".join(lines) + "\n"


def _describe_package(
    package: str, has_package: HasPackage, version_of: Callable[[str], str]
) -> str:
    if not has_package(package):
        return f"{package} is not installed"
    try:
        return f"{package} {version_of(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} (of unknown version)"


def _describe_tier(tier: str, has_package: HasPackage) -> list[str]:
    availability = find_availability(tier, has_package)
    mark = "runs" if availability.runs else "cannot run"
    lines = [f"{tier:<10}{mark:<12}proves: {_PROOF[tier]}"]
    if not availability.runs:
        lines += [f"{'':<10}why: {availability.cause}", f"{'':<10}do:  {availability.remedy}"]
    return lines
