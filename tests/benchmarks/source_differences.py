"""What a loaded module holds otherwise than its source says."""

from __future__ import annotations

import ast
import builtins
import importlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, get_origin

from tests.benchmarks.loaded_files import is_ghost
from tests.benchmarks.module_names import FLAG, Binding, bindings

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# What Python itself makes of these bases is another class, or none.
_REPLACED_BASES = ("Protocol", "NamedTuple", "TypedDict", "Generic")

# Expressions of these alone have the same value after the import as during it.
_PLAIN_NODES = (
    *(ast.Constant, ast.Name, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare),
    *(ast.IfExp, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)
_PLAIN_TYPES = (int, float, str, bytes, bool, tuple, type(None))


class Compared(NamedTuple):
    """A loaded module beside its text."""

    held: Mapping[str, Any]
    tree: ast.Module
    #: The lines of the module's own code that ran; those of its functions do not count.
    ran: set[int]
    #: The last statement that ran and bound it, by name.
    bound: dict[str, Binding]
    #: The names that nothing binds a second time, so that their value has not changed.
    once: set[str]


def beside(held: Mapping[str, Any], tree: ast.Module, ran: set[int]) -> Compared:
    """Put a module beside its text, given the lines of it that ran."""
    found = [binding for binding in bindings(tree) if has_run(binding.node, ran)]
    bound: dict[str, Binding] = {}
    for binding in found:
        if binding.kind == "deletion":
            bound.pop(binding.name, None)
        else:
            bound[binding.name] = binding
    again = _declared_global(tree)
    counts = Counter(binding.name for binding in found)
    once = {name for name in bound if counts[name] == 1 and name not in again}
    return Compared(held, tree, ran, bound, once)


def has_run(node: ast.AST, ran: set[int]) -> bool:
    """Return whether one of the statement's own lines ran."""
    return not ran.isdisjoint(_own_lines(node))


def _own_lines(node: ast.AST) -> range:
    """Return the lines of a statement without those of the blocks in it."""
    first = getattr(node, "lineno", 0)
    last = getattr(node, "end_lineno", None) or first
    if isinstance(node, SCOPES):
        first = min([first, *(decorator.lineno for decorator in node.decorator_list)])
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        last = max(getattr(node, "lineno", 0), body[0].lineno - 1)
    return range(first, last + 1)


def _declared_global(tree: ast.Module) -> set[str]:
    nodes = ast.walk(tree)
    return {name for node in nodes if isinstance(node, ast.Global) for name in node.names}


def differences(compared: Compared) -> Iterator[str]:
    """Yield what differs, each with its line."""
    yield from _skipped_statements(compared)
    yield from _names_from_nowhere(compared)
    for name, binding in compared.bound.items():
        where = f"line {binding.line}: {name}"
        if name not in compared.held:
            yield f"{where} was bound and is missing"
            continue
        value = compared.held[name]
        if isinstance(binding.node, _FUNCTIONS):
            yield from (f"{where} {what}" for what in _function_differs(value, binding.node))
        elif isinstance(binding.node, ast.ClassDef):
            found = _class_differs(value, binding.node, compared.held)
            yield from (f"{where} {what}" for what in found)
        elif isinstance(binding.node, (ast.Assign, ast.AnnAssign)):
            found = _value_differs(name, value, binding.node, compared)
            yield from (f"{where} {what}" for what in found)
        elif binding.kind == "import":
            yield from (f"{where} {what}" for what in _import_differs(name, value, binding.node))


def _skipped_statements(compared: Compared) -> Iterator[str]:
    for node in compared.tree.body:
        silent = isinstance(node, (ast.Global, ast.Pass)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )
        # The interpreter makes no line event of "try:" itself.
        if isinstance(node, ast.Try):
            node = node.body[0]
        if not silent and not has_run(node, compared.ran):
            yield f"line {node.lineno}: the statement did not run"


def _names_from_nowhere(compared: Compared) -> Iterator[str]:
    nodes = list(ast.walk(compared.tree))
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in nodes):
        return
    known = {*compared.bound, *_declared_global(compared.tree)}
    known |= {node.target.id for node in nodes if isinstance(node, ast.NamedExpr)}
    for name in compared.held:
        if name not in known and not (name.startswith("__") and name.endswith("__")):
            yield f"{name} is held and was bound by no statement that ran"


def _innermost(value: Any) -> Any:
    """Return the function that decorators, wrappers and kernels were put around."""
    for _ in range(20):
        inside = (getattr(value, key, None) for key in ("__wrapped__", "fn", "__func__", "fget"))
        inner = next((one for one in inside if one is not None and not is_ghost(one)), None)
        if inner is None:
            break
        value = inner
    return value


def _function_differs(value: Any, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    code = getattr(_innermost(value), "__code__", None)
    if not isinstance(code, CodeType):
        yield f"is a {type(value).__name__} without the function's code"
        return
    first = _own_lines(node)[0]
    if (code.co_name, code.co_firstlineno) != (node.name, first):
        yield f"has the code of {code.co_name}, line {code.co_firstlineno}"
    given = node.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [one.arg for one in (given.vararg, given.kwarg) if one is not None]
    if list(code.co_varnames[: len(names)]) != names:
        yield f"takes {code.co_varnames[: len(names)]}, the text says {names}"
    function = _innermost(value)
    if len(function.__defaults__ or ()) != len(given.defaults):
        yield f"has {len(function.__defaults__ or ())} defaults of {len(given.defaults)}"
    jitted = any(ast.unparse(one).startswith("triton.jit") for one in node.decorator_list)
    if jitted and not hasattr(type(value), "__sm120_kernel__"):
        yield f"is decorated with triton.jit, but is a {type(value).__name__}"


def _class_differs(value: Any, node: ast.ClassDef, held: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(value, type):
        yield f"is a {type(value).__name__}, no class"
        return
    for base in node.bases:
        if not _derives_from(value, base, held):
            yield f"does not derive from {ast.unparse(base)}, but from {value.__mro__[1:]}"
    if any(isinstance(one, ast.AnnAssign) for one in node.body) and value.__dict__.get("__slots__"):
        return
    defined = {one.name: one for one in node.body if isinstance(one, _FUNCTIONS)}
    for name, method in defined.items():
        mangled = f"_{node.name.lstrip('_')}{name}" if _is_private(name) else name
        inside = value.__dict__.get(mangled)
        if inside is None or is_ghost(inside):
            yield f"has no method {name}, but {inside!r}"
        elif isinstance(_innermost(inside), FunctionType) and not method.decorator_list:
            yield from (f"method {name} {what}" for what in _function_differs(inside, method))


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _derives_from(kind: type, base: ast.expr, held: Mapping[str, Any]) -> bool:
    try:
        wanted = eval(compile(ast.Expression(base), "<base>", "eval"), dict(held))
    except Exception:
        # What cannot be worked out after the import is not judged.
        return True
    wanted = get_origin(wanted) or wanted
    if isinstance(wanted, type):
        return wanted in kind.__mro__ or wanted.__name__ in _REPLACED_BASES
    if is_ghost(wanted):
        home = [ancestor.__name__ for ancestor in kind.__mro__]
        return repr(wanted).rstrip(">").rpartition(".")[2] in home or _drops_ghosts(kind)
    return getattr(wanted, "__name__", "") in _REPLACED_BASES or hasattr(wanted, "__mro_entries__")


def _drops_ghosts(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False)) or hasattr(kind, "__total__")


def _value_differs(
    name: str, value: Any, node: ast.Assign | ast.AnnAssign, compared: Compared
) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if node.value is None or not all(isinstance(target, ast.Name) for target in targets):
        return
    if is_ghost(value):
        if FLAG.fullmatch(name):
            yield f"reads like a flag and is {value!r}"
        roots = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
        if not any(_is_stood_in_for(compared.held.get(root)) for root in roots):
            yield f"is {value!r}, though nothing of {ast.unparse(node.value)} is a ghost"
    elif name in compared.once and _is_plain(node.value, compared):
        code = compile(ast.Expression(node.value), "<value>", "eval")
        wanted = eval(code, dict(compared.held))
        if type(wanted) is not type(value) or (wanted != value and wanted == wanted):
            yield f"is {value!r}, the text says {wanted!r}"


def _is_stood_in_for(value: object) -> bool:
    """Return whether a value may have led to a ghost: one itself, a stand-in, code of the file."""
    return is_ghost(value) or isinstance(value, (ModuleType, FunctionType, type)) or callable(value)


def _is_plain(expression: ast.expr, compared: Compared) -> bool:
    nodes = list(ast.walk(expression))
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    return all(isinstance(node, _PLAIN_NODES) for node in nodes) and all(
        hasattr(builtins, name)
        or (name in compared.once and type(compared.held.get(name)) in _PLAIN_TYPES)
        for name in names
    )


def _import_differs(name: str, value: object, node: ast.AST) -> Iterator[str]:
    """Yield how a name of the standard library is another object than everybody's."""
    if not isinstance(node, ast.ImportFrom) or node.level or node.module is None:
        return
    if node.module.partition(".")[0] not in sys.stdlib_module_names:
        return
    original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
    real = getattr(importlib.import_module(node.module), original, None)
    homes = (type(value).__module__, str(getattr(value, "__module__", "")))
    # A target gets some functions of importlib in our meaning.
    if value is not real and not any(home.startswith("pytest_sm120") for home in homes):
        yield f"is {value!r}, everybody else's is {real!r}"
