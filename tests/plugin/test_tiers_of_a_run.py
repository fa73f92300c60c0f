"""Which tiers a test runs in: marker, option, setting, default."""

from __future__ import annotations

import pytest

SAYS_ITS_TIER = """
import pytest

def test_it(sm120):
    print(f"<{sm120.tier} {sm120.arch.name}>")
"""

NOT_YET = (
    "sm120: This version of pytest-sm120 does not have the {tier} tier yet, whatever is "
    "installed. A later one will need torch and triton, which this environment "
    "lacks. Use the record tier, or a version that has this "
    'one. To have that then: pip install "pytest-sm120[torch]"{ending}'
)


@pytest.fixture
def lacks_torch(monkeypatch):
    from pytest_sm120.tiers import choose

    monkeypatch.setattr(choose, "sys", type("Sys", (), {"version_info": (3, 13)}))
    monkeypatch.setattr(choose, "find_spec", lambda package: None)


def test_unmarked_test_runs_in_record_under_its_own_name(project, run):
    project.makepyfile(SAYS_ITS_TIER)
    result = run("-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*<record sm_120>*"])
    run("-v").stdout.fnmatch_lines(["*::test_it PASSED*"])


def test_setting_names_the_tier_in_the_id_when_it_is_not_the_default(project, run):
    project.makepyfile(SAYS_ITS_TIER)
    project.makeini("[pytest]\nsm120_tier = source")
    run("-v").stdout.fnmatch_lines(["*::test_it[[]source] PASSED*"])


def test_command_line_wins_over_the_setting(project, run):
    project.makepyfile(SAYS_ITS_TIER)
    project.makeini("[pytest]\nsm120_tier = source")
    run("-v", "--sm120-tier=record").stdout.fnmatch_lines(["*::test_it[[]record] PASSED*"])


def test_marker_wins_over_the_command_line(project, run):
    project.makepyfile(SAYS_ITS_TIER.replace("def ", '@pytest.mark.sm120(tier="source")\ndef '))
    run("-v", "--sm120-tier=record").stdout.fnmatch_lines(["*::test_it[[]source] PASSED*"])


def test_closest_marker_wins_for_each_argument_by_itself(project, run):
    project.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.sm120(tier="source", arch="sm_90")

        @pytest.mark.sm120(arch="12.1")
        class TestBoth:
            @pytest.mark.sm120(tier="record")
            def test_it(self, sm120):
                assert (sm120.tier, sm120.arch.name) == ("record", "sm_121")
        """
    )
    run().assert_outcomes(passed=1)


def test_several_tiers_run_once_each_and_skip_those_that_cannot(project, run, lacks_torch):
    project.makepyfile(SAYS_ITS_TIER)
    result = run("-v", "-rs", "--sm120-tier=source,record,interpret")
    result.assert_outcomes(passed=2, skipped=1)
    assert "test_it[source] PASSED" in result.stdout.str()
    assert "test_it[record] PASSED" in result.stdout.str()
    skip = NOT_YET.format(tier="interpret", ending=".")
    assert f"SKIPPED [1] {project.path.name}" not in result.stdout.str()
    assert result.stdout.str().count(skip) == 1


def test_fixtures_are_not_set_up_for_a_tier_that_cannot_run(project, run):
    project.makepyfile(
        """
        import pytest

        @pytest.fixture
        def costly():
            raise AssertionError("set up")

        @pytest.mark.sm120(tier=["device"])
        def test_it(costly, sm120): pass
        """
    )
    run().assert_outcomes(skipped=1)


def test_dynamic_request_skips_when_no_tier_of_it_runs(project, run, lacks_torch):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.sm120(tier=["device", "interpret"])
        def test_it(request):
            request.getfixturevalue("sm120")
        """
    )
    result = run("-rs")
    result.assert_outcomes(skipped=1)
    assert NOT_YET.format(tier="device", ending=".") in result.stdout.str()


@pytest.mark.parametrize("spelling", ["sm_121", "sm_121a", "12.1"])
def test_arch_of_the_setting_is_read_in_each_spelling(project, run, spelling):
    project.makepyfile(SAYS_ITS_TIER)
    project.makeini(f"[pytest]\nsm120_arch = {spelling}")
    run("-s").stdout.fnmatch_lines(["*<record sm_121>*"])


def test_arch_answers_the_capability_queries_of_the_target(project, run):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.sm120(arch=(9, 0))
        def test_it(sm120):
            module = sm120.load("kernels/scratch.py")
            assert module.torch.cuda.get_device_capability() == (9, 0)
        """
    )
    run().assert_outcomes(passed=1)


def test_source_tier_reads_the_text_and_skips_each_call_that_runs_code(project, run):
    project.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.sm120(tier="source")

        def test_source(sm120):
            [alloc] = sm120.source("kernels/scratch.py").allocations(dtype="uint8")
            assert alloc.call == "torch.zeros" and alloc.function == "scratch"

        CALLS = {
            "load": lambda sm120: sm120.load("kernels/scratch.py"),
            "tensor": lambda sm120: sm120.tensor((1,)),
            "values": lambda sm120: sm120.values([1]),
            "numpy": lambda sm120: sm120.numpy(None),
            "registry": lambda sm120: sm120.registry(),
            "watch": lambda sm120: sm120.watch(object()),
            "recording": lambda sm120: sm120.recording,
            "step": lambda sm120: sm120.step("grow"),
            "check": lambda sm120: sm120.check(None, None),
        }

        @pytest.mark.parametrize("call", CALLS)
        def test_call(sm120, call):
            CALLS[call](sm120)
            raise AssertionError("not skipped")
        """
    )
    result = run("-rs")
    result.assert_outcomes(passed=1, skipped=9)
    assert (
        "sm120: The source tier reads the target's text and never runs it. Ask for "
        "sm120.source(path) in this test, or run it in the record tier." in result.stdout.str()
    )
    # At the user's own line.
    assert (
        "SKIPPED [1] test_source_tier_reads_the_text_and_skips_each_call_that_runs_code.py:9:"
        in (result.stdout.str())
    )
    assert "10 tests (1 in source, 9 skipped): 0 targets loaded" in result.stdout.str()
