from __future__ import annotations

import zipfile

import pytest

from tests.upstream import wheels
from tests.upstream.conftest import sources_or_skip
from tests.upstream.wheels import Wheel, WheelMissing, cache_folder, fetch_sources

UNKNOWN = Wheel("pytest-sm120-has-no-such-wheel", "0.0.1")


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """An empty cache, and a pip that reaches no index."""
    monkeypatch.setenv("SM120_WHEEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def test_missing_wheel_is_a_skip_that_says_so(offline, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception) as skipped:
        sources_or_skip(UNKNOWN)
    assert str(skipped.value) == (
        f"the wheel cannot be fetched, and it is not in {cache_folder()}: "
        "pytest-sm120-has-no-such-wheel 0.0.1: ERROR: No matching distribution found for "
        "pytest-sm120-has-no-such-wheel==0.0.1. Connect to a package index, or set "
        "SM120_WHEEL_CACHE."
    )


def test_missing_wheel_is_a_failure_under_ci(offline, monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="the wheel cannot be fetched"):
        sources_or_skip(UNKNOWN)


def test_unpacked_wheel_is_not_fetched_again(offline, tmp_path):
    unpacked = tmp_path / "cache" / UNKNOWN.folder_name
    unpacked.mkdir(parents=True)
    assert sources_or_skip(UNKNOWN) == unpacked


def put_archive(monkeypatch, write):
    """Let a download be what ``write`` puts into a file."""

    def download(wheel, folder):
        write(folder / "archive.whl")
        return folder / "archive.whl"

    monkeypatch.setattr(wheels, "_download", download)


def test_only_python_files_of_a_wheel_are_kept(monkeypatch, tmp_path):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("package/module.py", "x = 1\n")
            archive.writestr("package/kernels.so", "much")

    put_archive(monkeypatch, write)
    unpacked = fetch_sources(UNKNOWN, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [
        unpacked / "package" / "module.py"
    ]


def test_broken_archive_is_told_and_leaves_nothing_behind(monkeypatch, tmp_path):
    put_archive(monkeypatch, lambda path: path.write_bytes(b"half of it"))
    with pytest.raises(WheelMissing) as missing:
        fetch_sources(UNKNOWN, tmp_path)
    assert str(missing.value) == (
        "pytest-sm120-has-no-such-wheel 0.0.1: archive.whl (10 bytes) cannot be unpacked into "
        f"{tmp_path}: File is not a zip file"
    )
    assert list(tmp_path.iterdir()) == []
