from __future__ import annotations

import importlib.metadata
import platform
from types import SimpleNamespace

import pytest

from pytest_sm120.tiers import choose
from pytest_sm120.tiers.doctor import describe_machine

VERSIONS = {"pytest": "9.2.0", "numpy": "2.4.6", "libcst": "1.9.0"}

WITHOUT_TORCH = """\
python 3.13.0
pytest 9.2.0
numpy 2.4.6
libcst 1.9.0
torch is not installed
triton is not installed
hypothesis is not installed

source    runs        proves: the invariant is in the source text
record    runs        proves: the host code's contract: allocations, reuse, keys, fills, launches
interpret cannot run  proves: kernels stay in bounds and do not read memory nobody wrote
          why: This version of pytest-sm120 does not have the interpret tier yet, whatever is \
installed. A later one will need torch and triton, which this environment lacks.
          do:  Use the record tier, or a version that has this one. To have that then: pip \
install "pytest-sm120[torch]".
compile   cannot run  proves: kernels build for sm_120 within its limits, without the card
          why: This version of pytest-sm120 does not have the compile tier yet, whatever is \
installed. A later one will need triton, which this environment lacks.
          do:  Use the record tier, or a version that has this one. To have that then: pip \
install "pytest-sm120[torch]".
device    cannot run  proves: the numbers, on an SM120 or SM121 card
          why: This version of pytest-sm120 does not have the device tier yet, whatever is \
installed. A later one will need torch and triton, which this environment lacks.
          do:  Use the record tier, or a version that has this one. To have that then: pip \
install "pytest-sm120[torch]".
"""


@pytest.fixture(autouse=True)
def python_3_13(monkeypatch):
    monkeypatch.setattr(choose, "sys", SimpleNamespace(version_info=(3, 13)))
    monkeypatch.setattr(platform, "python_version", lambda: "3.13.0")


def test_doctor_describes_a_machine_without_torch():
    assert describe_machine(VERSIONS.__contains__, VERSIONS.__getitem__) == WITHOUT_TORCH


def test_doctor_names_no_package_to_install_when_all_are_there():
    text = describe_machine(lambda package: True, lambda package: "1.0")
    assert "triton 1.0\n" in text
    assert "pip install" not in text


def test_doctor_goes_on_when_a_package_has_no_version():
    def version_of(package):
        raise importlib.metadata.PackageNotFoundError(package)

    text = describe_machine(lambda package: True, version_of)
    assert "numpy (of unknown version)\n" in text
