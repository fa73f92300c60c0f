"""Names of torch and Triton that a target imports from a module of its own project."""

from __future__ import annotations

import pytest

from tests.stand_ins.bench import Bench

KERNEL = """
@triton.jit
def kernel(out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, 0)

def run(out):
    kernel[(2,)](out, BLOCK=64)
"""


def test_kernel_is_launched_when_a_sibling_hands_on_triton(bench: Bench) -> None:
    bench.write(
        "pkg/wrapped.py",
        """
        from typing import TYPE_CHECKING
        from .importing import HAS_TRITON, Placeholder
        if TYPE_CHECKING or HAS_TRITON:
            import triton
            import triton.language as tl
        else:
            triton = tl = Placeholder()
        """,
    )
    module = bench.load(f"from pkg.wrapped import tl, triton\n{KERNEL}", "pkg/target.py")
    module.run(bench.tensor(8))
    [launch] = bench.recording.launches()
    assert (launch.kernel, launch.grid, launch.args["BLOCK"]) == ("kernel", (2,), 64)
    assert bench.recording.calls() == []


@pytest.mark.parametrize(
    ("statement", "name", "stands_for"),
    [
        ("import torch", "torch", "torch"),
        ("import triton.language", "triton", "triton"),
        ("import os, triton.language as tl", "tl", "triton.language"),
        (
            "from triton import (\n    jit,  # decorates\n    language as tl,\n)",
            "tl",
            "triton.language",
        ),
        ("from triton \\\n    import language", "language", "triton.language"),
        ("from .deeper import tl", "tl", "triton.language"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", "torch", "torch"),
    ],
)
def test_name_is_handed_on_however_the_sibling_imports_it(
    bench: Bench, statement: str, name: str, stands_for: str
) -> None:
    bench.write("pkg/__init__.py", f"{statement}\n")
    bench.write("pkg/deeper.py", "import triton.language as tl\n")
    module = bench.load(
        f"""
        import torch, triton.language
        import pkg
        from pkg import {name} as imported
        wanted = {stands_for}
        """
    )
    assert module.imported is module.wanted
    assert getattr(module.pkg, name) is module.wanted


@pytest.mark.parametrize(
    "text",
    [
        "def tl(): ...",
        "tl = 1",
        "'''\nimport triton.language as tl\n'''",
        "import triton.language as other, tl.more as more",
        "import numpy as tl",
        "from .absent import tl",
        "from . import circle as tl",
        "from .circle import tl",
        "def lazily():\n    import triton.language as tl",
        "import triton as tl (",
        "from ...beyond import tl",
    ],
)
def test_name_that_is_not_handed_on_stays_a_ghost(bench: Bench, text: str) -> None:
    bench.write("pkg/__init__.py", "")
    bench.write("pkg/wrapped.py", f"{text}\n")
    bench.write("pkg/circle.py", "from .wrapped import tl\n")
    module = bench.load("from pkg.wrapped import tl\n")
    assert repr(module.tl) == "<ghost pkg.wrapped.tl>"


def test_provided_name_goes_before_the_one_that_is_handed_on(bench: Bench) -> None:
    bench.write("wrapped.py", "import triton\n")
    module = bench.load("from wrapped import triton\n", provide={"wrapped.triton": 5})
    assert module.triton == 5
