"""What the import statements of a target get."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import pytest

from pytest_sm120.errors import TargetError
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


# -- siblings that are loaded for real -------------------------------------------------------------


def test_sibling_is_real_when_it_is_asked_for(bench: Bench) -> None:
    package(bench, "pkg")
    bench.write("pkg/sibling.py", "import lib\nfrom . import other\ndef f(): return __name__\n")
    module = bench.load(
        "import pkg.sibling as whole\nfrom .sibling import f\nfrom . import sibling, other\n",
        "pkg/target.py",
        real=["pkg.sibling"],
    )
    assert module.f() == "pkg.sibling"
    assert module.whole is module.sibling
    assert repr(module.other) == "<ghost pkg.other>"
    assert [target.__name__ for target in bench.loader.targets] == ["pkg.target", "pkg.sibling"]


def test_sibling_named_alone_is_one_sibling(bench: Bench) -> None:
    bench.write("sibling.py", "x = 1\n")
    assert bench.load("from sibling import x\n", real="sibling").x == 1


def test_sibling_imported_in_a_function_is_loaded_then(bench: Bench) -> None:
    bench.write("sibling.py", "import lib\nx = 2 if lib.flag else 3\n")
    module = bench.load("def run():\n    from sibling import x\n    return x\n", real=["sibling"])
    assert len(bench.loader.targets) == 1
    assert module.run() == 3
    assert len(bench.loader.targets) == 2


def test_target_and_sibling_import_each_other(bench: Bench) -> None:
    bench.write("sibling.py", "import target\ndef g(): return target.f()\n")
    module = bench.load(
        "import sibling\ndef f(): return 4\ndef run(): return sibling.g()\n", real=["sibling"]
    )
    assert module.run() == 4


def test_name_that_a_half_loaded_target_lacks_is_an_import_error(bench: Bench) -> None:
    bench.write("sibling.py", "from target import f\n")
    with pytest.raises(TargetError, match=r"^sibling.py:1: importing sibling raised ImportError"):
        bench.load("import sibling\ndef f(): return 4\n", real=["sibling"])


def test_package_is_a_real_sibling(bench: Bench) -> None:
    bench.write("pkg/__init__.py", "from . import inner, _C\nfrom .other import x\nversion = 3\n")
    bench.write("pkg/inner.py", "y = 5\n")
    module = bench.load(
        """
        import pkg.unknown.deep
        from pkg import version, inner, more
        from pkg.inner import y
        """,
        "target.py",
        real=["pkg", "pkg.inner"],
    )
    assert (module.version, module.y, module.inner.y) == (3, 5, 5)
    assert repr(module.more) == "<ghost pkg.more>"
    assert repr(module.pkg._C) == "<ghost pkg._C>"
    assert repr(module.pkg.x) == "<ghost pkg.other.x>"


def test_sibling_is_run_once_for_two_targets(bench: Bench) -> None:
    bench.write("sibling.py", "made = object()\n")
    first = bench.load("from sibling import made\n", "first.py", real=["sibling"])
    second = bench.load("from sibling import made\n", "second.py", real=["sibling"])
    assert first.made is second.made


# -- star imports ----------------------------------------------------------------------------------


def test_star_import_of_a_sibling_that_is_not_loaded_binds_its_names(bench: Bench) -> None:
    bench.write(
        "sibling.py",
        """
        import os as system
        A, (B, C) = 1, (2, 3)
        D: int = 4
        _private = 5
        if A:
            def f(): hidden = 1
        else:
            E = 6
        try:
            from lib import g
        except ImportError:
            class K: attribute = 1
        A.attribute = 7
        """,
    )
    module = bench.load("from sibling import *\n")
    bound = {name for name, value in vars(module).items() if type(value).__name__ == "Ghost"}
    assert bound == {"system", "A", "B", "C", "D", "f", "E", "g", "K"}
    assert repr(module.f) == "<ghost sibling.f>"


def test_star_import_follows_the_list_of_public_names(bench: Bench) -> None:
    bench.write("sibling.py", "__all__ = ['a', '_b']\na = _b = c = 1\n")
    module = bench.load("from sibling import *\n")
    assert repr(module._b) == "<ghost sibling._b>"
    assert not hasattr(module, "c")


def test_star_import_of_what_is_not_below_the_root_binds_nothing(bench: Bench) -> None:
    assert not hasattr(bench.load("from lib import *\n"), "anything")


def test_star_import_of_a_real_sibling_binds_its_objects(bench: Bench) -> None:
    bench.write("sibling.py", "a = 1\n")
    assert bench.load("from sibling import *\nb = a\n", real=["sibling"]).b == 1


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
        ghost, other_vendor = find_spec("flashinfer"), find_spec("aiter")
        def run(): return find_spec("flashinfer")
        """
    )
    assert module.real.name == "json"
    assert module.absent is None
    assert module.torch.name == "torch"
    assert module.ghost.name == "flashinfer"
    assert module.other_vendor is None
    assert [str(entry) for entry in module.__sm120_assumptions__] == [
        "target.py:5: importlib.util.find_spec('flashinfer') was taken as found",
        "target.py:5: importlib.util.find_spec('aiter') was taken as not found",
    ]
    assert module.run().name == "flashinfer"
    assert len(module.__sm120_assumptions__) == 2


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
