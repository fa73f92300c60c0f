"""Compares loaded modules with their source, name by name, and lists every difference."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytest_sm120.errors import Sm120Error
from tests.benchmarks.corpora import Corpus
from tests.benchmarks.forked import for_each
from tests.benchmarks.loaded_files import is_ghost, make_fixture
from tests.benchmarks.module_names import Binding, bindings

#: The same modules are read each time.
SEED = 120


class Reading(NamedTuple):
    """What a comparison of one module with its source has found."""

    path: str
    #: Names that were compared, by the kind of the statement that binds them.
    compared: dict[str, int]
    differences: tuple[str, ...]


def read_modules(corpora: Sequence[Corpus], count: int, processes: int) -> bool:
    """Print what differs in so many random modules; return whether nothing does."""
    files = sorted((corpus.project, path) for corpus in corpora for path in corpus.paths)
    roots = {corpus.project: corpus.root for corpus in corpora}
    drawn = [
        (roots[project], path)
        for project, path in random.Random(SEED).sample(files, min(count, len(files)))
    ]
    print(f"\n{len(drawn)} modules, drawn with seed {SEED}, compared with their source:")
    readings = sorted(for_each(drawn, _read, _died, processes))
    for reading in readings:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(reading.compared.items()))
        print(f"  {reading.path}: {kinds}; {len(reading.differences)} differences")
        for difference in reading.differences:
            print(f"    {difference}")
    return not any(reading.differences for reading in readings)


def _died(item: tuple[Path, str], end: str) -> Reading:
    return Reading(item[1], {}, (end,))


def _read(item: tuple[Path, str]) -> Reading:
    root, path = item
    sm120 = make_fixture(root)
    try:
        module = sm120.load(path)
    except Sm120Error as error:
        return Reading(path, {}, (str(error.cause),))
    found = bindings(ast.parse((root / path).read_bytes()))
    counts: dict[str, int] = {}
    for binding in found:
        counts[binding.kind] = counts.get(binding.kind, 0) + 1
    return Reading(path, counts, tuple(compare(vars(module), found)))


def compare(held: dict[str, Any], found: Sequence[Binding]) -> Iterator[str]:
    """Yield what a module holds otherwise than its text says."""
    last = {binding.name: binding for binding in found}
    kinds: dict[str, set[str]] = {}
    for binding in found:
        kinds.setdefault(binding.name, set()).add(binding.kind)
    for name, binding in last.items():
        if "deletion" in kinds[name]:
            continue
        if name not in held:
            if binding.always:
                yield f"line {binding.line}: {name} is missing"
        elif kinds[name] == {"def"}:
            yield from _compare_function(held[name], binding, _nodes(found, name))
        elif kinds[name] == {"class"}:
            yield from _compare_class(held[name], binding)
        elif binding.kind == "assignment" and binding.always:
            yield from _compare_constant(held[name], binding)
    star = any(
        isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        for node in (binding.node for binding in found)
    )
    for name in held:
        if name not in last and not name.startswith("__") and not star:
            yield f"{name} is bound by no statement"


def _nodes(found: Sequence[Binding], name: str) -> list[ast.AST]:
    return [binding.node for binding in found if binding.name == name]


def _innermost(value: Any) -> Any:
    """Return the function that decorators, wrappers and kernels were put around."""
    for _ in range(20):
        inner = getattr(value, "__wrapped__", None) or getattr(value, "fn", None)
        inner = inner or getattr(value, "__func__", None)
        if inner is None or is_ghost(inner):
            break
        value = inner
    return value


def _compare_function(value: Any, binding: Binding, nodes: Sequence[ast.AST]) -> Iterator[str]:
    code = getattr(_innermost(value), "__code__", None)
    if code is None:
        yield f"line {binding.line}: def {binding.name} is a {type(value).__name__}"
        return
    starts = {
        min([node.lineno, *(each.lineno for each in node.decorator_list)]): node
        for node in nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    node = starts.get(code.co_firstlineno)
    if node is None:
        yield f"line {binding.line}: def {binding.name} has the code of {code.co_qualname}"
        return
    arguments = node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    if list(code.co_varnames[:count]) != names:
        yield f"line {binding.line}: def {binding.name} takes {code.co_varnames[:count]}"


def _compare_class(value: Any, binding: Binding) -> Iterator[str]:
    node = binding.node
    if not isinstance(value, type) or not isinstance(node, ast.ClassDef):
        yield f"line {binding.line}: class {binding.name} is a {type(value).__name__}"
        return
    named = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
    real = [base.__name__ for base in value.__mro__]
    for name in named:
        if name not in real and name not in ("Generic", "Protocol", "NamedTuple", "TypedDict"):
            yield f"line {binding.line}: class {binding.name} has no base {name}, but {real}"
    for method in node.body:
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = value.__dict__.get(method.name)
            if inside is None or is_ghost(inside):
                yield f"line {method.lineno}: {binding.name}.{method.name} is {inside!r}"


def _compare_constant(value: Any, binding: Binding) -> Iterator[str]:
    node = binding.node
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return
    if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name):
        return
    try:
        expected = ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError):
        return
    # A container may be filled by later statements of the module.
    if not isinstance(expected, (list, dict, set)) and value != expected:
        yield f"line {binding.line}: {binding.name} is {value!r}, the text says {expected!r}"
