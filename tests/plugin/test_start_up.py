"""What importing and registering the plugin loads, in processes of their own."""

from __future__ import annotations

import pytest

LOADED_BY_IMPORT = """
import pytest, sys
from _pytest.config import get_config
get_config()
before = set(sys.modules)
import pytest_sm120.plugin
print(*sorted(set(sys.modules) - before))
"""

SAY_HEAVY = """
import sys

def pytest_unconfigure():
    heavy = ("numpy", "libcst", "torch", "triton", "hypothesis", "pytest_sm120.plugin.fixture")
    print("LOADED", *[name for name in heavy if name in sys.modules])
"""


def last_word(project, run_process, test, *arguments):
    project.makeconftest(SAY_HEAVY)
    project.makepyfile(test_it=test)
    command = ("-m", "pytest", "-s", "-p", "sm120", "-p", "no:cacheprovider", *arguments)
    done = run_process(*command)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    [line] = [line for line in done.stdout.splitlines() if line.startswith("LOADED")]
    return line


def test_import_of_the_plugin_loads_nothing_else(run_process):
    done = run_process("-c", LOADED_BY_IMPORT)
    assert done.stdout.split() == ["pytest_sm120", "pytest_sm120.plugin"], done.stderr


@pytest.mark.parametrize("quiet", [(), ("--no-header",)])
def test_run_that_does_not_use_the_fixture_loads_nothing_heavy(project, run_process, quiet):
    assert last_word(project, run_process, "def test_it(): pass", *quiet) == "LOADED"


def test_run_in_record_loads_nothing_heavy(project, run_process):
    test = "def test_it(sm120): sm120.load('kernels/scratch.py').scratch(4)"
    said = last_word(project, run_process, test)
    assert said == "LOADED pytest_sm120.plugin.fixture"


def test_numpy_is_loaded_when_contents_are_asked_for(project, run_process):
    test = "def test_it(sm120): assert sm120.numpy(sm120.values([1, 2])).tolist() == [1, 2]"
    said = last_word(project, run_process, test)
    assert said == "LOADED numpy pytest_sm120.plugin.fixture"
