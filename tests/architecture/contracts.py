"""The import contracts of pyproject.toml, judged on a package in any folder."""

from __future__ import annotations

import graphlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import cast

# In a process of its own: import-linter finds the package as an import would, and in this process
# pytest has imported the installed one already.
_JUDGE = """
import contextlib, io, json, sys
from importlinter import api
from importlinter.application import use_cases
reports = {}
for contract in api.read_configuration(sys.argv[1])["contracts_options"]:
    with contextlib.redirect_stdout(io.StringIO()) as report:
        kept = use_cases.lint_imports(
            sys.argv[1], limit_to_contracts=(contract["id"],), cache_dir=None
        )
    if not kept:
        # Without import-linter's banner; a setting that it refuses is told without that heading.
        reports[contract["id"]] = report.getvalue().rpartition("Broken contracts")[2]
print(json.dumps(reports))
"""
_READ_IMPORTS = """
import json, grimp
graph = grimp.build_graph("pytest_sm120", cache_dir=None)
print(json.dumps({
    module: sorted(graph.find_modules_directly_imported_by(module)) for module in graph.modules
}))
"""


def broken_contracts(folder: Path, pyproject: Path) -> dict[str, str]:
    """The report on each contract that ``folder/pytest_sm120`` breaks, by the contract's id."""
    return cast("dict[str, str]", json.loads(_run_in(folder, _JUDGE, str(pyproject))))


def module_cycle(folder: Path) -> list[str]:
    """The modules of one import cycle in ``folder/pytest_sm120``, or an empty list.

    Imports inside functions and under TYPE_CHECKING count, and so does a package that imports a
    module which imports the package: acyclic_siblings compares siblings only.
    """
    imports = json.loads(_run_in(folder, _READ_IMPORTS))
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        return cast("list[str]", error.args[1])
    return []


def _run_in(folder: Path, code: str, *arguments: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        raise RuntimeError(f"{finished.stdout}\n{finished.stderr}")
    return finished.stdout
