"""Gives each test its tier and arch: at collection where it can be, else when the test starts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_sm120.errors import UsageError
from pytest_sm120.plugin.fixture import Sm120
from pytest_sm120.plugin.settings import Wishes, read_marker, read_settings
from pytest_sm120.tiers.choose import DEFAULT_TIER, find_availability


def parametrize_tiers(metafunc: pytest.Metafunc) -> None:
    """Run a test once in each of its tiers, with the tier in its id; mark those that cannot run.

    A test that runs in the default tier, which nobody named, keeps its id.
    """
    tiers = _tiers_to_show(metafunc)
    if tiers:
        metafunc.parametrize("sm120", [_parameter(tier) for tier in tiers], indirect=True)


def _tiers_to_show(metafunc: pytest.Metafunc) -> tuple[str, ...]:
    marked = _read_marker_or_fail(metafunc.definition).tiers
    if marked is not None:
        return marked
    settings = read_settings(metafunc.config)
    plain = settings.tiers == (DEFAULT_TIER,) and not settings.tiers_are_explicit
    return () if plain else settings.tiers


def _parameter(tier: str) -> object:
    available = find_availability(tier)
    # A mark, so that the report names the test's line, and no fixture of the user's is set up.
    marks = () if available.runs else (pytest.mark.skip(reason=f"sm120: {available.why}"),)
    return pytest.param(tier, marks=marks, id=tier)


def make_fixture(request: pytest.FixtureRequest) -> Sm120:
    """Return the fixture for one test, in its tier; skip when no tier of it can run here."""
    wishes = _read_marker_or_fail(request.node)
    settings = read_settings(request.config)
    tier = getattr(request, "param", None) or _first_that_runs(wishes.tiers or settings.tiers)
    return Sm120(
        tier,
        wishes.arch or settings.arch,
        settings,
        lambda: _ask_folder(request),
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
