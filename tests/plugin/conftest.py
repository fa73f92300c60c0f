from __future__ import annotations

import os
import subprocess
import sys

import pytest

TARGET = """
import torch
import triton
import triton.language as tl
from paged.runtime import resources

_buffers = {}

@triton.jit
def _copy_kernel(out_ptr, count, BLOCK: tl.constexpr):
    pass

def scratch(count, device="cuda:0"):
    held = _buffers.get(device)
    if held is None or held.shape[0] < count:
        with torch.inference_mode(False):
            held = torch.zeros(count, dtype=torch.uint8, device=device)
        _buffers[device] = held
    _copy_kernel[(count,)](held, count, BLOCK=64)
    return held[:count]

def refuse(count):
    raise ValueError(f"no room for {count}")
"""

QUESTIONING = """
from paged.config import mode
if mode() == "unheard of":
    raise RuntimeError("wrong branch")
"""


@pytest.fixture
def project(pytester, monkeypatch):
    """A project with two targets; no other plugin of the environment is loaded in its runs."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    # Other plugins of the environment have no part in what is tested here, and take their time.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    folder = pytester.mkdir("kernels")
    (folder / "scratch.py").write_text(TARGET, encoding="utf-8")
    (folder / "questioning.py").write_text(QUESTIONING, encoding="utf-8")
    return pytester


@pytest.fixture
def run(project):
    """Runs pytest in this process."""
    # unraisableexception collects garbage again and again at the end, also that of the outer run.
    without = ("-p", "no:cacheprovider", "-p", "no:unraisableexception")

    def run_inside(*arguments):
        return project.runpytest_inprocess("-p", "sm120", *without, *arguments)

    return run_inside


@pytest.fixture
def run_process(project):
    """Runs a Python command line as its own process and returns what came of it."""

    def run_outside(*arguments, **environment):
        command = [sys.executable, *arguments]
        merged = {**os.environ, **environment}
        return subprocess.run(
            command, cwd=project.path, env=merged, capture_output=True, text=True, check=False
        )

    return run_outside
