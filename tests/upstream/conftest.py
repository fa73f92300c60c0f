from __future__ import annotations

import os

import pytest

from tests.upstream.wheels import SGLANG, Wheel, WheelMissing, cache_folder, fetch_sources


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
