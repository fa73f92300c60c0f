"""The process before and after: by identity, whatever targets and packages did meanwhile."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from pytest_sm120.errors import UsageError
from tests.stand_ins.bench import Bench

pytestmark = pytest.mark.usefixtures("modules")


def install(folder: Path, **files: str) -> None:
    for name, source in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch() if path.parent != folder else None
        path.write_text(dedent(source), encoding="utf-8")
    importlib.invalidate_caches()


def test_modules_are_the_identical_objects_afterwards(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("torch", "torch.cuda", "triton", "target", "lib"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    before = dict(sys.modules)
    module = bench.load(
        "import torch, triton, lib, sys\nsys.modules['json'] = 1\ndel sys.modules['lib']\n"
    )
    assert module.torch is not before["torch"]
    assert sys.modules["torch"] is module.torch
    assert "torch.cuda" not in sys.modules or sys.modules["torch.cuda"] is not before["torch.cuda"]
    bench.close()
    assert dict(sys.modules) == before
    assert list(sys.modules) != [] and all(
        sys.modules[name] is found for name, found in before.items()
    )


def test_paths_finders_and_environment_are_as_before(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEPT", "1")
    lists = sys.path, sys.meta_path, sys.path_hooks
    items = [list(found) for found in lists]
    environment = dict(os.environ)
    bench.load(
        """
        import os, sys
        sys.path.insert(0, "/nowhere")
        sys.path = ["/elsewhere"]
        sys.meta_path.append(object())
        sys.path_hooks.clear()
        os.environ["ADDED"] = "1"
        os.environ["KEPT"] = "2"
        """
    )
    bench.close()
    assert sys.path is lists[0] and sys.meta_path is lists[1] and sys.path_hooks is lists[2]
    assert [list(found) for found in lists] == items
    assert dict(os.environ) == environment


def test_phase_that_pytest_notes_in_the_environment_stays(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.load("")
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "another phase")
    bench.close()
    assert os.environ["PYTEST_CURRENT_TEST"] == "another phase"


def test_environment_without_pytest_is_restored_likewise(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    bench.load("import os\nos.environ['ADDED'] = '1'\n")
    bench.close()
    assert "ADDED" not in os.environ


def test_attribute_of_a_real_parent_is_as_before(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, child = ModuleType("pkg"), ModuleType("pkg.target")
    monkeypatch.setattr(parent, "target", child, raising=False)
    monkeypatch.setitem(sys.modules, "pkg", parent)
    monkeypatch.setitem(sys.modules, "pkg.target", child)
    bench.write("pkg/__init__.py", "")
    module = bench.load("", "pkg/target.py")
    other = bench.load("", "pkg/other.py")
    assert parent.target is module and parent.other is other
    assert sys.modules["pkg"] is parent
    bench.close()
    assert parent.target is child
    assert not hasattr(parent, "other")
    assert sys.modules["pkg.target"] is child


def test_real_package_first_imported_meanwhile_stays(bench: Bench, installed: Path) -> None:
    install(installed, plain__part="x = 1\n", single="y = 2\n")
    bench.load("")
    part, single = importlib.import_module("plain.part"), importlib.import_module("single")
    bench.close()
    assert sys.modules["plain.part"] is part and sys.modules["single"] is single
    assert sys.modules["plain"].part is part


@pytest.mark.parametrize(
    "source",
    [
        "import torch",
        "import torch.cuda",
        "from torch import Tensor",
        "from torch import float16",
        "from torch import zeros",
        "from torch import nn",
        "import torch\nclass Net(torch.nn.Module): pass\ndel torch",
        "import torch\nx = torch.zeros(2)\ndel torch",
        "from torch.cuda import synchronize",
        "from torch._dynamo import reset",
        "from torch.somewhere import SomeError",
        "import triton",
        "import triton.language as tl",
        "from triton import cdiv",
        "from triton import jit",
        "import triton\n@triton.jit\ndef k(x): pass\ndel triton",
        "from torch import Tensor as T\nmethod = T.numel",
        "import functools\nfrom triton import cdiv\nf = functools.partial(cdiv, 1)\ndel cdiv",
    ],
)
def test_package_that_bound_a_stand_in_goes_as_a_whole(
    bench: Bench, installed: Path, source: str
) -> None:
    install(installed, bound__part=source, bound__clean="x = 1\n", clean="z = 1\n")
    bench.load("")
    importlib.import_module("bound.part")
    importlib.import_module("bound.clean")
    importlib.import_module("clean")
    bench.close()
    left = {name for name in sys.modules if name.partition(".")[0] in ("bound", "clean")}
    assert left == {"clean"}


def test_package_that_bound_such_a_package_goes_likewise(bench: Bench, installed: Path) -> None:
    install(
        installed, bound="import torch\n", above="import bound\n", top="from above import bound\n"
    )
    bench.load("")
    importlib.import_module("top")
    bench.close()
    assert not {"bound", "above", "top"} & sys.modules.keys()


def test_package_imported_before_forgets_the_part_that_bound_a_stand_in(
    bench: Bench, installed: Path
) -> None:
    install(installed, early__part="import torch\n")
    early = importlib.import_module("early")
    bench.load("")
    importlib.import_module("early.part")
    bench.close()
    assert sys.modules["early"] is early
    assert "early.part" not in sys.modules
    assert not hasattr(early, "part")


def test_package_that_bound_a_stand_in_goes_when_torch_was_there_before(
    bench: Bench, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ModuleType("torch")
    monkeypatch.setitem(sys.modules, "torch", real)
    install(installed, bound="import torch\n")
    bench.load("")
    importlib.import_module("bound")
    bench.close()
    assert "bound" not in sys.modules
    assert sys.modules["torch"] is real


def test_real_package_imports_the_stand_in(bench: Bench, installed: Path) -> None:
    install(installed, bound="import torch.nn.functional as F, triton.testing\n")
    module = bench.load("import torch\n")
    bound = importlib.import_module("bound")
    assert bound.F is module.torch.nn.functional
    assert repr(bound.triton.testing) == "<ghost triton.testing>"


def test_other_imports_of_the_test_are_untouched(bench: Bench) -> None:
    bench.load("import lib\n")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("lib.anything")


def test_second_loader_of_the_process_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.load("")
    with pytest.raises(UsageError) as raised:
        Bench(tmp_path).load("")
    assert str(raised.value) == (
        "Another sm120 fixture of this process has loaded a target and has not ended yet. "
        "sys.modules belongs to the whole process, so one test at a time can use it. Do not load "
        "from two threads at once; run tests in parallel with pytest-xdist."
    )


def test_second_loader_in_another_thread_is_refused_until_the_first_is_closed(
    bench: Bench, tmp_path: Path
) -> None:
    bench.load("")
    outcomes: list[str] = []

    def load() -> None:
        other = Bench(tmp_path)
        try:
            other.load("x = 1\n", "other.py")
            outcomes.append("loaded")
        except UsageError as error:
            outcomes.append(error.cause)
        finally:
            other.close()

    for _ in range(2):
        thread = threading.Thread(target=load)
        thread.start()
        thread.join()
        bench.close()
    assert outcomes == [
        "Another sm120 fixture of this process has loaded a target and has not ended yet.",
        "loaded",
    ]


def test_loader_that_loaded_nothing_changes_nothing(tmp_path: Path) -> None:
    before = dict(sys.modules), list(sys.meta_path)
    bench = Bench(tmp_path)
    bench.close()
    assert (dict(sys.modules), list(sys.meta_path)) == before


def test_loader_can_be_used_again_after_it_was_closed(bench: Bench) -> None:
    bench.load("")
    bench.close()
    assert bench.load("import torch\n", "second.py").torch is sys.modules["torch"]
