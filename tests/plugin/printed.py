"""What tests of printed text share."""

from __future__ import annotations

BROKEN = """
from pytest_sm120 import Scratch

def test_contract(sm120):
    module = sm120.load("kernels/scratch.py")
    sm120.check(
        Scratch(key="_buffers['{device}']", init=("full", 3), dtype="uint8",
                shape=lambda count: (count,)),
        drive=module.scratch,
    )
"""


def section(result, title):
    """Return the lines of a section of the failure report."""
    lines = iter(result.outlines)
    for line in lines:
        if line.strip("- ") == title:
            break
    found = []
    for line in lines:
        if line.startswith(("-----", "=====")):
            break
        found.append(line)
    return found
