"""What one call in a kernel's text does to the memory behind its arguments."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

# The modules of Triton, by the names under which kernels import them. None of their functions but
# those listed below writes through an argument.
_LANGUAGE = frozenset({"tl", "triton", "language", "libdevice", "math", "gl", "ttgl", "gluon"})

# The parts of Gluon in which each function may be a copy into global memory.
_OF_ONE_VENDOR = frozenset({"nvidia", "amd"})

# Triton 3.9.0 also has atomic_load and atomic_poll, which only read.
_ACCUMULATES = frozenset(
    """
    atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas
    """.split()
)
_WRITES = frozenset({"store", "scatter", "atomic_store", "store_tensor_descriptor"})
# Their results are values, never pointers into an argument.
_READS = frozenset({"load", "load_tensor_descriptor", "buffer_load", "atomic_load", "atomic_poll"})

# What is done with their arguments stands in another text.
_HAND_ON = frozenset({"inline_asm_elementwise", "map_elementwise", "warp_specialize"})

# The methods of a tensor in Triton 3.9.0 that compute a value.
_COMPUTING = frozenset(
    """
    abs advance argmax argmin associative_scan broadcast_to cast cdiv ceil cos cumprod cumsum erf
    exp exp2 expand_dims flip floor gather histogram item log log2 logical_and logical_or max min
    permute ravel reduce reduce_or reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn sum to
    trans view xor_sum
    """.split()
)


class Touch(NamedTuple):
    """What a call does, as parts of the text."""

    #: Expressions that reach the address of a write.
    written: Sequence[ast.expr] = ()
    #: Expressions that reach the address of an atomic that depends on what it finds.
    accumulated: Sequence[ast.expr] = ()
    #: Expressions that the result may be derived from.
    returned: Sequence[ast.expr] = ()


def touch_of_language(call: ast.Call, local: frozenset[str]) -> Touch | None:
    """Return what a call of a function of Triton does, None for any other call."""
    names = _dotted(call.func)
    if len(names) < 2 or names[0] in local or names[0] not in _LANGUAGE:
        return None
    known = _touch_by_name(names[-1], _addresses(call))
    if known is not None:
        return known
    if names[-1] in _HAND_ON or _OF_ONE_VENDOR.intersection(names):
        return touch_of_unknown(call)
    return Touch(returned=_given(call))


def touch_of_method(call: ast.Call, local: frozenset[str]) -> Touch | None:
    """Return what a call of a value's method does, None for any other call."""
    if not isinstance(call.func, ast.Attribute):
        return None
    names = _dotted(call.func)
    if names and names[0] not in local:
        return None
    value = call.func.value
    known = _touch_by_name(call.func.attr, [value])
    if known is not None:
        return known
    parts = [value, *_given(call)]
    return Touch((() if call.func.attr in _COMPUTING else parts), (), parts)


def touch_of_unknown(call: ast.Call) -> Touch:
    """Return what a call of a function may do whose text is not at hand: write through it all."""
    if isinstance(call.func, ast.Name):
        known = _touch_by_name(call.func.id, _addresses(call))
        if known is not None:
            return known
    return Touch(_given(call), (), _given(call))


def _touch_by_name(name: str, addresses: Sequence[ast.expr]) -> Touch | None:
    if name in _READS:
        return Touch()
    if name in _ACCUMULATES:
        return Touch(addresses, addresses)
    return Touch(addresses) if name in _WRITES else None


def _addresses(call: ast.Call) -> list[ast.expr]:
    named = [each.value for each in call.keywords if each.arg in ("pointer", "desc")]
    return [*call.args[:1], *named]


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _dotted(callee: ast.expr) -> list[str]:
    """Return the parts of ``a.b.c``, or nothing where it does not start with a name."""
    if isinstance(callee, ast.Attribute):
        names = _dotted(callee.value)
        return [*names, callee.attr] if names else []
    return [callee.id] if isinstance(callee, ast.Name) else []


def touch_of_builtin(call: ast.Call, names: Mapping[str, Any]) -> Touch | None:
    """Return what a call of one of Python's own functions does, None for any other call."""
    callee = call.func
    if isinstance(callee, ast.Name) and callee.id not in names and hasattr(builtins, callee.id):
        return Touch(returned=_given(call))
    return None


def find_called(callee: ast.expr, names: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Return the function that a kernel calls, where one stands there under that name."""
    root, *path = _dotted(callee) or [""]
    found = names.get(root)
    for name in path:
        found = vars(found).get(name) if isinstance(found, ModuleType) else None
    if isinstance(found, FunctionType) or getattr(type(found), "__sm120_kernel__", False):
        function: Callable[..., Any] = inspect.unwrap(found)  # type: ignore[arg-type]  # see above
        return function
    return None


def own_arguments(
    call: ast.Call, called: Callable[..., Any]
) -> Mapping[str, Sequence[ast.expr]] | None:
    """Return what a call gives to each parameter; None where that cannot be told from the text."""
    if any(isinstance(part, ast.Starred) for part in call.args):
        return None
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    try:
        # A keyword of None stands for **arguments; binding refuses it.
        bound = inspect.signature(called).bind(*call.args, **named)  # type: ignore[arg-type]  # see above
    except TypeError:
        return None
    given: defaultdict[str, Sequence[ast.expr]] = defaultdict(tuple)
    for name, value in bound.arguments.items():
        given[name] = value if isinstance(value, tuple) else [value]
    return given
