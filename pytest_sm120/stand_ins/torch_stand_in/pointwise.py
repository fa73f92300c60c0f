"""Elementwise operations: the table of them, and the rules for dtype, shape and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in import arithmetic
from pytest_sm120.stand_ins.torch_stand_in.operands import (
    check_operand,
    common_device,
    common_shape,
    compute_elements,
    strides_of_result,
)
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, Operation, computing
from pytest_sm120.stand_ins.torch_stand_in.promotion import result_type
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.tensors.dtypes import DTYPES, DType


@dataclass(frozen=True, eq=False)
class Rule:
    """One elementwise operation."""

    name: str
    #: Computes one element; None where values are not followed.
    function: Callable[..., Any] | None
    #: ``"keep"``: the operands' common dtype; ``"float"``: that, or the default dtype for integers;
    #: ``"bool"``: bool; ``"compare"`` and ``"logic"``: bool, in place the tensor's own dtype.
    kind: str
    #: Kinds of dtypes that torch refuses, e.g. ``"bool"`` or ``"float complex"``.
    refused: str = ""
    #: The words of the refusal; ``{0}`` stands for the dtype's name.
    refusal: str = ""
    in_place: bool = True


_NOT_IMPLEMENTED = "\"{name}\" not implemented for '{{0}}'"
_NEGATION = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)
_SUBTRACTION = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead."
)


def _bitwise(name: str) -> str:
    return _NOT_IMPLEMENTED.format(name=name)


UNARY = (
    Rule("abs", abs, "keep"),
    Rule("neg", arithmetic.negative, "keep", "bool", _NEGATION),
    Rule("sign", arithmetic.sign, "keep"),
    Rule("floor", arithmetic.floor, "keep"),
    Rule("ceil", arithmetic.ceil, "keep"),
    Rule("trunc", arithmetic.trunc, "keep"),
    Rule("relu", arithmetic.relu, "keep", "bool", "Boolean inputs not supported for relu"),
    Rule("bitwise_not", arithmetic.invert, "keep", "float complex", _bitwise("bitwise_not_cpu")),
    Rule("square", arithmetic.square, "keep"),
    *(Rule(name, arithmetic.FLOAT_FUNCTIONS[name], "float") for name in arithmetic.FLOAT_FUNCTIONS),
    Rule("isnan", arithmetic.isnan, "bool", in_place=False),
    Rule("isinf", arithmetic.isinf, "bool", in_place=False),
    Rule("isfinite", arithmetic.isfinite, "bool", in_place=False),
    Rule("logical_not", arithmetic.logical_not, "logic"),
)

BINARY = (
    Rule("mul", arithmetic.mul, "keep"),
    Rule("maximum", arithmetic.maximum, "keep", in_place=False),
    Rule("minimum", arithmetic.minimum, "keep", in_place=False),
    Rule("fmax", arithmetic.fmax, "keep", in_place=False),
    Rule("fmin", arithmetic.fmin, "keep", in_place=False),
    Rule("remainder", arithmetic.remainder, "keep"),
    Rule("fmod", arithmetic.fmod, "keep"),
    Rule("floor_divide", arithmetic.floor_divide, "keep"),
    Rule("pow", arithmetic.power, "keep"),
    Rule("bitwise_and", arithmetic.and_, "keep", "float complex", _bitwise("bitwise_and_cpu")),
    Rule("bitwise_or", arithmetic.or_, "keep", "float complex", _bitwise("bitwise_or_cpu")),
    Rule("bitwise_xor", arithmetic.xor, "keep", "float complex", _bitwise("bitwise_xor_cpu")),
    Rule(
        "bitwise_left_shift", arithmetic.left_shift, "keep", "bool float complex",
        _bitwise("lshift_cpu"),
    ),
    Rule(
        "bitwise_right_shift", arithmetic.right_shift, "keep", "bool float complex",
        _bitwise("rshift_cpu"),
    ),
    Rule("atan2", arithmetic.atan2, "float"),
    Rule(
        "logaddexp", arithmetic.logaddexp, "keep", "bool uint int", _bitwise("logaddexp_cpu"),
        in_place=False,
    ),
    Rule("eq", arithmetic.eq, "compare"),
    Rule("ne", arithmetic.ne, "compare"),
    Rule("lt", arithmetic.lt, "compare"),
    Rule("le", arithmetic.le, "compare"),
    Rule("gt", arithmetic.gt, "compare"),
    Rule("ge", arithmetic.ge, "compare"),
    Rule("logical_and", arithmetic.logical_and, "logic"),
    Rule("logical_or", arithmetic.logical_or, "logic"),
    Rule("logical_xor", arithmetic.logical_xor, "logic"),
)  # fmt: skip

SCALED = (
    Rule("add", arithmetic.add, "keep"),
    Rule("sub", arithmetic.sub, "keep", "bool", _SUBTRACTION),
)


def apply_rule(rule: Rule, operands: tuple[Any, ...]) -> Computed:
    """Return the result of an elementwise operation."""
    for position, operand in enumerate(operands, 1):
        check_operand(rule.name, operand, position)
    source, device = common_device(operands)
    shape = common_shape(operands)
    common = result_type(operands, source._execution.default_dtype)
    _refuse(rule, common)
    dtype, compute_dtype = _dtypes(rule, common, source._execution.default_dtype)
    known = None
    if rule.function is not None:
        known = compute_elements(rule.function, operands, shape, compute_dtype, dtype)
    strides = strides_of_result(operands, shape)
    return Computed(source, shape, dtype, known, strides, device=device)


def _refuse(rule: Rule, common: DType) -> None:
    name = scalar_type_name(common)
    if common.kind in rule.refused.split():
        words = rule.refusal.format(name)
        error = NotImplementedError if "not implemented" in words else RuntimeError
        raise TypeError(words) if words.startswith("Boolean") else error(words)
    if common.name.startswith(("float8", "float4")) and rule.kind in ("keep", "float"):
        raise NotImplementedError(f"\"{rule.name}_cpu\" not implemented for '{name}'")


def _dtypes(rule: Rule, common: DType, default: DType) -> tuple[DType, DType | None]:
    if rule.kind in ("bool", "logic"):
        return DTYPES["bool"], None
    if rule.kind == "compare":
        return DTYPES["bool"], common
    if rule.kind == "float" and common.kind in ("bool", "int", "uint"):
        return default, default
    return common, common


def _unary(rule: Rule) -> Operation:
    def compute(input: Tensor) -> Computed:
        return apply_rule(rule, (input,))

    compute.__name__ = compute.__qualname__ = rule.name
    return computing(rule.name, compute, in_place=rule.in_place)


def _binary(rule: Rule) -> Operation:
    def compute(input: Any, other: Any) -> Computed:
        return apply_rule(rule, (input, other))

    compute.__name__ = compute.__qualname__ = rule.name
    return _with_in_place(rule, compute)


def _scaled(rule: Rule) -> Operation:
    def compute(input: Any, other: Any, *, alpha: Any = 1) -> Computed:
        scaled = Rule(rule.name, None, rule.kind, rule.refused, rule.refusal)
        return apply_rule(rule if alpha == 1 else scaled, (input, other))

    compute.__name__ = compute.__qualname__ = rule.name
    return computing(rule.name, compute, in_place=True)


def _with_in_place(rule: Rule, compute: Callable[..., Computed]) -> Operation:
    row = computing(rule.name, compute, in_place=rule.in_place)
    if rule.kind not in ("compare", "logic"):
        return row
    return Operation(rule.name, row.run, in_place=compute)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Computed:
    """Return the quotient, rounded down or towards zero when asked."""
    rules = {
        None: Rule("div", arithmetic.divide, "float"),
        "floor": Rule("div", arithmetic.floor_divide, "keep"),
        "trunc": Rule("div", arithmetic.truncate_divide, "keep"),
    }
    if rounding_mode not in rules:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    return apply_rule(rules[rounding_mode], (input, other))


_ALIASES = {
    "absolute": "abs", "negative": "neg", "multiply": "mul", "greater": "gt", "less": "lt",
    "greater_equal": "ge", "less_equal": "le", "not_equal": "ne", "subtract": "sub",
}  # fmt: skip

_ROWS = (
    *(_unary(rule) for rule in UNARY),
    *(_binary(rule) for rule in BINARY),
    *(_scaled(rule) for rule in SCALED),
    computing("div", div, in_place=True),
    computing("divide", div, in_place=True),
    computing("true_divide", div, in_place=True),
)
_BY_NAME = {row.name: row for row in _ROWS}

#: The rows of every operation in this module.
POINTWISE = (
    *_ROWS,
    *(
        Operation(alias, _BY_NAME[name].run, in_place=_BY_NAME[name].in_place)
        for alias, name in _ALIASES.items()
    ),
)
