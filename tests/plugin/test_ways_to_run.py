"""With autoload on and off, under other plugins, and with the plugin switched off."""

from __future__ import annotations

import pytest

BOTH = """
def test_one(sm120):
    assert sm120.load("kernels/scratch.py").scratch(4).shape == (4,)

def test_two(sm120):
    assert sm120.load("kernels/questioning.py")
"""
QUIET = ("-m", "pytest", "-p", "no:cacheprovider")
AUTOLOAD = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""}


@pytest.fixture
def suite(project):
    project.makepyfile(test_both=BOTH)


@pytest.mark.parametrize("arguments", [(), ("-p", "sm120")])
def test_plugin_works_with_autoload(suite, run_process, arguments):
    done = run_process(*QUIET, *arguments, **AUTOLOAD)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_plugin_works_by_name_without_autoload(suite, run_process):
    done = run_process(*QUIET, "-p", "sm120")
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_plugin_is_absent_without_autoload_and_name(suite, run_process):
    done = run_process(*QUIET)
    assert "fixture 'sm120' not found" in done.stdout
    assert "sm120: 0.1.0" not in done.stdout


def test_plugin_can_be_switched_off(suite, run_process):
    done = run_process(*QUIET, "-p", "no:sm120", **AUTOLOAD)
    assert "fixture 'sm120' not found" in done.stdout
    assert "sm120: 0.1.0" not in done.stdout


def test_workers_of_xdist_are_counted_together(suite, run_process):
    done = run_process(*QUIET, "-p", "sm120", "-p", "xdist", "-n", "2", "--sm120-root", ".")
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert (
        "2 tests (2 in record): 2 targets loaded, 0 contracts checked, 0 clauses broken, "
        "1 assumption made" in done.stdout
    )


def test_failure_in_a_worker_of_xdist_shows_what_was_recorded(project, run_process):
    project.makepyfile(
        """
        def test_it(sm120):
            sm120.load("kernels/scratch.py").scratch(4)
            assert False
        """
    )
    done = run_process(*QUIET, "-p", "sm120", "-p", "xdist", "-n", "1")
    assert "- sm120: recorded -" in done.stdout
    assert "scratch.py:17 scratch: torch.zeros -> uint8[4] on cuda:0, 4 bytes" in done.stdout


@pytest.mark.parametrize("seed", ["1", "2"])
def test_order_of_tests_does_not_matter(suite, run_process, seed):
    done = run_process(*QUIET, f"--randomly-seed={seed}", **AUTOLOAD)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_marker_is_registered(project, run):
    result = run("--markers")
    result.stdout.fnmatch_lines(
        [
            "@pytest.mark.sm120(tier=None, arch=None, expected=None): run in this tier, and let "
            "capability queries answer for this arch (a list of either: one run for each; a dict "
            "of arches: its values come as the argument that expected= names); on a "
            "unittest.TestCase class: provide self.sm120."
        ]
    )
