"""Which tensors a launch is given, and which of them it may write."""

from __future__ import annotations

import pytest

from pytest_sm120.contracts.seen import views_given, views_written
from tests.contracts.fake_targets import FakeBench

__sm120_target__ = True


@pytest.fixture
def bench():
    return FakeBench()


@pytest.fixture
def views(bench):
    return [bench.allocate("torch.empty", (4, 16)).view for _ in range(3)]


def test_launch_is_given_what_its_containers_hold_and_writes_what_its_text_says(bench, views):
    x, y, z = views
    bench.launch("kernel", x=x, pair=(y, z), n=3, reads=["x", "n"])
    launch = bench.recording.launches()[0]
    assert views_given(launch) == [x, y, z]
    assert views_written(launch) == [y, z]


def test_launch_of_no_programs_is_given_nothing(bench, views):
    bench.launch("kernel", x=views[0], reads=["x"], grid=(2, 0))
    assert views_given(bench.recording.launches()[0]) == []


def test_call_may_write_all_that_it_is_given(bench, views):
    x, y, z = views
    bench.call("pkg.run", x, {"out": y}, more=[z])
    call = bench.recording.calls()[0]
    assert views_written(call) == views_given(call) == [x, y, z]
