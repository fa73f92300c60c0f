"""Who reads what nobody wrote: which version of it is in force, and what that makes of a hazard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_sm120.errors import UsageError

if TYPE_CHECKING:
    from packaging.requirements import Requirement


class Hazard(NamedTuple):
    """Whether the consumer in force reads what nobody wrote, and how that is known."""

    state: Literal["live", "latent", "unknown"]
    #: One sentence for the report.
    explanation: str


# The forms that nearly everybody writes. What has one of them is valid without importing
# packaging, which would cost every run as much as importing this whole room.
_PLAIN_CONSUMER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*(?:(?:<=|>=|==|!=|<|>)\d+(?:\.\d+)*)?")
_PLAIN_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*==\d+(?:\.\d+)*")


def check_consumer(consumer: str) -> None:
    """Raise UsageError when it is no requirement."""
    if _PLAIN_CONSUMER.fullmatch(consumer) is None:
        parse_consumer(consumer)


def check_pins(versions: Sequence[str]) -> None:
    """Raise UsageError when one of them does not pin a distribution to a version."""
    for pin in versions:
        if _PLAIN_PIN.fullmatch(pin) is None:
            _parse_pin(pin)


def parse_consumer(consumer: str) -> Requirement:
    """Return the parsed requirement; UsageError when it is none."""
    found = _parse(consumer)
    if found is None:
        raise UsageError(
            f"Scratch(consumer={consumer!r}) does not name a distribution and its versions.",
            limit="A consumer is written as a requirement of pip.",
            remedy='Write e.g. consumer="flashinfer-python<=0.6.18".',
        )
    return found


def _parse(text: str) -> Requirement | None:
    # Imported here, since most runs of pytest never come here.
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def judge_hazard(consumer: str, versions: Sequence[str] = ()) -> Hazard:
    """Return whether the hazard is live with the version in force.

    ``versions`` are pins such as ``"flashinfer-python==0.6.18"``; they go before what is installed.
    A version that is neither pinned nor installed is unknown, which counts as live.
    """
    wanted = parse_consumer(consumer)
    version, source = _version_in_force(wanted.name, versions)
    if version is None:
        return Hazard(
            "unknown",
            f"unknown version, taken as live: sm120_versions does not pin {wanted.name}, and it"
            f" is not installed.",
        )
    subject = f"{wanted.name} {version} is in force ({source})"
    if wanted.specifier.contains(version, prereleases=True):
        return Hazard("live", f"live: {subject}, and the contract names {consumer} as affected.")
    return Hazard(
        "latent",
        f"latent: {subject}, which is outside {wanted.specifier}; the contract still asks for it,"
        f" since another version of the consumer makes it live again.",
    )


def _version_in_force(name: str, versions: Sequence[str]) -> tuple[str | None, str]:
    from packaging.utils import canonicalize_name

    pinned = dict(_parse_pin(pin) for pin in versions)
    wanted = canonicalize_name(name)
    if wanted in pinned:
        return pinned[wanted], "sm120_versions"
    try:
        return metadata.version(name), "installed"
    except metadata.PackageNotFoundError:
        return None, ""


def _parse_pin(pin: str) -> tuple[str, str]:
    from packaging.utils import canonicalize_name

    found = _parse(pin)
    exact = list(found.specifier) if found is not None else []
    if found is None or [part.operator for part in exact] != ["=="] or "*" in exact[0].version:
        raise UsageError(
            f"The entry {pin!r} of sm120_versions does not pin a version.",
            limit="Each line pins one distribution to one version.",
            remedy="Write e.g. flashinfer-python==0.6.18.",
        )
    return canonicalize_name(found.name), exact[0].version
