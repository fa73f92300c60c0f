"""The pytest plugin: entry point ``sm120`` of group ``pytest11``.

This module is imported at the start of every pytest run of an environment that has the package, so
it imports nothing that pytest has not loaded already; each hook gets the rest when it is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_sm120.plugin.fixture import Sm120

_MARKER = (
    "sm120(tier=None, arch=None, expected=None): run in this tier, and let capability queries "
    "answer for this arch (a list of either: one run for each; a dict of arches: its values come "
    "as the argument that expected= names); on a unittest.TestCase class: provide self.sm120."
)

_FIXTURE = pytest.StashKey["Sm120"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and settings of the plugin."""
    group = parser.getgroup("sm120", "contract tests for the host side of GPU kernels")
    group.addoption(
        "--sm120-tier",
        metavar="TIERS",
        help="tiers for tests that name none, separated by commas: source, record, interpret, "
        "compile, device (default: record)",
    )
    group.addoption(
        "--sm120-root",
        metavar="FOLDER",
        help="folder that target paths are relative to (default: pytest's rootdir)",
    )
    parser.addini("sm120_root", "folder that target paths are relative to", default="")
    parser.addini("sm120_tier", "tiers for tests that name none", default="")
    parser.addini("sm120_arch", "arch that capability queries answer for, e.g. sm_120", default="")
    parser.addini(
        "sm120_real",
        "third-party packages that targets get for real in the record tier",
        type="args",
        default=[],
    )
    parser.addini(
        "sm120_versions",
        "versions of consumers that are in force, one a line, e.g. flashinfer-python==0.6.18",
        type="linelist",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER)


def pytest_sessionstart(session: pytest.Session) -> None:
    """End the run at once when an option or a setting makes no sense."""
    config = session.config
    options = [config.getoption(name) for name in ("--sm120-tier", "--sm120-root")]
    settings = [config.getini(f"sm120_{name}") for name in ("tier", "root", "arch")]
    if any(option is not None for option in options) or any(settings):
        from pytest_sm120.plugin.settings import read_settings

        read_settings(config)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which tiers run here, for which arch and below which root, and why others do not."""
    from pytest_sm120.plugin.summary import describe_settings

    return describe_settings(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each tier and arch that was asked for."""
    if "sm120" in metafunc.fixturenames:
        from pytest_sm120.plugin.choosing import parametrize_places

        parametrize_places(metafunc)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the tests of TestCase classes that carry the marker have ``self.sm120``."""
    # A TestCase class can only be there when its module is; other runs need not load it.
    unittest: Any = sys.modules.get("unittest")
    if unittest is None or not isinstance(item, pytest.Function) or item.cls is None:
        return
    if issubclass(item.cls, unittest.TestCase) and item.get_closest_marker("sm120") is not None:
        # First, so that the class's own fixtures can use it. The list belongs to this item alone.
        item.fixturenames.insert(0, _sm120_for_test_case.__name__)


@pytest.fixture
def sm120_provide() -> Mapping[str, object]:
    """Objects to provide to every target of a folder; override it in that folder's conftest.py.

    It is asked for at each load, so that it may itself use ``sm120``, e.g. for a registry.
    """
    return {}


@pytest.fixture
def sm120(request: pytest.FixtureRequest) -> Iterator[Sm120]:
    """Load host-side Python of GPU kernels with recording stand-ins, and check what it did."""
    from pytest_sm120.plugin.choosing import make_fixture

    fixture = make_fixture(request)
    request.node.stash[_FIXTURE] = fixture
    try:
        yield fixture
    finally:
        fixture.close()


@pytest.fixture
def _sm120_for_test_case(request: pytest.FixtureRequest, sm120: Sm120) -> None:
    request.instance.sm120 = sm120


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what was recorded to the report of a test that used the fixture."""
    fixture = item.stash.get(_FIXTURE, None)
    if fixture is None:
        return (yield)
    from pytest_sm120.plugin.reporting import add_to_report, hide_own_frames

    if call.excinfo is not None:
        hide_own_frames(call.excinfo.value)
    report = yield
    add_to_report(fixture, report, call.excinfo)
    if report.when == "teardown":
        # A recording can be long; it need not live as long as the run.
        del item.stash[_FIXTURE]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was loaded, checked, broken and assumed; nothing in a run that used none of it."""
    from pytest_sm120.plugin.summary import write_summary

    write_summary(terminalreporter)
