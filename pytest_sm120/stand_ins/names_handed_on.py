"""Which name of another module a module hands on, read from its text.

A project may import torch or Triton in one place and from there everywhere else. That one place is
a ghost for a target, but the kernels that the target decorates with what it hands on are real.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from pytest_sm120.stand_ins.import_statements import module_level, resolved_names

# The rest of an import statement. Looking for a name there is some hundred times as fast as parsing
# the file, and nearly every name that is asked for is defined rather than imported.
_IMPORTED = re.compile(rb"\bimport\b[ \t]*(?:\((?:#[^\n]*|[^)#])*\)|(?:\\\r?\n|[^\n])*)")


def find_origin(
    name: str, text: bytes, package: str, parse: Callable[[bytes], ast.Module]
) -> str | None:
    """Return the absolute dotted name that the text imports as ``name`` at module level, or None.

    ``import triton.language as tl`` makes it ``"triton.language"`` for ``"tl"``. ``package`` is
    where relative imports start. None, too, when ``parse`` finds that the text is not Python.
    """
    wanted = re.compile(rb"\b%s\b" % re.escape(name.encode()))
    if not any(wanted.search(statement) for statement in _IMPORTED.findall(text)):
        return None
    try:
        tree = parse(text)
    # MemoryError: what the parser raises for expressions that are nested too deeply.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    origins = (origin for bound, origin in _imports(tree, package) if bound == name)
    return next(origins, None)


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    """Yield what each import statement at module level binds, and which dotted name that means."""
    for statement in module_level(tree):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                root = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (root, root)
        elif isinstance(statement, ast.ImportFrom):
            for module in resolved_names(statement.module or "", package, statement.level):
                for alias in statement.names:
                    yield alias.asname or alias.name, f"{module}.{alias.name}"
