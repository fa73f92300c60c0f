"""After every test, however it ended, the process is what it was, by identity."""

from __future__ import annotations

import pytest

# Imported by the project's conftest.py: looks after each test and at the end of the run.
WATCH = """
import os, sys, types
import pytest

for name in ("torch", "triton", "kernels", "kernels.scratch", "paged"):
    sys.modules[name] = types.ModuleType(name)

def state():
    environment = dict(os.environ)
    environment.pop("PYTEST_CURRENT_TEST", None)
    return dict(sys.modules), list(sys.path), list(sys.meta_path), environment

def compare(before):
    modules, path, meta_path, environment = before
    now = state()
    changed = [name for name in modules if now[0].get(name) is not modules[name]]
    added = [name for name in now[0] if name not in modules and is_ours(name)]
    assert (changed, added) == ([], [])
    assert now[1] == path and now[3] == environment
    assert len(now[2]) == len(meta_path) and all(a is b for a, b in zip(now[2], meta_path))

def is_ours(name):
    root = name.partition(".")[0]
    return root in ("torch", "triton", "kernels", "paged", "scratch", "rude")

BEFORE = []

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    BEFORE[:] = [state()]
    result = yield
    compare(BEFORE[0])
    print("\\nCOMPARED", item.name)
    return result

@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    compare(BEFORE[0])
    print("COMPARED AT THE END")
"""

RUDE = """
import os, sys, types
os.environ["LEFT"] = "behind"
os.environ.pop("HOME", None)
sys.path.insert(0, "/left/behind")
sys.modules["left_behind"] = types.ModuleType("left_behind")
sys.modules["json"] = sys.modules["left_behind"]
from paged.inner import part
"""

ENDINGS = {
    "passing": "def test_it(module): module.scratch(4)",
    "failing": "def test_it(module): assert module.scratch(4) is None",
    "failing_load": "def test_it(sm120): sm120.load('kernels/missing.py')",
    "skipped": "def test_it(module): pytest.skip('in the middle')",
    "xfail": "@pytest.mark.xfail\ndef test_it(module): assert 0",
    "setup": "@pytest.fixture\ndef broken(module): raise OSError\ndef test_it(broken): pass",
    "teardown": (
        "@pytest.fixture\ndef broken(module):\n    yield\n    raise OSError\n"
        "def test_it(broken): pass"
    ),
    "rude": "def test_it(sm120): sm120.load('rude.py')",
    "source": "def test_it(sm120): sm120.source('kernels/scratch.py')",
}


@pytest.fixture
def watched(project):
    """The project with a conftest.py that compares, and a target that changes the process."""
    project.makeconftest(WATCH)
    (project.path / "rude.py").write_text(RUDE, encoding="utf-8")

    def write(test):
        project.makepyfile(
            test_ending="import pytest\n\n@pytest.fixture\ndef module(sm120):\n"
            f"    return sm120.load('kernels/scratch.py')\n\n{test}\n"
        )

    return write


@pytest.mark.parametrize("ending", ENDINGS)
def test_process_is_as_before_after_a_test_that_ends_by(watched, run_process, ending):
    watched(ENDINGS[ending])
    done = run_process("-m", "pytest", "-s", "-p", "sm120", "-p", "no:cacheprovider")
    assert "COMPARED test_it\n" in done.stdout, done.stdout + done.stderr
    assert "COMPARED AT THE END" in done.stdout
    assert "INTERNALERROR" not in done.stdout


def test_process_is_as_before_after_an_interrupt(watched, run_process):
    watched("def test_it(module): raise KeyboardInterrupt")
    done = run_process("-m", "pytest", "-s", "-p", "sm120", "-p", "no:cacheprovider")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "COMPARED AT THE END" in done.stdout, done.stdout + done.stderr


def test_rude_target_sees_its_own_changes_until_the_test_ends(watched, run_process):
    watched(
        "def test_it(sm120):\n    import os, sys\n    sm120.load('rude.py')\n"
        "    assert os.environ['LEFT'] == 'behind' and sys.path[0] == '/left/behind'\n"
    )
    done = run_process("-m", "pytest", "-s", "-p", "sm120", "-p", "no:cacheprovider")
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_watched_object_is_of_its_own_class_again_in_the_next_test(project, run):
    project.makepyfile(
        """
        class Holder: pass
        HOLDER = Holder()

        def test_one(sm120):
            assert sm120.watch(HOLDER) is HOLDER
            HOLDER.buffer = sm120.tensor((4,))

        def test_two(sm120):
            assert type(HOLDER) is Holder
            assert "__setattr__" not in vars(Holder)
            HOLDER.buffer = sm120.tensor((4,))
            assert sm120.recording.stores() == []
        """
    )
    run().assert_outcomes(passed=2)


def test_fixture_of_a_test_that_is_over_is_not_kept(project, run):
    project.makepyfile(
        """
        import gc
        import weakref

        KEPT = []

        def test_one(sm120):
            KEPT.append(weakref.ref(sm120))

        def test_two():
            gc.collect()
            assert KEPT[0]() is None
        """
    )
    run().assert_outcomes(passed=2)
