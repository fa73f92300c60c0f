"""How much of upstream is driven: counted from the markers, checked against the real files.

``python -m tests.upstream.test_driven`` prints the counts of each project.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.upstream.conftest import sources_or_skip
from tests.upstream.wheels import WHEELS

HERE = Path(__file__).parent


def markers():
    """Return (path, function) of every ``pytest.mark.drives`` in this folder."""
    found = set()
    for file in sorted(HERE.glob("**/test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        texts = text_constants(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.drives":
                found.add(tuple(text_of(argument, texts) for argument in node.args))
    return found


def text_constants(tree):
    return {
        ast.unparse(target): node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
    }


def text_of(argument, texts):
    return texts[argument.id] if isinstance(argument, ast.Name) else ast.literal_eval(argument)


def defined_functions(path):
    text = (sources_or_skip(WHEELS[path.partition("/")[0]]) / path).read_text(encoding="utf-8")
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            found |= {f"{node.name}.{method.name}" for method in methods}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
    return found


def test_every_driven_function_is_in_its_file():
    missing = [pair for pair in sorted(markers()) if pair[1] not in defined_functions(pair[0])]
    assert missing == []


def test_paths_that_have_a_name_are_counted():
    tree = ast.parse("A = B = 'x.py'\nC = f()")
    assert text_constants(tree) == {"A": "x.py", "B": "x.py"}
    arguments = [ast.parse(text, mode="eval").body for text in ("B", "'y.py'")]
    assert [text_of(part, text_constants(tree)) for part in arguments] == ["x.py", "y.py"]


def counts(found):
    """Return (functions, files) by project, and of all under ``"all"``."""
    functions = Counter(path.partition("/")[0] for path, _ in found)
    files = Counter(path.partition("/")[0] for path in {path for path, _ in found})
    by_project = {name: (functions[name], files[name]) for name in sorted(functions)}
    return {**by_project, "all": (functions.total(), files.total())}


def test_functions_and_files_are_counted_by_project():
    found = {("a/x.py", "f"), ("a/x.py", "g"), ("a/y.py", "f"), ("b/x.py", "f")}
    assert counts(found) == {"a": (3, 2), "b": (1, 1), "all": (4, 3)}


FLOORS = {"flashinfer": (47, 26), "sglang": (47, 28), "vllm": (37, 27), "all": (131, 81)}


@pytest.mark.parametrize("project", FLOORS)
def test_at_least_these_functions_and_files_are_driven(project):
    functions, files = counts(markers())[project]
    least_functions, least_files = FLOORS[project]
    assert functions >= least_functions and files >= least_files


if __name__ == "__main__":
    for project, (functions, files) in counts(markers()).items():
        print(f"{project}: {functions} functions of {files} files")
