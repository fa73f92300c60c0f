from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.errors import UsageError
from pytest_sm120.tiers import choose
from pytest_sm120.tiers.choose import TIERS, find_availability, is_installed, parse_tiers


@given(st.lists(st.sampled_from(TIERS), min_size=1))
def test_tiers_are_read_alike_from_text_and_list_each_once_in_order(words):
    wanted = tuple(dict.fromkeys(words))
    assert parse_tiers(words, "it") == wanted
    assert parse_tiers(", ".join(words), "it") == wanted
    assert parse_tiers(" ".join(words), "it") == wanted


@pytest.mark.parametrize(
    ("given_tiers", "seen"),
    [("fast", "'fast'"), ("", "nothing"), ([], "nothing"), (5, "5"), (["record", 5], "5")],
)
def test_wrong_tiers_are_an_error_that_names_what_was_seen(given_tiers, seen):
    with pytest.raises(UsageError) as raised:
        parse_tiers(given_tiers, "The marker")
    assert str(raised.value) == (
        f"The marker asks for {seen}, which is not a tier. The tiers are source, record, "
        'interpret, compile, device. Name one, or several separated by commas, e.g. "record,'
        'interpret".'
    )


@pytest.mark.parametrize("tier", ["source", "record"])
def test_built_tiers_run_without_any_package(tier):
    available = find_availability(tier, lambda package: False)
    assert available.runs
    assert available.why == ""


@pytest.mark.parametrize(
    ("version", "ending"), [((3, 10), ", with Python 3.11 or newer."), ((3, 13), ".")]
)
def test_missing_tier_says_what_it_will_need(monkeypatch, version, ending):
    monkeypatch.setattr(choose, "sys", SimpleNamespace(version_info=version))
    available = find_availability("compile", lambda package: package == "torch")
    assert not available.runs
    assert available.short_cause == "not in this version yet"
    assert available.why == (
        "This version of pytest-sm120 does not have the compile tier yet, whatever is "
        "installed. A later one will need triton, which this environment lacks. "
        "Use the record tier, or a version that has this one. "
        f'To have that then: pip install "pytest-sm120[torch]"{ending}'
    )


def test_missing_tier_asks_for_nothing_that_is_there():
    assert find_availability("device", lambda package: True).why == (
        "This version of pytest-sm120 does not have the device tier yet, whatever is "
        "installed. Use the record tier, or a version that has this one."
    )


def test_installed_package_is_found_without_importing_it():
    assert is_installed("pytest") and not is_installed("no_such_package_sm120")
    assert not is_installed("no_such_package_sm120.part")


def test_module_without_a_spec_counts_as_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "bare_sm120", SimpleNamespace(__spec__=None))
    assert not is_installed("bare_sm120")
