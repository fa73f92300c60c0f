"""Where paths start, and which settings reach targets and contracts."""

from __future__ import annotations

import pytest

LOADS = "def test_it(sm120): assert sm120.load('scratch.py').scratch\n"


def test_root_of_the_command_line_is_relative_to_where_pytest_was_started(
    project, run, monkeypatch
):
    project.makeini("[pytest]\nsm120_root = elsewhere")
    test = project.makepyfile(LOADS)
    monkeypatch.chdir(project.path / "kernels")
    run("--sm120-root=.", str(test)).assert_outcomes(passed=1)


def test_root_of_the_settings_is_relative_to_their_file(project, run, monkeypatch):
    project.makeini("[pytest]\nsm120_root = kernels")
    folder = project.mkdir("deep")
    (folder / "test_deep.py").write_text(LOADS, encoding="utf-8")
    monkeypatch.chdir(folder)
    run("test_deep.py").assert_outcomes(passed=1)


def test_root_is_the_rootdir_when_nobody_names_one(project, run):
    project.makepyfile(LOADS.replace("scratch.py", "kernels/scratch.py"))
    run().assert_outcomes(passed=1)


def test_sm120_real_gives_targets_the_installed_package(project, run):
    project.makeini("[pytest]\nsm120_real = thirdparty")
    project.makepyfile(thirdparty="VALUE = 7")
    (project.path / "kernels" / "user.py").write_text("import thirdparty\n", encoding="utf-8")
    project.makepyfile(
        test_real="""
        def test_it(sm120):
            module = sm120.load("kernels/user.py")
            assert module.thirdparty.VALUE == 7
            assert module.__sm120_imports__["thirdparty"] == "real"
        """
    )
    project.syspathinsert()
    run("test_real.py").assert_outcomes(passed=1)


def test_sm120_versions_reach_the_message_of_a_contract(project, run):
    project.makeini("[pytest]\nsm120_versions =\n    reader-lib==0.6.18\n    other==1.0")
    project.makepyfile(
        """
        from pytest_sm120 import Scratch

        def test_it(sm120):
            module = sm120.load("kernels/scratch.py")
            sm120.check(
                Scratch(key="_buffers['{device}']", init=("full", 3), dtype="uint8",
                        shape=lambda count: (count,), consumer="reader-lib<=0.6.17"),
                drive=module.scratch,
            )
        """
    )
    result = run()
    result.assert_outcomes(failed=1)
    assert (
        "latent: reader-lib 0.6.18 is in force (sm120_versions), which is outside <=0.6.17"
        in result.stdout.str()
    )


def test_sm120_provide_of_the_nearest_folder_is_merged_under_provide(project, run):
    for name in ("one", "two"):
        folder = project.mkdir(name)
        (folder / "conftest.py").write_text(
            f"""
import pytest

@pytest.fixture
def sm120_provide(sm120):
    held = sm120.registry()
    held["name"] = "{name}"
    return {{"paged.runtime.resources": held}}
""",
            encoding="utf-8",
        )
        (folder / f"test_{name}.py").write_text(
            f"""
def test_folder(sm120):
    assert sm120.load("kernels/scratch.py").resources["name"] == "{name}"

def test_call_wins(sm120):
    module = sm120.load("kernels/scratch.py", provide={{"paged.runtime.resources": 5}})
    assert module.resources == 5
""",
            encoding="utf-8",
        )
    run().assert_outcomes(passed=4)


@pytest.mark.parametrize("scope", ["function", "class", "module", "session"])
def test_sm120_provide_can_have_any_scope(project, run, scope):
    project.makeconftest(
        f"""
        import pytest

        @pytest.fixture(scope="{scope}")
        def sm120_provide():
            yield {{"paged.runtime.resources": "shared"}}
            print("CLOSED")
        """
    )
    project.makepyfile(
        """
        import pytest

        @pytest.fixture
        def module(sm120):
            return sm120.load("kernels/scratch.py")

        class TestBoth:
            def test_one(self, module):
                assert module.resources == "shared"

            def test_two(self, sm120, module):
                assert sm120.load("kernels/questioning.py") and module.resources == "shared"
        """
    )
    result = run("-s")
    result.assert_outcomes(passed=2)
    assert result.stdout.str().count("CLOSED") == (2 if scope == "function" else 1)
