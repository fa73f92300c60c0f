"""What was loaded or made in one turn of for_each_arch, used in another."""

from __future__ import annotations


def test_module_of_another_turn_is_refused(project, run):
    project.makepyfile(
        """
        import pytest
        from pytest_sm120.errors import UsageError

        def test_it(sm120):
            module = sm120.load("kernels/scratch.py")
            for arch in sm120.for_each_arch("sm_90"):
                with pytest.raises(UsageError) as raised:
                    module.scratch(4)
            assert str(raised.value) == (
                "kernels.scratch was loaded in another turn of sm120.for_each_arch, or outside "
                "it. Each turn loads anew, since a file may decide while it is imported what it "
                "does on which arch. Load the target, and make its inputs, inside the loop."
            )
        """
    )
    run().assert_outcomes(passed=1)


def test_function_and_tensor_of_another_turn_are_refused(project, run):
    project.makepyfile(
        """
        import pytest
        from pytest_sm120.errors import UsageError

        LATE = (
            ": a tensor or function of another turn of sm120.for_each_arch, or of outside it, was "
            "used. What it does would be recorded where nobody looks any more. Load the target, "
            "and make its inputs, inside the loop."
        )

        def test_function(sm120):
            scratch = sm120.load("kernels/scratch.py").scratch
            for arch in sm120.for_each_arch("sm_90", "sm_120"):
                with pytest.raises(UsageError) as raised:
                    scratch(4)
                site = str(raised.value).removesuffix(LATE)
                assert site.startswith("scratch.py:")
                scratch = sm120.load("kernels/scratch.py").scratch
                scratch(4)
            with pytest.raises(UsageError):
                scratch(4)

        def test_tensor(sm120):
            for arch in sm120.for_each_arch("sm_90", "sm_120"):
                if arch.name == "sm_90":
                    x = sm120.tensor((4,))
                    x.zero_()
            with pytest.raises(UsageError) as raised:
                x.zero_()
            site = str(raised.value).removesuffix(LATE)
            assert site.endswith("_are_refused.py:28")
        """
    )
    run().assert_outcomes(passed=2)
