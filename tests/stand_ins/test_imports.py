"""What the import statements of a target get."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import pytest

from pytest_sm120.errors import GhostValue, TargetError
from tests.stand_ins.bench import Bench


def test_standard_library_is_real(bench: Bench) -> None:
    module = bench.load(
        """
        import os.path, json as j, collections.abc
        from concurrent import futures
        from importlib import resources
        import importlib.abc
        """
    )
    assert module.os is sys.modules["os"]
    assert module.j is sys.modules["json"]
    assert module.collections.abc is sys.modules["collections.abc"]
    assert module.futures is importlib.import_module("concurrent.futures")
    assert module.resources is importlib.import_module("importlib.resources")
    assert module.importlib.abc is importlib.import_module("importlib.abc")


def test_submodule_of_an_overlaid_package_is_imported_when_it_is_asked_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("metadata", "resources"):
        monkeypatch.delitem(sys.modules, f"importlib.{name}", raising=False)
        monkeypatch.delattr(importlib, name, raising=False)
    module = bench.load("from importlib import resources\n")
    assert module.resources.__name__ == "importlib.resources"


def test_declared_package_is_real_when_it_is_installed(bench: Bench) -> None:
    module = bench.load("import packaging.version\nnewer = packaging.version.parse('3.1')\n")
    assert module.newer == importlib.import_module("packaging.version").parse("3.1")
    assert module.__sm120_imports__["packaging.version"] == "real"


def test_package_is_real_when_the_settings_say_so(tmp_path) -> None:
    bench = Bench(tmp_path, real_packages=["sortedcontainers"])
    try:
        module = bench.load("import sortedcontainers\nfrom sortedcontainers import SortedList\n")
        assert module.sortedcontainers is importlib.import_module("sortedcontainers")
    finally:
        bench.close()


def test_any_other_package_is_a_ghost_even_if_it_is_installed(bench: Bench) -> None:
    import hypothesis

    module = bench.load("import hypothesis\nfrom hypothesis import given\n")
    assert repr(module.hypothesis) == "<ghost hypothesis>"
    assert sys.modules["hypothesis"] is hypothesis


def test_kinds_of_the_imports_are_listed(bench: Bench) -> None:
    bench.write("sibling.py", "x = 1\n")
    module = bench.load(
        """
        import os, importlib, torch, triton.language as tl, lib.deep
        import importlib.abc
        from lib import given
        import sibling
        lazily = importlib.import_module("lib.lazy")
        math = importlib.import_module("math")
        """,
        provide={"lib.given": 1, "lib.deep": SimpleNamespace()},
        real=["sibling"],
    )
    assert module.__sm120_imports__ == {
        "os": "real",
        "importlib": "real",
        "torch": "stand-in",
        "triton.language": "stand-in",
        "lib.deep": "provided",
        "importlib.abc": "real",
        "lib": "ghost",
        "lib.given": "provided",
        "sibling": "target",
        "lib.lazy": "ghost",
        "math": "real",
    }


def test_kinds_belong_to_one_module(bench: Bench) -> None:
    first = bench.load("import os\n", "first.py")
    second = bench.load("import lib\n", "second.py")
    assert first.__sm120_imports__ == {"os": "real"}
    assert second.__sm120_imports__ == {"lib": "ghost"}


def test_part_of_a_provided_module_is_listed_as_provided(bench: Bench) -> None:
    module = bench.load(
        "import lib.inner.deep\nfrom lib import inner\n",
        provide={"lib": SimpleNamespace(inner=SimpleNamespace(deep=5))},
    )
    assert module.__sm120_imports__["lib.inner.deep"] == "provided"
    assert module.lib.inner.deep == 5


def test_import_in_a_function_is_answered_at_run_time(bench: Bench) -> None:
    module = bench.load(
        """
        def run(x):
            import json
            from flashinfer.decode import plan
            plan(x)
            return json
        """
    )
    assert module.run(1) is sys.modules["json"]
    [call] = bench.recording.calls()
    assert (call.name, call.args) == ("flashinfer.decode.plan", (1,))
    assert module.__sm120_imports__ == {"json": "real", "flashinfer.decode": "ghost"}


# -- relative imports ------------------------------------------------------------------------------


def package(bench: Bench, *folders: str) -> None:
    for folder in folders:
        bench.write(f"{folder}/__init__.py", "")


def test_relative_import_starts_at_the_package(bench: Bench) -> None:
    package(bench, "pkg", "pkg/sub")
    module = bench.load(
        """
        from . import near
        from .near import thing
        from .. import far
        from ..far.deep import other
        """,
        "pkg/sub/target.py",
    )
    assert repr(module.near) == "<ghost pkg.sub.near>"
    assert repr(module.thing) == "<ghost pkg.sub.near.thing>"
    assert repr(module.far) == "<ghost pkg.far>"
    assert repr(module.other) == "<ghost pkg.far.deep.other>"


def test_relative_import_in_the_init_of_a_package_starts_at_itself(bench: Bench) -> None:
    package(bench, "pkg")
    module = bench.load(
        "from . import near\nfrom .near import thing\n__all__ = ['near']\n", "pkg/__init__.py"
    )
    assert module.__name__ == module.__package__ == "pkg"
    assert repr(module.near) == "<ghost pkg.near>"
    assert repr(module.thing) == "<ghost pkg.near.thing>"
    assert repr(module.near.deep.er) == "<ghost pkg.near.deep.er>"


def test_relative_import_above_the_package_fails_as_in_python(bench: Bench) -> None:
    package(bench, "pkg")
    with pytest.raises(TargetError) as raised:
        bench.load("from ...far import x\n", "pkg/target.py")
    assert str(raised.value) == (
        "target.py:1: importing pkg.target raised ImportError: attempted relative import beyond "
        "top-level package. No answer had been assumed until then. If the cause is a name that is "
        "not there, give it with provide= or load the sibling with real=; the traceback above is "
        "the target's own."
    )


# -- importlib -------------------------------------------------------------------------------------


def test_import_module_gives_what_an_import_statement_gives(bench: Bench) -> None:
    package(bench, "pkg")
    module = bench.load(
        """
        import importlib
        from importlib import import_module
        ghost = importlib.import_module("lib.deep")
        real = import_module("json")
        near = import_module(".near", __package__)
        torch = import_module("torch")
        """,
        "pkg/target.py",
    )
    assert repr(module.ghost) == "<ghost lib.deep>"
    assert module.real is sys.modules["json"]
    assert repr(module.near) == "<ghost pkg.near>"
    assert module.torch is sys.modules["torch"]
    assert repr(importlib.import_module("json")) == repr(module.real)


def test_find_spec_finds_what_can_be_imported(bench: Bench) -> None:
    module = bench.load(
        """
        from importlib.util import find_spec
        real, absent = find_spec("json"), find_spec("json.absent")
        torch = find_spec("torch")
        near = find_spec(".near", "torch")
        ghost, other_vendor = find_spec("flashinfer"), find_spec("aiter")
        def run(): return find_spec("flashinfer")
        """
    )
    assert module.real.name == "json"
    assert module.absent is None
    assert module.torch.name == "torch"
    assert module.near.name == "torch.near"
    assert module.ghost.name == "flashinfer"
    assert module.other_vendor is None
    assert [str(entry) for entry in module.__sm120_assumptions__] == [
        "target.py:5: importlib.util.find_spec('torch.near') was taken as found",
        "target.py:6: importlib.util.find_spec('flashinfer') was taken as found",
        "target.py:6: importlib.util.find_spec('aiter') was taken as not found",
    ]


def test_find_spec_of_a_ghost_at_run_time_is_an_error(bench: Bench) -> None:
    module = bench.load(
        "from importlib.util import find_spec\n"
        "def run(): return find_spec('flashinfer') is not None\n"
        "def vendor(): return find_spec('aiter') is not None\n"
    )
    with pytest.raises(GhostValue) as raised:
        module.run()
    assert str(raised.value) == (
        "target.py:2: the code asked importlib.util.find_spec('flashinfer') at run time, but "
        "flashinfer is a ghost: it was imported from something that is neither loaded nor "
        "provided, so it has no value. Any answer would send the test down a branch by accident. "
        'Give it a value: sm120.load(..., provide={"flashinfer": ...}).'
    )
    assert module.vendor() is False


@pytest.mark.parametrize(("given", "found"), [(object(), True), (None, False)])
def test_find_spec_finds_what_is_provided(bench: Bench, given: object, found: bool) -> None:
    module = bench.load(
        "from importlib.util import find_spec\n"
        "def run(): return find_spec('flashinfer') is not None\n",
        provide={"flashinfer": given},
    )
    assert module.run() is found


def test_version_of_a_stand_in_is_the_one_it_stands_for(bench: Bench) -> None:
    module = bench.load(
        """
        import importlib.metadata, torch
        from importlib.metadata import version, PackageNotFoundError
        versions = version("torch"), version("triton"), importlib.metadata.version("packaging")
        try:
            version("no-such-distribution")
        except PackageNotFoundError:
            missing = True
        """
    )
    assert module.versions == (
        module.torch.__version__,
        "3.9.0",
        importlib.import_module("importlib.metadata").version("packaging"),
    )
    assert module.missing
