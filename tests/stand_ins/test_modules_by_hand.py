"""What a target itself puts into the table of modules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from tests.stand_ins.bench import Bench

pytestmark = pytest.mark.usefixtures("modules")


def test_module_that_a_target_made_by_hand_goes(bench: Bench) -> None:
    bench.load(
        "import sys, types\n"
        "for name in ('made_by_hand', 'made_by_hand.part'):\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
    )
    assert "made_by_hand.part" in sys.modules
    bench.loader.close()
    assert [name for name in sys.modules if name.startswith("made_by_hand")] == []


def test_part_that_a_real_package_makes_by_hand_stays(bench: Bench, installed: Path) -> None:
    (installed / "lazy_parts.py").write_text(
        "import sys, types\n"
        "__path__ = []\n"
        "error = sys.modules['lazy_parts.error'] = types.ModuleType('lazy_parts.error')\n"
    )
    bench.load("pass\n")
    import lazy_parts  # type: ignore[import-not-found]  # written three lines above

    bench.loader.close()
    assert sys.modules["lazy_parts.error"] is lazy_parts.error
    del sys.modules["lazy_parts"], sys.modules["lazy_parts.error"]


def test_what_a_target_puts_in_its_own_place_is_gone_afterwards(bench: Bench) -> None:
    bench.load("import sys\nclass Facade:\n    x = 1\nsys.modules[__name__] = Facade()\n")
    bench.close()
    assert "target" not in sys.modules


def test_import_that_a_target_blocked_is_possible_afterwards(bench: Bench) -> None:
    sys.modules.pop("colorsys", None)
    bench.load("import sys\nsys.modules['colorsys'] = None\n")
    bench.close()
    assert importlib.import_module("colorsys").__name__ == "colorsys"


def test_table_of_modules_is_the_identical_object_afterwards(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = sys.modules
    monkeypatch.setattr(sys, "modules", table)
    bench.load("import torch, sys\nsys.modules = dict(sys.modules)\n")
    bench.close()
    assert sys.modules is table
    assert "torch" not in table
