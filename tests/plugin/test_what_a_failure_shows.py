"""Tracebacks and sections of a failure as they print."""

from __future__ import annotations

import sys

import pytest

from tests.plugin.printed import BROKEN, section

CONTRACT_MESSAGE = """\
pytest_sm120.errors.ContractBroken: The contract for "_buffers['{device}']" is broken in 2 of 15 \
clauses.

1. initial value: scratch.py:17: scratch allocates "_buffers['cuda:0']" with torch.zeros, which \
sets each element to 0; the contract asks for 3 in every element. Rows that a launch skips keep \
that value, and who reads them expects another. Allocate with torch.full(..., 3).

2. growth initial value: scratch.py:17: scratch allocates "_buffers['cuda:0']" with torch.zeros, \
which sets each element to 0 when it grows to 8 bytes; the contract asks for 3 in every element. \
Rows that a launch skips keep that value, and who reads them expects another. Allocate with \
torch.full(..., 3).

Cost of the initial value: one memset of 4 bytes per (re)allocation, at size 4.
"""

RAISING = """
def test_it(sm120):
    sm120.load("kernels/raising.py")
"""


def test_failure_shows_what_was_recorded(project, run):
    project.makepyfile(
        """
        def test_it(sm120):
            sm120.load("kernels/scratch.py").scratch(4)
            assert False
        """
    )
    assert section(run(), "sm120: recorded") == [
        "scratch.py:17 scratch: torch.zeros -> uint8[4] on cuda:0, 4 bytes, kept as "
        "\"_buffers['cuda:0']\"",
        "scratch.py:19 scratch: launch _copy_kernel[4](out_ptr=uint8[4] on cuda:0, count=4, "
        "BLOCK=64)",
        "scratch.py:17 scratch: store uint8[4] on cuda:0 as \"_buffers['cuda:0']\"",
    ]


def test_failure_shows_what_was_assumed_at_import(project, run):
    project.makepyfile(
        """
        def test_it(sm120):
            sm120.load("kernels/questioning.py")
            assert False
        """
    )
    [assumed] = section(run(), "sm120: assumed at import")
    assert assumed == "questioning.py:3: paged.config.mode() == 'unheard of' was taken as False"


def test_failure_before_the_first_load_has_no_section(project, run):
    project.makepyfile("def test_it(sm120): assert sm120.registry()")
    result = run()
    result.assert_outcomes(failed=1)
    assert "sm120: recorded" not in result.stdout.str()


def test_error_in_setup_shows_what_was_recorded(project, run):
    project.makepyfile(
        """
        import pytest

        @pytest.fixture
        def scratch(sm120):
            sm120.load("kernels/scratch.py").scratch(4)
            raise OSError

        def test_it(scratch): pass
        """
    )
    assert len(section(run(), "sm120: recorded")) == 3


def test_passing_test_shows_no_section(project, run):
    project.makepyfile("def test_it(sm120): sm120.load('kernels/scratch.py').scratch(4)")
    assert "sm120: recorded" not in run("-rA").stdout.str()


def test_broken_contract_shows_its_whole_message_and_the_call(project, run):
    project.makepyfile(BROKEN)
    result = run()
    result.assert_outcomes(failed=1)
    shown = result.outlines[result.outlines.index("sm120 = <sm120: tier record, arch sm_120>") :]
    assert [line for line in shown if line.startswith(">")] == [">       sm120.check("]
    message = [line[8:] for line in shown if line.startswith("E")]
    assert message == CONTRACT_MESSAGE.splitlines()
    assert "test_broken_contract_shows_its_whole_message_and_the_call.py:5: ContractBroken" in shown
    assert "pytest_sm120/" not in result.stdout.str()


def test_traceback_of_a_target_that_raises_shows_only_lines_of_the_user(project, run):
    project.makepyfile(
        """
        def test_it(sm120):
            sm120.load("kernels/scratch.py").refuse(3)
        """
    )
    text = run().stdout.str()
    assert "kernels/scratch.py:23: ValueError" in text
    assert "pytest_sm120/" not in text


def test_traceback_of_a_failed_import_shows_the_target_and_none_of_our_lines(project, run):
    (project.path / "kernels" / "raising.py").write_text("x = 1\nx.nothing\n", encoding="utf-8")
    project.makepyfile(RAISING)
    text = run().stdout.str()
    assert "kernels/raising.py:2: AttributeError" in text
    assert "The above exception was the direct cause of the following exception" in text
    assert "raising.py:2: importing kernels.raising raised AttributeError: 'int' object has no" in (
        text
    )
    assert "pytest_sm120/" not in text


def test_target_that_is_not_python_shows_the_line_and_no_parser(project, run):
    (project.path / "kernels" / "raising.py").write_text("x = 1\ndef f(:\n", encoding="utf-8")
    project.makepyfile(RAISING)
    text = run().stdout.str()
    assert 'raising.py", line 2\n        def f(:\n' in text
    assert "raising.py:2: the file is not Python that this interpreter can compile" in text
    assert "pytest_sm120/" not in text and "ast.py" not in text


GROUP = """
def test_it(sm120):
    module = sm120.load("kernels/scratch.py")
    try:
        module.torch.zeros(1, dtype="unheard of")
    except Exception as error:
        raise ExceptionGroup("one", [error])
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="ExceptionGroup is new in Python 3.11")
def test_group_is_shown_with_what_it_holds(project, run):
    project.makepyfile(GROUP)
    result = run()
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "ExceptionGroup: one (1 sub-exception)" in text
    assert "TypeError: zeros(): argument 'dtype' must be torch.dtype, not str" in text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="ExceptionGroup is new in Python 3.11")
@pytest.mark.skipif(
    int(pytest.__version__.partition(".")[0]) < 9,
    reason="pytest 8 prints a group with Python's own formatter, which shows every frame",
)
def test_traceback_of_a_group_shows_only_lines_of_the_user(project, run):
    project.makepyfile(GROUP)
    assert "pytest_sm120/" not in run().stdout.str()


def test_debuggers_get_the_traceback_as_it_is(project, run):
    project.makeconftest(
        """
        def pytest_exception_interact(node, call, report):
            traceback = call.excinfo.value.__traceback__
            assert traceback is call.excinfo.tb
            files = []
            while traceback is not None:
                files.append(traceback.tb_frame.f_code.co_filename)
                traceback = traceback.tb_next
            print("DEEPEST", files[-1])
        """
    )
    project.makepyfile("def test_it(sm120): sm120.load('kernels/missing.py')")
    run("-s").stdout.fnmatch_lines(["*DEEPEST *pytest_sm120*target_files.py"])


def test_full_trace_shows_our_lines_too(project, run):
    (project.path / "kernels" / "raising.py").write_text("x = 1\nx.nothing\n", encoding="utf-8")
    project.makepyfile(RAISING)
    assert "pytest_sm120/stand_ins/loading.py" in run("--full-trace").stdout.str()


def test_broken_contract_is_not_followed_by_what_was_recorded(project, run):
    project.makepyfile(BROKEN)
    result = run()
    result.assert_outcomes(failed=1)
    assert "sm120: recorded" not in result.stdout.str()
