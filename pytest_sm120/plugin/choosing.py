"""Gives each test its tier and arch: at collection where it can be, else when the test starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest

from pytest_sm120.arch import Arch
from pytest_sm120.errors import UsageError
from pytest_sm120.plugin.fixture import Sm120
from pytest_sm120.plugin.settings import Wishes, read_marker, read_settings
from pytest_sm120.tiers.choose import DEFAULT_TIER, find_availability


class Place(NamedTuple):
    """Where one of several runs of a test stands; None where it was not asked to be shown."""

    tier: str | None = None
    arch: Arch | None = None


def parametrize_places(metafunc: pytest.Metafunc) -> None:
    """Run a test once in each of its tiers and arches, with both in its id.

    Runs that cannot be had here are marked. A test that runs in the default tier, which nobody
    named, and for one arch keeps its id.
    """
    wishes = _read_marker_or_fail(metafunc.definition)
    tiers = _tiers_to_show(metafunc, wishes)
    if not tiers and not wishes.arches:
        return
    names = ["sm120", wishes.expected_name] if wishes.expected else ["sm120"]
    arches: Sequence[Arch | None] = wishes.arches or [None]
    turns = [*zip(arches, wishes.expected or [None] * len(arches), strict=True)]
    runs = [
        _parameter(Place(tier, arch), [expected] if wishes.expected else [])
        for tier in tiers or (None,)
        for arch, expected in turns
    ]
    metafunc.parametrize(names, runs, indirect=["sm120"])


def _tiers_to_show(metafunc: pytest.Metafunc, wishes: Wishes) -> tuple[str, ...]:
    if wishes.tiers is not None:
        return wishes.tiers
    settings = read_settings(metafunc.config)
    plain = settings.tiers == (DEFAULT_TIER,) and not settings.tiers_are_explicit
    return () if plain else settings.tiers


def _parameter(place: Place, expected: list[object]) -> object:
    words = [place.tier, place.arch.name if place.arch else None]
    name = "-".join(word for word in words if word is not None)
    available = find_availability(place.tier or DEFAULT_TIER)
    # A mark, so that the report names the test's line, and no fixture of the user's is set up.
    marks = () if available.runs else (pytest.mark.skip(reason=f"sm120: {available.why}"),)
    return pytest.param(place, *expected, marks=marks, id=name)


def make_fixture(request: pytest.FixtureRequest) -> Sm120:
    """Return the fixture for one test, in its tier; skip when no tier of it can run here."""
    wishes = _read_marker_or_fail(request.node)
    settings = read_settings(request.config)
    place = getattr(request, "param", Place())
    if wishes.arches and place.arch is None:
        pytest.fail(_cannot_be_multiplied(request.node.nodeid), pytrace=False)
    return Sm120(
        place.tier or _first_that_runs(wishes.tiers or settings.tiers),
        place.arch or wishes.arch or settings.arch,
        settings,
        lambda: _ask_folder(request),
    )


def _cannot_be_multiplied(test: str) -> str:
    return (
        f"The marker sm120 of {test} names several arches. Pytest cannot run this test once for "
        "each: it is a method of a unittest.TestCase, or asks for the fixture while it runs. Name "
        "one arch, and loop inside the test: for arch in self.sm120.for_each_arch(): ..."
    )


def _first_that_runs(tiers: tuple[str, ...]) -> str:
    """Return the tier of a test that cannot be parametrised, e.g. of a TestCase."""
    every = [find_availability(tier) for tier in tiers]
    for available in every:
        if available.runs:
            return available.tier
    pytest.skip(f"sm120: {every[0].why}")


def _read_marker_or_fail(node: pytest.Item | pytest.Function) -> Wishes:
    try:
        return read_marker(node)
    except UsageError as error:
        pytest.fail(str(error), pytrace=False)


def _ask_folder(request: pytest.FixtureRequest) -> Mapping[str, object]:
    provided = request.getfixturevalue("sm120_provide")
    if isinstance(provided, Mapping):
        return provided
    raise UsageError(
        f"The fixture sm120_provide of this folder returned {provided!r}.",
        limit="It returns a dict of dotted names and the objects that targets get for them.",
        remedy="Return a dict, {} for nothing.",
    )
