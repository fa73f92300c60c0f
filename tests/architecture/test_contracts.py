from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.contracts import broken_contracts, module_cycle

api = pytest.importorskip(
    "importlinter.api",
    reason="import-linter is not installed, so nobody checks who imports whom. "
    "Run: pip install import-linter",
)


@pytest.fixture
def skeleton(checkout: Path, tmp_path: Path) -> Path:
    """A folder with a package of that name, where every room of the plan is there and empty."""
    options = api.read_configuration(str(checkout / "pyproject.toml"))["contracts_options"]
    [layers] = [contract["layers"] for contract in options if contract["id"] == "rooms"]
    for room in ("__init__", *re.findall(r"\w+", " ".join(layers))):
        plant(tmp_path, f"{room}.py", "")
    return tmp_path


def plant(folder: Path, file: str, text: str) -> None:
    path = folder / "pytest_sm120" / file
    for parent in reversed(path.relative_to(folder).parents[:-1]):
        # The skeleton has it as a module; a package is what can hold the planted one.
        (folder / parent).with_suffix(".py").unlink(missing_ok=True)
        (folder / parent).mkdir(exist_ok=True)
        (folder / parent / "__init__.py").touch()
    path.write_text(f"{text}\n")


def test_package_keeps_every_import_contract(checkout: Path) -> None:
    broken = broken_contracts(checkout, checkout / "pyproject.toml")
    assert not broken, "\n".join(broken.values())


def test_package_has_no_import_cycle(checkout: Path) -> None:
    assert module_cycle(checkout) == []


@pytest.mark.parametrize(
    ("contract", "file", "text"),
    [
        ("rooms", "tensors/planted.py", "import pytest_sm120.recorder"),
        ("rooms", "tensors/planted.py", "def f():\n    import pytest_sm120.recorder"),
        ("rooms", "contracts/planted.py", "import pytest_sm120.source"),
        ("rooms", "recorder/planted.py", "import pytest_sm120.stand_ins"),
        ("rooms", "errors.py", "import pytest_sm120.findings"),
        ("rooms", "plugin/planted.py", "import pytest_sm120.command_line"),
        ("rooms", "command_line.py", "import pytest_sm120.plugin"),
        ("rooms", "command_line.py", "import pytest_sm120.__main__"),
        ("rooms", "room_without_a_place/__init__.py", ""),
        ("pytest", "errors.py", "import pytest"),
        ("pytest", "tiers/planted.py", "def f():\n    from pytest import skip"),
        ("pytest", "command_line.py", "from _pytest.pathlib import rm_rf"),
        ("torch", "tiers/record.py", "def f():\n    import torch"),
        ("torch", "stand_ins/planted.py", "import triton.language"),
        ("libcst", "source/planted.py", "def f():\n    import libcst"),
    ],
)
def test_contract_is_broken_by_a_planted_import(
    checkout: Path, skeleton: Path, contract: str, file: str, text: str
) -> None:
    plant(skeleton, file, text)
    broken = broken_contracts(skeleton, checkout / "pyproject.toml")
    assert contract in broken


def test_room_contract_and_no_cycle_contract_are_broken_by_rooms_that_import_each_other(
    checkout: Path, skeleton: Path
) -> None:
    plant(skeleton, "tensors/planted.py", "import pytest_sm120.recorder.planted")
    plant(skeleton, "recorder/planted.py", "def f():\n    import pytest_sm120.tensors.other")
    plant(skeleton, "tensors/other.py", "")
    broken = broken_contracts(skeleton, checkout / "pyproject.toml")
    assert list(broken) == ["rooms", "cycles"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("plugin/planted.py", "import pytest"),
        ("tiers/interpret.py", "def f():\n    import torch, triton.language"),
        ("tiers/device/clock.py", "def f():\n    import torch"),
        ("probes/planted.py", "def f():\n    import torch"),
        ("rewriting/planted.py", "import libcst.matchers"),
        ("__main__.py", "import pytest_sm120.command_line"),
        ("command_line.py", "import pytest_sm120.tiers"),
    ],
)
def test_contracts_are_kept_by_a_room_that_may_import(
    checkout: Path, skeleton: Path, file: str, text: str
) -> None:
    plant(skeleton, file, text)
    broken = broken_contracts(skeleton, checkout / "pyproject.toml")
    assert not broken, "\n".join(broken.values())


@pytest.mark.parametrize(
    "text",
    ["import pytest_sm120.recorder", "def f():\n    from pytest_sm120 import recorder"],
)
def test_module_cycle_names_the_modules_when_one_imports_its_own_package(
    skeleton: Path, text: str
) -> None:
    plant(skeleton, "recorder/__init__.py", "from pytest_sm120.recorder import planted")
    plant(skeleton, "recorder/planted.py", text)
    assert set(module_cycle(skeleton)) == {"pytest_sm120.recorder", "pytest_sm120.recorder.planted"}
