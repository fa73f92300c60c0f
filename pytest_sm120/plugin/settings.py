"""What the command line, the settings and the marker ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from pytest_sm120.arch import DEFAULT_ARCH, Arch, find_arch, find_arches, is_several_arches
from pytest_sm120.errors import UsageError
from pytest_sm120.stand_ins.target_files import CompiledFiles
from pytest_sm120.tiers.choose import DEFAULT_TIER, parse_tiers

T = TypeVar("T")


class Settings(NamedTuple):
    """The settings of a run."""

    #: Folder that target paths are relative to.
    root: Path
    #: Tiers of tests whose marker names none.
    tiers: tuple[str, ...]
    #: Whether the command line named the tiers, so that every test shows its own in its id.
    tiers_are_explicit: bool
    #: The arch of tests whose marker names none.
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
    return Settings(
        root=_read_root(config),
        tiers=_read_tiers(on_command_line, config.getini("sm120_tier")),
        tiers_are_explicit=on_command_line is not None,
        arch=_read_arch(config.getini("sm120_arch"), "The setting sm120_arch"),
        real_packages=tuple(config.getini("sm120_real")),
        versions=tuple(config.getini("sm120_versions")),
        files=CompiledFiles(),
    )


def _read_tiers(on_command_line: str | None, setting: str) -> tuple[str, ...]:
    if on_command_line is not None:
        return parse_tiers(on_command_line, "--sm120-tier")
    return parse_tiers(setting or DEFAULT_TIER, "The setting sm120_tier")


def _read_arch(spelling: Any, source: str) -> Arch:
    return _with_source(source, lambda: find_arch(spelling or DEFAULT_ARCH))


def _with_source(source: str, find: Callable[[], T]) -> T:
    try:
        return find()
    except UsageError as error:
        cause = f"{source} asks for an arch, but {error.cause}"
        raise UsageError(cause, limit=error.limit, remedy=error.remedy) from error


def _read_root(config: pytest.Config) -> Path:
    """Take the command line relative to where pytest was started, the setting to its own file."""
    given = config.getoption("--sm120-root")
    if given is not None:
        return _existing_folder(config.invocation_params.dir / given, f"--sm120-root={given}")
    base = config.inipath.parent if config.inipath else config.rootpath
    setting = config.getini("sm120_root")
    return _existing_folder(base / setting, f"The setting sm120_root = {setting}")


def _existing_folder(folder: Path, source: str) -> Path:
    root = Path(os.path.abspath(folder))
    if root.is_dir():
        return root
    seen = "a file" if root.exists() else "not there"
    raise UsageError(
        f"{source} means the folder {root}, which is {seen}.",
        limit="Target paths are taken relative to that folder. On the command line it is relative "
        "to where pytest was started, in a settings file to that file.",
        remedy="Name a folder that exists.",
    )


class Wishes(NamedTuple):
    """What the markers of one test ask for."""

    #: None when no marker names a tier.
    tiers: tuple[str, ...] | None
    #: None when no marker names an arch, or one names several.
    arch: Arch | None
    #: The arches of a list or a mapping: one run of the test for each.
    arches: tuple[Arch, ...] = ()
    #: What a mapping has for each of them, and the argument of the test that gets it.
    expected: tuple[object, ...] = ()
    expected_name: str = ""


def read_marker(node: pytest.Item | pytest.Function) -> Wishes:
    """Return what the test's markers ask for; the one closest to the test wins, each by itself.

    Raises UsageError, which names the test, for an argument that the marker does not take.
    """
    source = f"The marker sm120 of {node.nodeid}"
    wanted: dict[str, Any] = {}
    for marker in node.iter_markers("sm120"):
        _refuse_unknown(marker, source)
        for name, value in marker.kwargs.items():
            wanted.setdefault(name, value)
    tiers, arch = wanted.get("tier"), wanted.get("arch")
    named = None if tiers is None else parse_tiers(tiers, source)
    if not is_several_arches(arch):
        return Wishes(named, None if arch is None else _read_arch(arch, source))
    arches = _with_source(source, lambda: find_arches(arch))
    if not isinstance(arch, Mapping):
        return Wishes(named, None, arches)
    by_arch = {find_arch(spelling): value for spelling, value in arch.items()}
    expected = tuple(by_arch[each] for each in arches)
    return Wishes(named, None, arches, expected, wanted.get("expected", "expected"))


_ARGUMENTS = ("tier", "arch", "expected")


def _refuse_unknown(marker: pytest.Mark, source: str) -> None:
    surplus = [repr(value) for value in marker.args]
    surplus += [name for name in marker.kwargs if name not in _ARGUMENTS]
    if surplus:
        raise UsageError(
            f"{source} has the argument {surplus[0]}.",
            limit="It takes tier=, arch= and expected=, by name.",
            remedy='Write e.g. @pytest.mark.sm120(tier="record", arch="sm_121").',
        )
