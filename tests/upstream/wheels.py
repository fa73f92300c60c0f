"""Fetches upstream wheels with pip and unpacks their Python files, outside the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


class WheelMissing(Exception):
    """The wheel is not in the cache and pip could not fetch it."""


@dataclass(frozen=True)
class Wheel:
    """One wheel, with what pip needs to pick the same file on every machine."""

    distribution: str
    version: str
    #: The interpreter and platform tags of the file whose Python sources are wanted.
    python_version: str = "3.11"
    platforms: tuple[str, ...] = ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "any")

    @property
    def folder_name(self) -> str:
        """Name of the unpacked folder in the cache."""
        return f"{self.distribution}-{self.version}"


SGLANG = Wheel("sglang", "0.5.23")
VLLM = Wheel("vllm", "0.33.0")
FLASHINFER = Wheel("flashinfer-python", "0.7.2.post1")

#: By the name of the package that the wheel holds.
WHEELS = {"sglang": SGLANG, "vllm": VLLM, "flashinfer": FLASHINFER}


def cache_folder() -> Path:
    """Return the folder for downloads: $SM120_WHEEL_CACHE, else one in the user's cache folder."""
    chosen = os.environ.get("SM120_WHEEL_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "pytest-sm120", "wheels")


def fetch_sources(wheel: Wheel, cache: Path) -> Path:
    """Return the folder that holds the wheel's Python files, fetching it the first time.

    Raises WheelMissing with pip's last words when it cannot be fetched.
    """
    unpacked = cache / wheel.folder_name
    if not unpacked.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            archive = _download(wheel, Path(temporary))
            try:
                _unpack(archive, Path(temporary, "sources"))
            except (zipfile.BadZipFile, OSError) as error:
                size = archive.stat().st_size
                raise WheelMissing(
                    f"{wheel.distribution} {wheel.version}: {archive.name} ({size:,} bytes) cannot "
                    f"be unpacked into {cache}: {error}"
                ) from error
            archive.unlink()
            _move_into_place(Path(temporary, "sources"), unpacked)
    return unpacked


def _download(wheel: Wheel, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    # pip would keep the whole archive, of which only the Python files are wanted.
    command += ["--no-cache-dir", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", "--implementation", "cp", "--dest", str(folder)]
    command += ["--python-version", wheel.python_version]
    command += [part for platform in wheel.platforms for part in ("--platform", platform)]
    command += [f"{wheel.distribution}=={wheel.version}"]
    done = subprocess.run(command, capture_output=True, text=True)
    found = list(folder.glob("*.whl"))
    if done.returncode or not found:
        words = (done.stderr or done.stdout).strip().splitlines() or ["pip said nothing"]
        raise WheelMissing(f"{wheel.distribution} {wheel.version}: {words[-1]}")
    return found[0]


def _unpack(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names = [name for name in opened.namelist() if name.endswith(".py")]
        opened.extractall(folder, names)


def _move_into_place(sources: Path, unpacked: Path) -> None:
    try:
        sources.rename(unpacked)
    except OSError:
        # Another process was faster; its folder holds the same files.
        if not unpacked.is_dir():
            raise
