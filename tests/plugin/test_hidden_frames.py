"""Which errors' frames are marked, without touching their tracebacks."""

from __future__ import annotations

import sys

import pytest

from pytest_sm120.plugin import reporting
from pytest_sm120.tiers import choose


@pytest.fixture(autouse=True)
def visible_afterwards():
    yield
    vars(choose).pop("__tracebackhide__", None)


def error_of_ours():
    try:
        choose.parse_tiers("fast", "A test")
    except Exception as error:
        return error
    raise AssertionError("not reached")


def is_hidden():
    return vars(choose).get("__tracebackhide__", False)


def test_frames_of_the_error_itself_are_hidden():
    error = error_of_ours()
    traceback = error.__traceback__
    reporting.hide_own_frames(error)
    assert is_hidden()
    assert error.__traceback__ is traceback
    assert "__tracebackhide__" not in globals()


@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_frames_of_linked_errors_are_hidden(link):
    outer = OSError()
    setattr(outer, link, error_of_ours())
    reporting.hide_own_frames(outer)
    assert is_hidden()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="ExceptionGroup is new in Python 3.11")
def test_frames_of_the_members_of_a_group_are_hidden():
    group = sys.modules["builtins"].ExceptionGroup("two", [OSError(), error_of_ours()])
    reporting.hide_own_frames(group)
    assert is_hidden()


def test_errors_that_are_linked_in_a_circle_end():
    one, two = OSError(), error_of_ours()
    one.__cause__, two.__cause__ = two, one
    reporting.hide_own_frames(one)
    assert is_hidden()


def test_attribute_named_exceptions_is_left_alone_when_it_is_no_group():
    error = OSError()
    vars(error)["exceptions"] = (5,)
    reporting.hide_own_frames(error)
    assert not is_hidden()
