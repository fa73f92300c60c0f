"""What the command line, the settings and the marker ask for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_sm120.arch import DEFAULT_ARCH, Arch, find_arch
from pytest_sm120.errors import UsageError
from pytest_sm120.stand_ins.target_files import CompiledFiles
from pytest_sm120.tiers.choose import DEFAULT_TIER, find_availability, parse_tiers


class Settings(NamedTuple):
    """The settings of a run."""

    #: Folder that target paths are relative to.
    root: Path
    #: Tiers of tests whose marker names none.
    tiers: tuple[str, ...]
    #: Whether the command line named the tiers, so that every test shows its own in its id.
    tiers_are_explicit: bool
    arch: Arch
    #: Third-party packages that targets get for real.
    real_packages: tuple[str, ...]
    #: Versions of consumers in force, e.g. ``"flashinfer-python==0.6.18"``.
    versions: tuple[str, ...]
    #: Compiled targets, shared by the tests of the run.
    files: CompiledFiles


_SETTINGS = pytest.StashKey[Settings]()


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings of the run; a bad one is a pytest.UsageError."""
    if _SETTINGS not in config.stash:
        try:
            config.stash[_SETTINGS] = _read(config)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error
    return config.stash[_SETTINGS]


def _read(config: pytest.Config) -> Settings:
    on_command_line = config.getoption("--sm120-tier")
    tier_source = "--sm120-tier" if on_command_line else "The setting sm120_tier"
    tiers = on_command_line or config.getini("sm120_tier")
    arch = config.getini("sm120_arch")
    return Settings(
        root=_read_root(config),
        tiers=parse_tiers(tiers, tier_source) if tiers else (DEFAULT_TIER,),
        tiers_are_explicit=bool(on_command_line),
        arch=find_arch(arch) if arch else DEFAULT_ARCH,
        real_packages=tuple(config.getini("sm120_real")),
        versions=tuple(config.getini("sm120_versions")),
        files=CompiledFiles(),
    )


def _read_root(config: pytest.Config) -> Path:
    """Take the command line relative to where pytest was started, the setting to its own file."""
    given = config.getoption("--sm120-root")
    if given:
        root = config.invocation_params.dir / given
    else:
        base = config.inipath.parent if config.inipath else config.rootpath
        root = base / config.getini("sm120_root")
    if not root.is_dir():
        raise UsageError(
            f"The root {root} is not a folder.",
            limit="Target paths are taken relative to it.",
            remedy="Correct --sm120-root or the setting sm120_root.",
        )
    return root


class Request(NamedTuple):
    """What the markers of one test ask for."""

    #: None when no marker names a tier.
    tiers: tuple[str, ...] | None
    #: None when no marker names an arch.
    arch: Arch | None


def read_marker(node: pytest.Item | pytest.Function) -> Request:
    """Return what the test's markers ask for; the one closest to the test wins, each by itself."""
    wanted: dict[str, Any] = {}
    for marker in node.iter_markers("sm120"):
        _refuse_unknown(marker, node)
        for name, value in marker.kwargs.items():
            wanted.setdefault(name, value)
    tiers, arch = wanted.get("tier"), wanted.get("arch")
    source = f"The marker sm120 of {node.nodeid}"
    return Request(
        None if tiers is None else parse_tiers(tiers, source),
        None if arch is None else find_arch(arch),
    )


def _refuse_unknown(marker: pytest.Mark, node: pytest.Item) -> None:
    surplus: Iterable[object] = [*marker.args, *(marker.kwargs.keys() - {"tier", "arch"})]
    for argument in surplus:
        raise UsageError(
            f"The marker sm120 of {node.nodeid} has the argument {argument!r}.",
            limit="It takes tier= and arch=, by name.",
            remedy='Write e.g. @pytest.mark.sm120(tier="record", arch="sm_121").',
        )


def tiers_to_parametrize(config: pytest.Config, node: pytest.Item) -> tuple[str, ...]:
    """Return the tiers that a test's ids should show, or none when it simply runs in its one."""
    try:
        marked = read_marker(node).tiers
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
    if marked is not None:
        return marked
    settings = read_settings(config)
    several = settings.tiers_are_explicit or len(settings.tiers) > 1
    return settings.tiers if several else ()


def choose_tier(request: pytest.FixtureRequest) -> str:
    """Return the tier this test runs in.

    A TestCase method cannot be parametrised, so of several tiers it gets the first that runs here.
    """
    chosen: str | None = getattr(request, "param", None)
    if chosen is not None:
        return chosen
    tiers = read_marker(request.node).tiers or read_settings(request.config).tiers
    return next((tier for tier in tiers if find_availability(tier).runs), tiers[0])
