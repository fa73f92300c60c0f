from __future__ import annotations

import os

import pytest

from tests.upstream.wheels import SGLANG, WHEELS, Wheel, WheelMissing, cache_folder, fetch_sources
from tests.upstream.witness import Witness


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "drives(path, function): the test calls this function of an upstream file"
    )


def sources_or_skip(wheel: Wheel):
    """Skip where the wheel cannot be had; under CI that is a failure, since CI can have it."""
    try:
        return fetch_sources(wheel, cache_folder())
    except WheelMissing as missing:
        reason = f"the wheel cannot be fetched, and it is not in {cache_folder()}: {missing}"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(f"{reason}. Connect to a package index, or set SM120_WHEEL_CACHE.")


@pytest.fixture(scope="session")
def sglang():
    """Folder with the Python files of sglang 0.5.23."""
    return sources_or_skip(SGLANG)


@pytest.fixture
def load(request, sm120):
    """Load the file that the test's ``drives`` marker names; takes what ``sm120.load`` takes."""

    def load_target(**arguments):
        path = request.node.get_closest_marker("drives").args[0]
        return sm120.load(sources_or_skip(WHEELS[path.partition("/")[0]]) / path, **arguments)

    return load_target


@pytest.fixture
def witness(sm120):
    """Make named inputs, and compare all that was recorded with what the test says."""
    return Witness(sm120)


@pytest.fixture(autouse=True)
def driving_leaves_a_record(request):
    """Fail a test that says it drives a function when nothing was launched, allocated or called."""
    marker = request.node.get_closest_marker("drives")
    if marker is None:
        yield
        return
    sm120 = request.getfixturevalue("sm120")
    yield
    recording = sm120.recording
    assert recording.launches() or recording.allocations() or recording.calls(), marker.args
