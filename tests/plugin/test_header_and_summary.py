"""The header and the summary as they print."""

from __future__ import annotations

from tests.plugin.printed import BROKEN, section


def test_header_says_what_runs_and_why_the_rest_does_not(project, run):
    project.makepyfile("def test_it(): pass")
    lines = run().outlines
    assert f"sm120: 0.1.0, tiers source, record; arch sm_120; root {project.path}" in lines
    assert (
        "sm120: cannot run here: interpret, compile, device (not in this version yet); "
        "see sm120 doctor" in lines
    )


def test_nothing_is_printed_when_quiet_or_without_header(project, run):
    project.makepyfile("def test_it(): pass")
    for option in ("-q", "--no-header"):
        assert "sm120:" not in run(option).stdout.str()


def test_run_that_does_not_use_the_fixture_has_no_summary(project, run):
    project.makepyfile("def test_it(): pass")
    assert "- sm120 -" not in run().stdout.str()


def test_summary_counts_targets_contracts_clauses_assumptions_and_names_the_cost(project, run):
    project.makepyfile(
        BROKEN
        + """
def test_more(sm120):
    sm120.load("kernels/questioning.py")

def test_holds(sm120):
    module = sm120.load("kernels/scratch.py")
    sm120.check(
        Scratch(key="_buffers['{device}']", init="zeros", dtype="uint8",
                shape=lambda count: (count,)),
        drive=module.scratch,
    )
"""
    )
    result = run()
    result.assert_outcomes(failed=1, passed=2)
    assert section(result, "sm120") == [
        "3 tests (3 in record): 2 targets loaded, 2 contracts checked, 2 clauses broken, "
        "1 assumption made",
        "\"_buffers['{device}']\": Cost of the initial value: one memset of 4 bytes per "
        "(re)allocation, at size 4.",
    ]


def test_summary_counts_no_broken_clause_in_a_test_that_expects_one(project, run):
    expecting = BROKEN.replace(
        "    sm120.check(", "    with pytest.raises(Exception): sm120.check("
    )
    project.makepyfile("import pytest\n" + expecting)
    result = run()
    result.assert_outcomes(passed=1)
    assert section(result, "sm120") == [
        "1 test (1 in record): 1 target loaded, 1 contract checked, 0 clauses broken, "
        "0 assumptions made"
    ]


def test_summary_counts_what_was_not_judged(project, run):
    holding = BROKEN.replace('("full", 3)', '"zeros"')
    project.makepyfile(holding.replace("drive=module.scratch", "drive=module.scratch, sizes=[4]"))
    result = run()
    result.assert_outcomes(passed=1)
    assert section(result, "sm120") == [
        "1 test (1 in record): 1 target loaded, 1 contract checked, 0 clauses broken, "
        "7 not judged, 0 assumptions made"
    ]


def test_summary_says_why_tests_of_a_tier_were_skipped(project, run):
    project.makepyfile("def test_it(sm120): pass\ndef test_other(sm120): pass")
    [line] = section(run("--sm120-tier=device"), "sm120")
    assert line.startswith("2 tests skipped: This version of pytest-sm120 does not have the device")


def test_summary_names_no_cost_when_the_initial_value_is_right(project, run):
    project.makepyfile(
        BROKEN.replace('("full", 3)', '"zeros"').replace("(count,)),", "(count + 1,)),")
    )
    result = run()
    result.assert_outcomes(failed=1)
    [counts] = section(result, "sm120")
    assert counts == (
        "1 test (1 in record): 1 target loaded, 1 contract checked, 2 clauses broken, "
        "0 assumptions made"
    )


def test_expected_failure_counts_as_run(project, run):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.xfail
        def test_it(sm120):
            sm120.load("kernels/scratch.py")
            assert False
        """
    )
    assert "1 test (1 in record): 1 target loaded" in run().stdout.str()
