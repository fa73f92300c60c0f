"""self.sm120 in unittest.TestCase classes."""

from __future__ import annotations

CASE = """
import unittest
import pytest

@pytest.mark.sm120(arch="sm_121")
class Base(unittest.TestCase):
    def setUp(self):
        self.module = self.sm120.load("kernels/scratch.py")

    def test_it(self):
        self.assertEqual(self.module.scratch(4).shape, (4,))
        self.assertEqual(self.sm120.arch.name, "sm_121")

    def tearDown(self):
        assert len(self.sm120.recording.allocations()) == 1
"""


def test_fixture_is_there_in_set_up_test_and_tear_down(project, run):
    project.makepyfile(CASE)
    run().assert_outcomes(passed=1)


def test_subclass_inherits_the_fixture_and_its_own_marker_wins(project, run):
    project.makepyfile(
        CASE
        + """
@pytest.mark.sm120(tier="record")
class Derived(Base):
    def test_more(self):
        assert self.sm120.tier == "record" and self.sm120.arch.name == "sm_121"
        self.module.scratch(2)
"""
    )
    run().assert_outcomes(passed=3)


def test_class_fixtures_of_the_user_can_use_it(project, run):
    project.makepyfile(
        """
        import unittest
        import pytest

        @pytest.mark.sm120
        class ScratchTest(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def target(self):
                self.module = self.sm120.load("kernels/scratch.py")

            def test_it(self):
                assert self.module.scratch(4) is not None
        """
    )
    run().assert_outcomes(passed=1)


def test_class_without_marker_is_untouched(project, run):
    project.makepyfile(CASE.replace('@pytest.mark.sm120(arch="sm_121")\n', ""))
    result = run("--setup-show")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AttributeError: 'Base' object has no attribute 'sm120'"])
    assert "_sm120" not in result.stdout.str()


def test_function_beside_an_unmarked_class_has_no_fixture_of_ours(project, run):
    project.makepyfile("import unittest\nclass TestPlain:\n    def test_it(self): pass\n")
    assert "sm120 (" not in run("--setup-show").stdout.str()


def test_class_with_several_tiers_runs_in_the_first_that_can(project, run):
    marker = '@pytest.mark.sm120(tier=["device", "record"], arch="sm_121")'
    project.makepyfile(CASE.replace('@pytest.mark.sm120(arch="sm_121")', marker))
    result = run("-v")
    result.assert_outcomes(passed=1)
    assert "1 test (1 in record)" in result.stdout.str()


def test_class_is_skipped_when_none_of_its_tiers_can_run(project, run):
    marker = '@pytest.mark.sm120(tier=["device"])'
    project.makepyfile(CASE.replace('@pytest.mark.sm120(arch="sm_121")', marker))
    result = run("-rs")
    result.assert_outcomes(skipped=1)
    assert "does not have the device tier yet" in result.stdout.str()


def test_async_test_case_has_the_fixture(project, run):
    project.makepyfile(
        """
        import unittest
        import pytest

        @pytest.mark.sm120
        class ScratchTest(unittest.IsolatedAsyncioTestCase):
            async def asyncSetUp(self):
                self.module = self.sm120.load("kernels/scratch.py")

            async def test_it(self):
                assert self.module.scratch(4).shape == (4,)
        """
    )
    run("-p", "unraisableexception").assert_outcomes(passed=1)


def test_each_test_of_a_class_has_a_recording_of_its_own(project, run):
    project.makepyfile(CASE.replace("tearDown", "test_again").replace("== 1", "== 0"))
    run().assert_outcomes(passed=2)
