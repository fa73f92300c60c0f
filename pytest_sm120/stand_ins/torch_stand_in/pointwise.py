"""Elementwise operations: the table of them, and the rules for dtype, shape and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in import arithmetic
from pytest_sm120.stand_ins.torch_stand_in.memory_formats import preserved_strides
from pytest_sm120.stand_ins.torch_stand_in.operands import (
    check_operand,
    common_device,
    common_shape,
    compute_elements,
    strides_of_layouts,
    strides_of_result,
)
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, Operation, computing
from pytest_sm120.stand_ins.torch_stand_in.promotion import result_type
from pytest_sm120.stand_ins.torch_stand_in.refusals import find_refusal
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.number_formats import component_of


@dataclass(frozen=True, eq=False)
class Rule:
    """One elementwise operation."""

    name: str
    #: Computes one element; None where values are not followed.
    function: Callable[..., Any] | None
    #: ``"keep"``: the operands' common dtype; ``"float"``: that, or the default dtype for integers;
    #: ``"bool"``: bool; ``"compare"`` and ``"logic"``: bool, in place the tensor's own dtype.
    kind: str
    #: Whether ``name_`` exists.
    in_place: bool = True
    #: Whether a Python number is refused as the second operand.
    tensors_only: bool = False


def _rules(kind: str, names: str, **options: bool) -> tuple[Rule, ...]:
    return tuple(Rule(name, arithmetic.FUNCTIONS[name], kind, **options) for name in names.split())


UNARY = (
    *_rules("keep", "abs neg sign floor ceil trunc relu bitwise_not"),
    *_rules("integer", "square"),
    *_rules(
        "float", "exp exp2 expm1 log log2 log1p sqrt rsqrt reciprocal sigmoid tanh sin cos erf"
    ),
    *_rules("bool", "isnan isinf isfinite", in_place=False),
    *_rules("logic", "logical_not"),
)

_ABS = UNARY[0]

BINARY = (
    *_rules("keep", "mul remainder fmod floor_divide bitwise_and bitwise_or bitwise_xor"),
    *_rules("keep", "bitwise_left_shift bitwise_right_shift"),
    *_rules("keep", "maximum minimum fmax fmin logaddexp", in_place=False, tensors_only=True),
    *_rules("float", "atan2", tensors_only=True),
    *_rules("compare", "eq ne lt le gt ge"),
    *_rules("logic", "logical_and logical_or logical_xor", tensors_only=True),
)

SCALED = _rules("keep", "add sub")


def apply_rule(rule: Rule, operands: tuple[Any, ...]) -> Computed:
    """Return the result of an elementwise operation."""
    for position, operand in enumerate(operands, 1):
        check_operand(rule.name, operand, position, rule.tensors_only)
    source, device = common_device(operands)
    if rule.name == "sub":
        _refuse_one_bool(operands)
    shape = common_shape(operands)
    common = result_type(operands, source._execution.default_dtype)
    refusal = _refuse(rule, operands, common)
    dtype, compute_dtype = _dtypes(rule, common, source._execution.default_dtype)
    known = None
    if rule.function is not None and refusal is None:
        known = compute_elements(rule.function, operands, shape, compute_dtype, dtype)
    # The exponent of a power is no operand of its kernel when it is a number.
    read = operands[:1] if rule.name == "pow" and _is_number(operands[1]) else operands
    strides = strides_of_result(read, shape)
    if rule.name in ("isfinite", "isinf") and common.kind == "complex":
        # torch asks the real parts, which lie two apart.
        apart = tuple(2 * step for step in source.stride())
        asked = strides_of_layouts([(shape, apart)], shape)
        strides = strides_of_layouts([(shape, asked)], shape)
    if _keeps_strides(rule, common):
        strides = preserved_strides(shape, source.stride())
    return Computed(source, shape, dtype, known, strides, device=device, refusal=refusal)


def _keeps_strides(rule: Rule, common: DType) -> bool:
    """Return whether torch computes no elements but makes a tensor like the operand."""
    if rule.name == "abs":
        return common.kind == "complex"
    return rule.name in ("isfinite", "isinf") and common.kind not in ("float", "complex")


def _refuse(rule: Rule, operands: tuple[Any, ...], common: DType) -> Exception | None:
    scalar = rule.name == "pow" and not isinstance(operands[1], Tensor)
    return find_refusal("pow_scalar" if scalar else rule.name, common)


def _refuse_one_bool(operands: tuple[Any, ...]) -> None:
    bools = [isinstance(value, bool) or _is_bool_tensor(value) for value in operands]
    if any(bools) and not all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def _is_number(value: Any) -> bool:
    return not isinstance(value, Tensor)


def _is_bool_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.kind == "bool"


def power(input: Any, exponent: Any) -> Computed:
    """Return the power; RuntimeError for a negative whole exponent of integers."""
    whole = isinstance(input, Tensor) and input.dtype.kind in ("bool", "int", "uint")
    if whole and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    result = apply_rule(Rule("pow", arithmetic.FUNCTIONS["pow"], "keep"), (input, exponent))
    if isinstance(exponent, (bool, int, float)) and exponent in (0, 1):
        # torch fills or copies, which it can for every dtype.
        return replace(result, refusal=None)
    return result if isinstance(input, Tensor) else replace(result, strides=None)


def _dtypes(rule: Rule, common: DType, default: DType) -> tuple[DType, DType | None]:
    if rule.kind in ("bool", "logic"):
        return DTYPES["bool"], None
    if rule.kind == "compare":
        return DTYPES["bool"], common
    if rule.name == "abs" and common.kind == "complex":
        return component_of(common), common
    if rule.kind == "integer" and common.kind == "bool":
        return DTYPES["int64"], DTYPES["int64"]
    if rule.kind == "float" and common.kind in ("bool", "int", "uint"):
        return default, default
    return common, common


def _unary(rule: Rule) -> Operation:
    def compute(input: Tensor) -> Computed:
        return apply_rule(rule, (input,))

    compute.__name__ = compute.__qualname__ = rule.name
    row = computing(rule.name, compute, in_place=rule.in_place)
    return row._replace(in_place=_real_abs) if rule.name == "abs" else row


def _real_abs(input: Tensor) -> Computed:
    if input.dtype.kind == "complex":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return apply_rule(_ABS, (input,))


def _binary(rule: Rule) -> Operation:
    def compute(input: Any, other: Any) -> Computed:
        return apply_rule(rule, (input, other))

    compute.__name__ = compute.__qualname__ = rule.name
    return _with_in_place(rule, compute)


def _scaled(rule: Rule) -> Operation:
    def compute(input: Any, other: Any, *, alpha: Any = 1) -> Computed:
        _refuse_scale(input, other, alpha)
        scaled = Rule(rule.name, None, rule.kind)
        return apply_rule(rule if alpha == 1 else scaled, (input, other))

    compute.__name__ = compute.__qualname__ = rule.name
    return computing(rule.name, compute, in_place=True)


def _refuse_scale(input: Any, other: Any, alpha: Any) -> None:
    kinds = [value.dtype.kind for value in (input, other) if isinstance(value, Tensor)]
    whole = not {"float", "complex"} & {*kinds}
    if whole and not isinstance(other, (float, complex)) and isinstance(alpha, (float, complex)):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )


def _with_in_place(rule: Rule, compute: Callable[..., Computed]) -> Operation:
    row = computing(rule.name, compute, in_place=rule.in_place)
    if rule.kind not in ("compare", "logic"):
        return row
    return Operation(rule.name, row.run, in_place=compute)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Computed:
    """Return the quotient, rounded down or towards zero when asked."""
    rules = {
        None: Rule("div", arithmetic.divide, "float"),
        "floor": Rule("div_floor", arithmetic.floor_divide, "keep"),
        "trunc": Rule("div_trunc", arithmetic.truncate_divide, "keep"),
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
    computing("pow", power, in_place=True),
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
