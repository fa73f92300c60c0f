"""Options, settings and markers that make no sense: whole messages, no internal traceback."""

from __future__ import annotations

import pytest

USES_IT = "def test_it(sm120): pass\n"

NO_ARCH = (
    "'sm_999' is not an arch that this version knows. Known are sm_80, sm_86, sm_87, sm_89, "
    "sm_90, sm_100, sm_103, sm_110, sm_120, sm_121, also spelled as sm_120a, 12.0 or (12, 0). Use "
    "one of these in the marker's arch= or in the setting sm120_arch."
)
NO_TIER = (
    "asks for {seen}, which is not a tier. The tiers are source, record, interpret, compile, "
    'device. Name one, or several separated by commas, e.g. "record,interpret".'
)
ROOT_RULE = (
    "Target paths are taken relative to that folder. On the command line it is relative to where "
    "pytest was started, in a settings file to that file. Name a folder that exists."
)


def refused(result):
    """Return the one error line of a run that ended at once."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    [line] = [line for line in result.errlines if line]
    assert "Traceback" not in result.stdout.str()
    return line


@pytest.mark.parametrize("quiet", [(), ("-q",), ("--no-header",)])
def test_unknown_tier_on_the_command_line_ends_the_run(project, run, quiet):
    project.makepyfile(USES_IT)
    error = refused(run("--sm120-tier=recrod", *quiet))
    assert error == f"ERROR: --sm120-tier {NO_TIER.format(seen=repr('recrod'))}"


def test_empty_tier_on_the_command_line_ends_the_run(project, run):
    error = refused(run("--sm120-tier="))
    assert error == f"ERROR: --sm120-tier {NO_TIER.format(seen='nothing')}"


def test_unknown_tier_in_the_settings_ends_the_run(project, run):
    project.makeini("[pytest]\nsm120_tier = record, fast")
    error = refused(run())
    assert error == f"ERROR: The setting sm120_tier {NO_TIER.format(seen=repr('fast'))}"


def test_unknown_arch_in_the_settings_ends_the_run(project, run):
    project.makeini("[pytest]\nsm120_arch = sm_999")
    assert refused(run()) == f"ERROR: The setting sm120_arch asks for an arch, but {NO_ARCH}"


def test_missing_root_on_the_command_line_ends_the_run(project, run):
    error = refused(run("--sm120-root=nowhere"))
    folder = project.path / "nowhere"
    assert error == (
        f"ERROR: --sm120-root=nowhere means the folder {folder}, which is not there. {ROOT_RULE}"
    )


def test_file_as_root_in_the_settings_ends_the_run(project, run):
    project.makeini("[pytest]\nsm120_root = kernels/scratch.py")
    folder = project.path / "kernels" / "scratch.py"
    assert refused(run("-q")) == (
        f"ERROR: The setting sm120_root = kernels/scratch.py means the folder {folder}, which is a "
        f"file. {ROOT_RULE}"
    )


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ('"record"', "has the argument 'record'. {takes}"),
        ("tiers=['record']", "has the argument tiers. {takes}"),
        ("tier='fast'", NO_TIER.format(seen="'fast'")),
        ("tier=5", NO_TIER.format(seen="5")),
        ("tier=[]", NO_TIER.format(seen="nothing")),
        ("arch='sm_999'", f"asks for an arch, but {NO_ARCH}"),
    ],
)
def test_wrong_marker_is_an_error_that_names_the_test(project, run, marker, message):
    project.makepyfile(f"import pytest\n@pytest.mark.sm120({marker})\n{USES_IT}")
    result = run()
    result.assert_outcomes(errors=1)
    takes = (
        "It takes tier=, arch= and expected=, by name. "
        'Write e.g. @pytest.mark.sm120(tier="record", arch="sm_121").'
    )
    file = "test_wrong_marker_is_an_error_that_names_the_test.py"
    whole = f"The marker sm120 of {file}::test_it {message.format(takes=takes)}"
    assert whole in result.outlines
    assert "plugin/" not in result.stdout.str().replace("sm120-plugin", "")


def test_wrong_marker_of_a_test_case_is_an_error_at_setup(project, run):
    project.makepyfile(
        test_case="""
        import unittest, pytest

        @pytest.mark.sm120(tier="fast")
        class ScratchTest(unittest.TestCase):
            def test_it(self): pass
        """
    )
    result = run()
    result.assert_outcomes(errors=1)
    whole = "The marker sm120 of test_case.py::ScratchTest::test_it " + NO_TIER.format(
        seen="'fast'"
    )
    assert whole in result.outlines


def test_wrong_sm120_provide_is_an_error_that_says_what_it_returned(project, run):
    project.makeconftest(
        """
        import pytest

        @pytest.fixture
        def sm120_provide():
            return None
        """
    )
    project.makepyfile("def test_it(sm120): sm120.load('kernels/scratch.py')")
    result = run()
    result.assert_outcomes(failed=1)
    assert (
        "E   pytest_sm120.errors.UsageError: The fixture sm120_provide of this folder returned "
        "None. It returns a dict of dotted names and the objects that targets get for them. Return "
        "a dict, {} for nothing." in result.outlines
    )
