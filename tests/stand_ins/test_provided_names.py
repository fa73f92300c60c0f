"""Names that a test provides, at each depth."""

from __future__ import annotations

import importlib
import os
import time
from types import SimpleNamespace

import pytest

from pytest_sm120.errors import UsageError
from tests.stand_ins.bench import Bench


def test_attribute_of_a_ghost_is_provided(bench: Bench) -> None:
    module = bench.load(
        "import lib\nfrom lib import given\nfrom lib.deep import other\n",
        provide={"lib.given": 1, "lib.deep.other.inner.value": 2},
    )
    assert (module.lib.given, module.given) == (1, 1)
    assert module.other.inner.value == 2
    assert module.lib.deep.other.inner.value == 2


def test_module_is_provided(bench: Bench) -> None:
    fake = SimpleNamespace(inner=3)
    module = bench.load(
        "import lib.deep\nfrom lib import deep\nfrom lib.deep import inner\nimport lib.deep as d\n",
        provide={"lib.deep": fake},
    )
    assert module.deep is module.lib.deep is module.d is fake
    assert module.inner == 3


@pytest.mark.parametrize("root", ["numpy", "json", "torch", "lib"])
def test_root_module_is_provided(bench: Bench, root: str) -> None:
    fake = SimpleNamespace(inner=SimpleNamespace(x=3))
    module = bench.load(f"import {root} as got\nimport {root}.inner\n", provide={root: fake})
    assert module.got is fake
    assert vars(module)[root].inner.x == 3


def test_name_below_a_provided_root_gives_way_to_it(bench: Bench) -> None:
    fake = SimpleNamespace(a=1)
    module = bench.load("import json\n", provide={"json": fake, "json.loads": 5})
    assert module.json is fake
    assert vars(fake) == {"a": 1}


def test_provided_name_counts_when_importlib_asks(bench: Bench) -> None:
    module = bench.load(
        "import importlib\ngot = importlib.import_module('lib.deep')\n", provide={"lib.deep": 5}
    )
    assert module.got == 5


def test_provided_name_inside_torch_reaches_every_way_of_asking(bench: Bench) -> None:
    module = bench.load(
        """
        import torch, torch.cuda
        from torch.cuda import synchronize
        from torch._dynamo import reset
        def run():
            return torch.cuda.synchronize(), synchronize(), torch._dynamo.reset(), reset()
        """,
        provide={"torch.cuda.synchronize": lambda: 1, "torch._dynamo.reset": lambda: 2},
    )
    assert module.run() == (1, 1, 2, 2)


def test_provided_operator_replaces_the_ghost(bench: Bench) -> None:
    module = bench.load(
        "import torch\ndef run(): return torch.ops.sgl_kernel.fast(1)\n",
        provide={"torch.ops.sgl_kernel.fast": lambda x: x + 1},
    )
    assert module.run() == 2


def test_provided_name_inside_triton_is_used(bench: Bench) -> None:
    module = bench.load(
        """
        import triton
        from triton.testing import do_bench
        def run(): return do_bench(), triton.cdiv(1, 1)
        """,
        provide={"triton.testing.do_bench": lambda: 1.5, "triton.cdiv": lambda x, y: 9},
    )
    assert module.run() == (1.5, 9)


def test_name_of_the_standard_library_changes_for_the_target_only(bench: Bench) -> None:
    before = dict(os.environ)
    module = bench.load(
        """
        import os, time
        from os import environ
        from time import time as now
        def run(): return os.environ["A"], environ["A"], time.time(), now(), os.path.join("a", "b")
        """,
        provide={
            "os.environ": {"A": "1"},
            "time.time": lambda: 7.0,
            "os.path.join": lambda *parts: "+".join(parts),
        },
    )
    assert module.run() == ("1", "1", 7.0, 7.0, "a+b")
    assert os.environ == before
    assert time.time() != 7.0
    assert os.path.join("a", "b") != "a+b"
    assert "getcwd" in dir(module.os)
    assert module.os.getcwd is os.getcwd


def test_submodule_of_an_overlaid_module_is_imported(bench: Bench) -> None:
    module = bench.load(
        """
        import wsgiref.headers
        from wsgiref import headers as got
        from wsgiref.util import setup
        """,
        provide={"wsgiref.util.setup": 5},
    )
    assert module.got is importlib.import_module("wsgiref.headers")
    assert module.setup == 5


def test_name_of_a_real_package_changes_for_the_target_only(bench: Bench) -> None:
    import packaging.version

    module = bench.load(
        "import packaging.version\nfrom packaging.version import parse\n",
        provide={"packaging.version.parse": 4},
    )
    assert (module.parse, module.packaging.version.parse) == (4, 4)
    assert callable(packaging.version.parse)
    assert module.packaging.version.Version is packaging.version.Version


def test_attribute_of_a_class_in_the_standard_library_is_refused(bench: Bench) -> None:
    with pytest.raises(UsageError) as raised:
        bench.load("import datetime\n", provide={"datetime.datetime.now": None})
    assert str(raised.value) == (
        "provide= names 'datetime.datetime.now', but datetime.datetime cannot be imported as a "
        "module: No module named 'datetime.datetime'; 'datetime' is not a package. Inside the "
        "standard library and other real packages, names of modules can be given another meaning, "
        "parts of classes and objects cannot. Provide 'datetime.datetime' itself."
    )


def test_class_of_the_stand_in_is_left_alone(bench: Bench) -> None:
    module = bench.load("import torch\n", provide={"torch.Tensor.surprise": 1})
    assert not hasattr(module.torch.Tensor, "surprise")


def test_folder_provides_beneath_the_load(bench: Bench) -> None:
    module = bench.load(
        "from lib import a, b\n",
        folder_provide={"lib.a": 1, "lib.b": 1, "lib.unused": 1},
        provide={"lib.b": 2},
    )
    assert (module.a, module.b) == (1, 2)


@pytest.mark.parametrize(
    "statement",
    [
        *("import lib.deep", "from lib import deep", "from lib.deep import x", "from lib import *"),
        *("def f():\n    import lib.deep", "import importlib as i\ni.import_module('lib.deep')"),
        *("from importlib import import_module as m\n__import__('lib.deep')", "import lib as l"),
    ],
)
def test_key_is_accepted_when_a_statement_names_it(bench: Bench, statement: str) -> None:
    bench.load(f"{statement}\n", provide={"lib.deep": SimpleNamespace(x=1)})


def test_key_is_accepted_when_a_relative_literal_names_it(bench: Bench) -> None:
    bench.write("pkg/__init__.py", "")
    bench.load(
        "import importlib\nif False:\n    importlib.import_module('.near', 'pkg')\n",
        "pkg/target.py",
        provide={"pkg.near": 1},
    )


def test_key_is_accepted_when_a_real_sibling_names_it(bench: Bench) -> None:
    bench.write("sibling.py", "import lib.deep\n")
    bench.load("import sibling\n", provide={"lib.deep": 1}, real=["sibling"])


def test_key_that_nothing_names_is_refused_with_the_nearest_names(bench: Bench) -> None:
    with pytest.raises(UsageError) as raised:
        bench.load("from lib.runtime import context\n", provide={"lib.runtime.contxt": 1})
    assert str(raised.value) == (
        "provide= names 'lib.runtime.contxt', but no import statement of target.py or of its real= "
        "siblings names it. Did you mean lib.runtime.context? A key that nothing "
        "imports would silently provide nothing. Use the full dotted name as the file imports it, "
        "or drop the key."
    )


def test_key_is_refused_when_only_a_computed_name_may_import_it(bench: Bench) -> None:
    source = "import importlib\nname = 'lib' + '.deep'\nimportlib.import_module(name)\n"
    with pytest.raises(UsageError, match="^provide= names 'lib.deep', but no import statement"):
        bench.load(source, provide={"lib.deep": 1})


def test_key_that_nothing_resembles_is_refused_without_a_suggestion(bench: Bench) -> None:
    with pytest.raises(UsageError) as raised:
        bench.load("from . import near\nimport lib\n", provide={"zzz": 1})
    assert str(raised.value) == (
        "provide= names 'zzz', but no import statement of target.py or of its real= siblings names "
        "it. A key that nothing imports would silently provide nothing. Use the full dotted name "
        "as the file imports it, or drop the key."
    )
