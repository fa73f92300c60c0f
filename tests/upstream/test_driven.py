"""How much of upstream is driven: counted from the markers, checked against the real files."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.upstream.conftest import sources_or_skip
from tests.upstream.wheels import WHEELS

HERE = Path(__file__).parent


def markers():
    """Return (path, function) of every ``pytest.mark.drives`` in this folder."""
    found = set()
    for file in sorted(HERE.glob("**/test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.drives":
                found.add(tuple(ast.literal_eval(argument) for argument in node.args))
    return found


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
