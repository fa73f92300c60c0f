"""Running a test for several arches: the loop, the marker, the decorator."""

from __future__ import annotations

import pytest

# After public reports: an exact match on (12, 0) leaves (12, 1) without a path.
GATE = """
import torch

def backend():
    major, minor = torch.cuda.get_device_capability()
    if (major, minor) == (9, 0):
        return "wgmma"
    if major == 10:
        return "tcgen05"
    if {gate}:
        return "sm12x"
    raise NotImplementedError(f"no path for {major}.{minor}")
"""
EXACT = GATE.replace("{gate}", "(major, minor) == (12, 0)")
FAMILY = GATE.replace("{gate}", "major == 12")

# After public reports: a list of arches to build for forgets a major version, and of a mixed list
# drops what it does not know.
FLAGS = """
def flags(targets):
    keep = [target for target in targets if target[0] in {majors}]
    if not keep:
        raise RuntimeError("no supported arch")
    return ["sm_%d%da" % target for target in keep]
"""
ROUTES = """{"sm_90": "wgmma", "sm_100": "tcgen05", (10, 3): "tcgen05", "sm_120": "sm12x",
          "12.1": "sm12x"}"""


@pytest.fixture
def gates(project):
    folder = project.path / "kernels"
    (folder / "exact.py").write_text(EXACT, encoding="utf-8")
    (folder / "family.py").write_text(FAMILY, encoding="utf-8")
    (folder / "forgets.py").write_text(FLAGS.replace("{majors}", "(9, 10)"), encoding="utf-8")
    (folder / "knows.py").write_text(FLAGS.replace("{majors}", "(9, 10, 12)"), encoding="utf-8")
    return project


@pytest.mark.parametrize(("file", "passed", "failed"), [("exact", 4, 1), ("family", 5, 0)])
def test_mapping_says_the_path_of_each_arch(gates, run, file, passed, failed):
    gates.makepyfile(
        f"""
        from pytest_sm120 import for_each_arch

        @for_each_arch({ROUTES})
        def test_route(sm120, expected):
            assert sm120.load("kernels/{file}.py").backend() == expected
        """
    )
    result = run("-v")
    result.assert_outcomes(passed=passed, failed=failed)
    assert ("test_route[sm_121] FAILED" in result.stdout.str()) is (failed == 1)
    assert "test_route[sm_103] PASSED" in result.stdout.str()


@pytest.mark.parametrize(("file", "passes"), [("exact", False), ("family", True)])
def test_loop_over_a_mapping_names_the_arch_that_failed(gates, run, file, passes):
    gates.makepyfile(
        f"""
        def test_route(sm120):
            for arch, expected in sm120.for_each_arch({ROUTES}):
                assert sm120.arch is arch
                assert sm120.load("kernels/{file}.py").backend() == expected
        """
    )
    result = run()
    result.assert_outcomes(passed=int(passes), failed=int(not passes))
    told = (
        "test_loop_over_a_mapping_names_the_arch_that_failed.py:5: the loop over arches was left "
        "in the turn of sm_121."
    )
    assert (told in result.stdout.str()) is not passes
    assert "1 target loaded" in result.stdout.str()


@pytest.mark.parametrize(("file", "failed"), [("forgets", 4), ("knows", 1)])
def test_build_list_must_keep_every_arch(gates, run, file, failed):
    gates.makepyfile(
        f"""
        import pytest
        from pytest_sm120 import for_each_arch

        @for_each_arch("sm_90", "sm_100", "sm_120", "sm_121")
        def test_one(sm120):
            flags = sm120.load("kernels/{file}.py").flags
            assert flags([sm120.arch.capability]) == [sm120.arch.name + "a"]

        def test_mixed_list_drops_nothing(sm120):
            flags = sm120.load("kernels/{file}.py").flags
            assert flags([(10, 0), (12, 1)]) == ["sm_100a", "sm_121a"]

        def test_unknown_target_in_a_mixed_list_raises(sm120):
            with pytest.raises(RuntimeError):
                sm120.load("kernels/{file}.py").flags([(9, 0), (8, 0)])
        """
    )
    result = run()
    # sm_120, sm_121 and the mixed list; and the last test: both versions drop (8, 0) silently.
    result.assert_outcomes(passed=6 - failed, failed=failed)


def test_exact_gate_that_is_meant_can_be_said(gates, run):
    gates.makepyfile(
        """
        import pytest

        def test_only_sm_120(sm120):
            for arch in sm120.for_each_arch("sm_120", "sm_121"):
                module = sm120.load("kernels/exact.py")
                if arch.capability == (12, 0):
                    assert module.backend() == "sm12x"
                else:
                    with pytest.raises(NotImplementedError, match="no path for 12.1"):
                        module.backend()
        """
    )
    run().assert_outcomes(passed=1)


def test_loop_without_arches_takes_all_and_puts_everything_back(gates, run):
    gates.makepyfile(
        """
        import sys
        from pytest_sm120.arch import ARCHES

        def test_all(sm120):
            seen = []
            for arch in sm120.for_each_arch():
                assert "torch" not in sys.modules and not sm120.recording.records()
                module = sm120.load("kernels/scratch.py")
                module.scratch(4)
                assert module.torch.cuda.get_device_capability() == arch.capability
                assert len(sm120.recording.launches()) == 1
                seen.append(arch)
            assert seen == list(ARCHES.values())
            assert sm120.arch.name == "sm_120" and "torch" not in sys.modules

        def test_break(sm120):
            for arch in sm120.for_each_arch(["sm_90", "sm_121"]):
                sm120.load("kernels/scratch.py")
                break
            assert sm120.arch.name == "sm_120" and "torch" not in sys.modules
        """
    )
    result = run()
    result.assert_outcomes(passed=2)


def test_marker_with_arches_and_tiers_has_readable_ids(gates, run):
    gates.makepyfile(
        """
        import pytest

        @pytest.mark.sm120(arch=["sm_90", "sm_120", (12, 1)])
        def test_arches(sm120): pass

        @pytest.mark.sm120(arch=["sm_90", "12.1"], tier=["source", "record"])
        def test_both(sm120): pass

        @pytest.mark.sm120(arch={"sm_90": 1}, expected="want")
        def test_value(sm120, want): assert want == 1

        @pytest.mark.sm120(arch=(12, 1))
        def test_one(sm120): assert sm120.arch.name == "sm_121"
        """
    )
    result = run("-v")
    result.assert_outcomes(passed=9)
    ids = ["arches[sm_90]", "arches[sm_120]", "arches[sm_121]", "both[source-sm_90]"]
    ids += ["both[record-sm_121]", "value[sm_90]", "one PASSED"]
    assert [name for name in ids if f"test_{name}" not in result.stdout.str()] == []


def test_decorator_runs_for_all_arches_also_without_parentheses_and_on_a_class(gates, run):
    gates.makepyfile(
        """
        import pytest_sm120 as sm120_package
        from pytest_sm120 import for_each_arch

        @for_each_arch
        def test_bare(sm120): pass

        @sm120_package.for_each_arch()
        class TestAll:
            def test_it(self, sm120): pass

        @for_each_arch({"sm_90": "wgmma"}, "route")
        def test_named(sm120, route): assert route == "wgmma"
        """
    )
    run().assert_outcomes(passed=21)


def test_test_case_loops_and_is_told_so_when_its_marker_names_several(gates, run):
    gates.makepyfile(
        """
        import unittest
        import pytest

        @pytest.mark.sm120
        class Loops(unittest.TestCase):
            def test_it(self):
                for arch in self.sm120.for_each_arch("sm_120", "sm_121"):
                    module = self.sm120.load("kernels/family.py")
                    self.assertEqual(module.backend(), "sm12x")

        @pytest.mark.sm120(arch=["sm_120", "sm_121"])
        class Marked(unittest.TestCase):
            def test_it(self): pass
        """
    )
    result = run()
    result.assert_outcomes(passed=1, errors=1)
    assert (
        "::Marked::test_it names several arches. Pytest cannot run this test once for each: it is "
        "a method of a unittest.TestCase, or asks for the fixture while it runs. Name one arch, "
        "and loop inside the test: for arch in self.sm120.for_each_arch(): ..."
    ) in result.stdout.str()


@pytest.mark.parametrize(
    ("arches", "told"),
    [
        ('"sm_70"', "'sm_70' is not an arch that this version knows."),
        ("[]", "No arch is named: []."),
    ],
)
def test_unknown_and_absent_arches_are_refused(gates, run, arches, told):
    gates.makepyfile(
        f"""
        import pytest
        from pytest_sm120 import for_each_arch

        def test_loop(sm120):
            sm120.for_each_arch({arches})

        def test_decorator():
            for_each_arch({arches})
        """
    )
    result = run()
    result.assert_outcomes(failed=2)
    assert result.stdout.str().count(told) >= 2
