"""Running a target, and what is told when that fails."""

from __future__ import annotations

import sys
import threading

import pytest

from pytest_sm120.arch import DEFAULT_ARCH
from pytest_sm120.errors import GhostValue, Sm120Error, TargetError, UsageError
from pytest_sm120.stand_ins.target_files import CompiledFiles
from pytest_sm120.tiers.record import RecordSession
from tests.stand_ins.bench import Bench

REMEDY = (
    "If the cause is a name that is not there, give it with provide= or load the sibling with "
    "real=; the traceback above is the target's own."
)


def test_module_has_what_python_gives_a_module(bench: Bench) -> None:
    bench.write("pkg/__init__.py", "")
    module = bench.load("here = __file__\n", "pkg/target.py")
    assert module.__name__ == "pkg.target"
    assert module.__package__ == "pkg"
    assert module.__spec__.name == "pkg.target"
    assert module.here == module.__file__ == str(bench.root / "pkg" / "target.py")
    assert sys.modules["pkg.target"] is module
    assert not hasattr(module, "__path__")


def test_package_has_a_path(bench: Bench) -> None:
    module = bench.load("", "pkg/__init__.py")
    assert module.__path__ == [str(bench.root / "pkg")]


def test_parents_are_bound_while_the_target_is(bench: Bench) -> None:
    bench.load("", "a/b/target.py")
    assert repr(sys.modules["a.b"]) == "<ghost a.b>"
    bench.close()
    assert "a" not in sys.modules and "a.b" not in sys.modules


def test_assumptions_belong_to_one_load(bench: Bench) -> None:
    first = bench.load("import lib\nbool(lib.a)\n", "first.py")
    second = bench.load("import lib\nbool(lib.b)\n", "second.py")
    assert [entry.question for entry in first.__sm120_assumptions__] == ["bool(lib.a)"]
    assert [entry.question for entry in second.__sm120_assumptions__] == ["bool(lib.b)"]


def test_exception_at_import_is_told_with_its_line_and_its_own_traceback(bench: Bench) -> None:
    with pytest.raises(TargetError) as raised:
        bench.load("import lib\n\ndef f():\n    return {}['key']\nf()\n")
    assert str(raised.value) == (
        "target.py:4: importing target raised KeyError: 'key'. No answer had been assumed until "
        f"then. {REMEDY}"
    )
    cause = raised.value.__cause__
    assert isinstance(cause, KeyError) and cause.__traceback__ is not None


def test_assumptions_made_before_an_exception_are_told(bench: Bench) -> None:
    with pytest.raises(TargetError) as raised:
        bench.load("import lib\nif lib.a or lib.b == 3: pass\nraise ValueError('No.')\n")
    assert str(raised.value) == (
        "target.py:3: importing target raised ValueError: No. Until then these answers had been "
        "assumed: target.py:2: bool(lib.a) was taken as False; target.py:2: lib.b == 3 was taken "
        f"as False. {REMEDY}"
    )


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("assert not 1", "AssertionError"),
        ("import sys; sys.exit()", "SystemExit"),
    ],
)
def test_exit_and_bare_exception_at_import_are_told(
    bench: Bench, statement: str, what: str
) -> None:
    with pytest.raises(TargetError) as raised:
        bench.load(f"{statement}\n")
    assert str(raised.value) == (
        f"target.py:1: importing target raised {what}. No answer had been assumed until then. "
        f"{REMEDY}"
    )


def test_exception_in_a_real_sibling_is_told_as_its_own(bench: Bench) -> None:
    bench.write("sibling.py", "x = 1\nraise ValueError('why')\n")
    with pytest.raises(TargetError) as raised:
        bench.load("import sibling\n", real=["sibling"])
    assert str(raised.value) == (
        "sibling.py:2: importing sibling raised ValueError: why. No answer had been assumed until "
        f"then. {REMEDY}"
    )


def test_missing_real_sibling_is_refused(bench: Bench) -> None:
    with pytest.raises(UsageError) as raised:
        bench.load("", real=["pkg.absent"])
    assert str(raised.value) == (
        f"real= names 'pkg.absent', but there is no such module below {bench.root}. A real sibling "
        "is a file of the same source tree as the target. Correct the dotted name, or leave it out "
        "and provide= what is needed of it."
    )


def test_target_can_be_loaded_again_after_it_failed(bench: Bench) -> None:
    with pytest.raises(TargetError):
        bench.load("x = 1\nraise ValueError\n")
    assert bench.loader.targets == ()
    assert bench.load("x = 2\n").x == 2


FAILURES = {
    "missing file": lambda bench: bench.load(None, "absent.py"),
    "folder": lambda bench: bench.load(None, "."),
    "syntax error": lambda bench: bench.load("if\n"),
    "exception": lambda bench: bench.load("import torch, lib\nraise ValueError\n"),
    "exit": lambda bench: bench.load("import triton\nraise SystemExit\n"),
    "unused key": lambda bench: bench.load("", provide={"zzz": 1}),
    "missing sibling": lambda bench: bench.load("", real=["zzz"]),
    "not in a module": lambda bench: bench.load("import datetime", provide={"datetime.a.b": 1}),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_failed_load_leaves_nothing_behind(bench: Bench, failure: str) -> None:
    before = dict(sys.modules), list(sys.meta_path), list(sys.path)
    with pytest.raises(Sm120Error):
        FAILURES[failure](bench)
    bench.close()
    assert (dict(sys.modules), list(sys.meta_path), list(sys.path)) == before


def test_interrupt_at_import_leaves_nothing_behind(bench: Bench) -> None:
    before = dict(sys.modules)
    with pytest.raises(KeyboardInterrupt):
        bench.load("import torch\nraise KeyboardInterrupt\n")
    bench.close()
    assert dict(sys.modules) == before
    assert not bench.execution.importing


def test_assumption_is_still_an_error_in_a_thread_at_run_time(bench: Bench) -> None:
    module = bench.load("import lib\ndef run(): return bool(lib.a)\n")
    raised: list[BaseException] = []

    def call() -> None:
        try:
            module.run()
        except GhostValue as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert len(raised) == 1


def test_remedy_names_the_global_that_holds_the_ghost(bench: Bench) -> None:
    module = bench.load("import lib\nbackend = lib.get()\ndef run(): return backend == 'a'\n")
    with pytest.raises(GhostValue, match=r"or set backend on the loaded module\.$"):
        module.run()
    module.backend = "a"
    assert module.run()


def test_load_in_another_thread_than_the_test_is_refused(bench: Bench) -> None:
    bench.write("target.py", "x = 1\n")
    session = RecordSession(
        root=bench.root,
        arch=DEFAULT_ARCH,
        real_packages=(),
        files=CompiledFiles(),
        thread=threading.get_ident(),
    )
    refused: list[str] = []

    def load() -> None:
        try:
            session.load("target.py", provide={}, folder_provide={}, real=(), name=None)
        except UsageError as error:
            refused.append(str(error))

    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
    session.close()
    assert refused == [
        "sm120.load('target.py') was called from a second thread. The fixture belongs to the "
        "thread that runs the test, since a load changes sys.modules for the whole process. Load "
        "in the test itself, and hand the module to the threads."
    ]
