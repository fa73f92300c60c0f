from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.architecture.contracts import broken_contracts, module_cycle

pytest.importorskip(
    "importlinter",
    reason="import-linter is not installed, so nobody checks who imports whom. "
    "Run: pip install import-linter",
)


@pytest.fixture
def copy(checkout: Path, tmp_path: Path) -> Path:
    shutil.copytree(checkout / "pytest_sm120", tmp_path / "pytest_sm120")
    return tmp_path


def plant(folder: Path, file: str, text: str) -> None:
    path = folder / "pytest_sm120" / file
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    with path.open("a") as module:
        module.write(text)


def test_package_keeps_every_import_contract(checkout: Path) -> None:
    broken, report = broken_contracts(checkout, checkout / "pyproject.toml")
    assert broken == [], report


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
    checkout: Path, copy: Path, contract: str, file: str, text: str
) -> None:
    for room in ("command_line.py", "__main__.py"):
        plant(copy, room, "")
    plant(copy, file, f"\n{text}\n")
    broken, report = broken_contracts(copy, checkout / "pyproject.toml")
    assert contract in broken, report


def test_room_contract_and_no_cycle_contract_are_broken_by_rooms_that_import_each_other(
    checkout: Path, copy: Path
) -> None:
    plant(copy, "tensors/planted.py", "import pytest_sm120.recorder.planted\n")
    plant(copy, "recorder/planted.py", "def f():\n    import pytest_sm120.tensors.other\n")
    plant(copy, "tensors/other.py", "")
    broken, report = broken_contracts(copy, checkout / "pyproject.toml")
    assert broken == ["rooms", "cycles"], report


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
    checkout: Path, copy: Path, file: str, text: str
) -> None:
    plant(copy, "command_line.py", "")
    plant(copy, file, f"\n{text}\n")
    broken, report = broken_contracts(copy, checkout / "pyproject.toml")
    assert broken == [], report


@pytest.mark.parametrize(
    "text",
    ["import pytest_sm120.recorder", "def f():\n    from pytest_sm120 import recorder"],
)
def test_module_cycle_names_the_modules_when_one_imports_its_own_package(
    copy: Path, text: str
) -> None:
    plant(copy, "recorder/__init__.py", "\nfrom pytest_sm120.recorder import planted\n")
    plant(copy, "recorder/planted.py", text)
    assert set(module_cycle(copy)) == {"pytest_sm120.recorder", "pytest_sm120.recorder.planted"}
