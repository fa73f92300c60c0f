from __future__ import annotations

import re
import subprocess
import sys

import pytest

import pytest_sm120

HEAVY = {"numpy", "libcst", "torch", "triton", "pytest"}


@pytest.mark.parametrize("name", pytest_sm120.__all__)
def test_every_public_name_is_found(name: str) -> None:
    assert getattr(pytest_sm120, name) is not None


def test_version_is_three_numbers() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", pytest_sm120.__version__)


def test_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(
        AttributeError, match="^module 'pytest_sm120' has no attribute 'scratch_pad'$"
    ):
        _ = pytest_sm120.scratch_pad


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import pytest_sm120, sys; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
