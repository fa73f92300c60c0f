"""Writes which dtypes each operation of torch refuses, as the stand-in's data file.

Usage: python tests/tables/write_torch_refusals.py \
    > pytest_sm120/stand_ins/torch_stand_in/refusals.txt

A line holds the operation, the dtype, the error's class and its first line, separated by tabs.
"""

from __future__ import annotations

import importlib
import sys
import warnings

DTYPES = [
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "complex32",
    "complex64",
    "complex128",
]

UNARY = [
    "abs",
    "neg",
    "sign",
    "floor",
    "ceil",
    "trunc",
    "relu",
    "bitwise_not",
    "square",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sigmoid",
    "tanh",
    "sin",
    "cos",
    "erf",
    "isnan",
    "isinf",
    "isfinite",
    "logical_not",
    "sum",
    "mean",
    "prod",
    "any",
    "all",
    "amax",
    "amin",
    "max",
    "min",
    "argmax",
    "argmin",
    "argsort",
    "sort",
    "diff",
]

BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "remainder",
    "fmod",
    "floor_divide",
    "pow",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "atan2",
    "logaddexp",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_xor",
    "mm",
]

# Called with other arguments than tensors of the dtype alone.
OTHERS = {
    "clamp": "t.clamp(min=0, max=1)",
    "clamp_min": "t.clamp(min=0)",
    "clamp_max": "t.clamp(max=1)",
    "pow_scalar": "t.pow(2)",
    "topk": "t.topk(1)",
    "gather": "t.gather(0, torch.zeros(1, 1, dtype=torch.int64))",
    "softmax": "t.softmax(0)",
    "softmax_last": "t.softmax(1)",
    "logsumexp": "t.logsumexp(0)",
    "cumsum": "t.cumsum(0, dtype=t.dtype)",
    "cumprod": "t.cumprod(0, dtype=t.dtype)",
    "max_along": "t.max(0)",
    "min_along": "t.min(0)",
    "masked_fill": "t.masked_fill(torch.zeros(2, 2, dtype=torch.bool), 0)",
    "where": "torch.where(torch.zeros(2, 2, dtype=torch.bool), t, t)",
    "index_select": "t[0].index_select(0, torch.zeros(1, dtype=torch.int64))",
    "getitem": "t[torch.zeros(1, dtype=torch.int64)]",
    "setitem": "t.__setitem__(torch.zeros(1, dtype=torch.int64), t[:1].clone())",
    "flip": "t.flip(0)",
    "matmul": "t @ t",
    "bmm": "torch.bmm(t[None], t[None])",
    "fill": "t.fill_(1)",
    "sum": "t.sum(dtype=t.dtype)",
    "prod": "t.prod(dtype=t.dtype)",
    "linear": "torch.nn.functional.linear(t, t)",
    "div_floor": "torch.div(t, t, rounding_mode='floor')",
    "div_trunc": "torch.div(t, t, rounding_mode='trunc')",
    "dot": "t[0] @ t[0]",
    "mv": "t @ t[0]",
    "searchsorted": "torch.searchsorted(t[0], t)",
    "arange": "torch.arange(5, dtype=t.dtype)",
    "index_fill": "t.index_fill(0, torch.zeros(1, dtype=torch.int64), 1)",
    "index_copy": "t.index_copy(0, torch.zeros(1, dtype=torch.int64), t[:1].clone())",
    "index_add": "t.index_add(0, torch.zeros(1, dtype=torch.int64), t[:1].clone())",
    "scatter": "t.scatter(0, torch.zeros(1, 1, dtype=torch.int64), 1)",
    "linspace": "torch.linspace(0, 5, 3, dtype=t.dtype)",
    "randint": "torch.randint(0, 2, (2,), dtype=t.dtype)",
    "equal": "torch.equal(t, t)",
    "nonzero": "t.nonzero()",
    "unique": "t.unique()",
    "masked_select": "t.masked_select(torch.ones(2, 2, dtype=torch.bool))",
    "rand": "torch.rand(2, dtype=t.dtype)",
    "randn": "torch.randn(2, dtype=t.dtype)",
}


def calls() -> dict[str, str]:
    """Return an expression for each operation, on a 2 x 2 tensor ``t``."""
    unary = {name: f"torch.{name}(t)" for name in UNARY}
    return unary | {name: f"torch.{name}(t, t)" for name in BINARY} | OTHERS


def main() -> None:
    """Print a line for each refusal."""
    torch = importlib.import_module("torch")
    warnings.simplefilter("ignore")
    for name, expression in calls().items():
        for dtype in DTYPES:
            tensor = torch.ones(2, 2, dtype=torch.float32).to(getattr(torch, dtype))
            try:
                eval(expression, {"torch": torch, "t": tensor})
            except (RuntimeError, TypeError, IndexError) as error:
                words = str(error).partition("\n")[0]
                sys.stdout.write(f"{name}\t{dtype}\t{type(error).__name__}\t{words}\n")


if __name__ == "__main__":
    main()
