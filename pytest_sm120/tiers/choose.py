"""Which tiers there are, which a test runs in, and which this machine can serve."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any, NamedTuple

from pytest_sm120.errors import UsageError

#: Every tier, from the one that needs least to the one that proves most.
TIERS = ("source", "record", "interpret", "compile", "device")

#: What an unmarked test runs in.
DEFAULT_TIER = "record"

#: The tiers that this version has.
BUILT_TIERS = ("source", "record")

HasPackage = Callable[[str], bool]


class Availability(NamedTuple):
    """Whether a tier can run here."""

    tier: str
    #: Why it cannot, as a full sentence; ``""`` when it can.
    cause: str = ""
    #: What to do about it, as full sentences; ``""`` when nothing need be done.
    remedy: str = ""
    #: The cause in a few words, for a line that names several tiers.
    short_cause: str = ""

    @property
    def runs(self) -> bool:
        """Whether tests of this tier run here."""
        return not self.cause

    @property
    def why(self) -> str:
        """The cause and the remedy, for a skip."""
        return f"{self.cause} {self.remedy}".strip()


def is_installed(package: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def find_availability(tier: str, has_package: HasPackage = is_installed) -> Availability:
    """Return whether this machine can serve the tier, and if not, why and what to do."""
    if tier in BUILT_TIERS:
        return Availability(tier)
    cause = (
        f"This version of pytest-sm120 does not have the {tier} tier yet, whatever is installed."
    )
    remedy = f"Use the {DEFAULT_TIER} tier, or a version that has this one."
    needed = ("triton",) if tier == "compile" else ("torch", "triton")
    missing = [package for package in needed if not has_package(package)]
    if missing:
        cause += f" A later one will need {' and '.join(missing)}, which this environment lacks."
        remedy += _how_to_install()
    return Availability(tier, cause, remedy, "not in this version yet")


def _how_to_install() -> str:
    how = ' To have that then: pip install "pytest-sm120[torch]"'
    # Triton 3.9.0 has wheels for Python 3.11 and newer only.
    return f"{how}." if sys.version_info >= (3, 11) else f"{how}, with Python 3.11 or newer."


def parse_tiers(given: object, source: str) -> tuple[str, ...]:
    """Return the tiers that ``"a,b"`` or ``["a", "b"]`` names, each once, in that order.

    Raises UsageError for an unknown or empty name; ``source`` says where it was given.
    """
    words = _words(given)
    unknown = [word for word in words if word not in TIERS]
    if unknown or not words:
        seen = repr(unknown[0]) if unknown else "nothing"
        raise UsageError(
            f"{source} asks for {seen}, which is not a tier.",
            limit=f"The tiers are {', '.join(TIERS)}.",
            remedy='Name one, or several separated by commas, e.g. "record,interpret".',
        )
    return tuple(dict.fromkeys(words))


def _words(given: object) -> list[Any]:
    if isinstance(given, str):
        return given.replace(",", " ").split()
    return list(given) if isinstance(given, Iterable) else [given]
