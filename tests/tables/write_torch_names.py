"""Writes the names that the installed torch has, as the stand-in's data file.

Usage: python tests/tables/write_torch_names.py > pytest_sm120/stand_ins/torch_stand_in/names.txt
"""

from __future__ import annotations

import importlib
import sys

SECTIONS = [
    "torch",
    "torch.Tensor",
    "torch.cuda",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.parameter",
    "torch.version",
    "torch.library",
    "torch.compiler",
    "torch.autograd",
    "torch.accelerator",
    "torch.backends",
    "torch.jit",
    "torch.cuda.graphs",
    "torch.cuda.streams",
    "torch.cuda.nvtx",
]

# Submodules that torch imports only when they are asked for, on any machine.
LAZY = {
    "torch": [
        "_dynamo",
        "_export",
        "_functorch",
        "_inductor",
        "_subclasses",
        "distributed",
        "export",
        "fx",
        "onnx",
        "profiler",
        "utils",
    ]
}


def names_of(section: str) -> list[str]:
    """Return the sorted names of a module or class, private helpers of its own source left out."""
    try:
        owner = importlib.import_module(section)
    except ImportError:
        module, _, attribute = section.rpartition(".")
        owner = getattr(importlib.import_module(module), attribute)
    found = set(dir(owner)) | set(LAZY.get(section, ()))
    return sorted(name for name in found if not name.startswith("__"))


def main() -> None:
    """Print every section: its dotted name in brackets, then its names."""
    torch = importlib.import_module("torch")
    sys.stdout.write(f"# Names of torch {torch.__version__.partition('+')[0]}, by owner.\n")
    for section in SECTIONS:
        sys.stdout.write(f"[{section}]\n{' '.join(names_of(section))}\n")


if __name__ == "__main__":
    main()
