"""Modules beside the target: loaded with real=, or known by their text only."""

from __future__ import annotations

import pytest

from pytest_sm120.errors import GhostValue, TargetError
from tests.stand_ins.bench import Bench


def test_sibling_is_real_when_it_is_asked_for(bench: Bench) -> None:
    bench.write("pkg/__init__.py", "")
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
    with pytest.raises(TargetError, match=r"^sibling.py:1: importing target raised ImportError"):
        bench.load("import sibling\ndef f(): return 4\n", real=["sibling"])


def test_target_is_prepared_for_a_sibling_that_cannot_be_imported(bench: Bench) -> None:
    bench.write("sibling.py", "raise ImportError('no such card')\n")
    module = bench.load(
        """
        try:
            from sibling import fast
        except ImportError as error:
            fast, reason = None, str(error)
        """,
        real=["sibling"],
    )
    assert (module.fast, module.reason) == (None, "no such card")
    assert [target.__name__ for target in bench.loader.targets] == ["target"]


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


def test_value_that_a_sibling_defines_is_asked_for_with_real(bench: Bench) -> None:
    bench.write("pkg/__init__.py", "")
    bench.write("pkg/numbers.py", "def double(n): return 2 * n\n")
    source = "from pkg.numbers import double\ndef run(): return range(double(3))\n"
    with pytest.raises(GhostValue) as asked:
        bench.load(source, "pkg/target.py").run()
    assert str(asked.value) == (
        "target.py:2: the code asked index(pkg.numbers.double()) at run time, but "
        "pkg.numbers.double() is a ghost: it was imported from something that is neither loaded "
        "nor provided, so it has no value. Any answer would send the test down a branch by "
        "accident. Give it a value: sm120.load(..., provide="
        '{"pkg.numbers.double": lambda *args: ...}), or load the module that defines it: '
        'real=["pkg.numbers"].'
    )
    assert list(bench.load(source, "pkg/target.py", real=["pkg.numbers"]).run()) == list(range(6))


def test_name_without_a_module_is_asked_for_with_provide_only(bench: Bench) -> None:
    with pytest.raises(GhostValue) as asked:
        bench.load("import lib\ndef run(): return int(lib)\n").run()
    assert "real=" not in str(asked.value)
