"""Random Python expressions on a tensor ``t``, to be evaluated by torch and by its stand-in."""

from __future__ import annotations

from hypothesis import strategies as st

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]
WIDE_DTYPES = [*DTYPES, "float8_e4m3fn", "float8_e5m2", "complex64", "uint16"]

OPERATORS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "<=", "==", "!=", ">", ">="]

Draw = st.DrawFn
Shape = tuple[int, ...]


def shapes(largest_rank: int = 4) -> st.SearchStrategy[Shape]:
    """Shapes of few elements, empty ones and single dimensions included."""
    return st.lists(st.sampled_from([0, 1, 1, 2, 3, 4, 6]), max_size=largest_rank).map(tuple)


def dimension(rank: int) -> st.SearchStrategy[int]:
    """A dimension, now and then out of range."""
    return st.integers(-rank - 1, rank)


@st.composite
def keys(draw: Draw, shape: Shape) -> str:
    """What stands between square brackets: integers, slices, None, Ellipsis, lists, masks."""
    parts = []
    for _ in range(draw(st.integers(0, len(shape) + 1))):
        kind = draw(
            st.sampled_from(
                ["int", "slice", "slice", "slice", "None", "...", "list", "long", "mask"]
            )
        )
        parts.append(_key_part(draw, kind))
    return ", ".join(parts) if parts else "..."


def _key_part(draw: Draw, kind: str) -> str:
    small = st.integers(-4, 4)
    if kind == "int":
        return str(draw(small))
    if kind == "slice":
        bounds = [draw(st.none() | small) for _ in range(2)] + [draw(st.sampled_from([None, 1, 2]))]
        return ":".join("" if bound is None else str(bound) for bound in bounds)
    if kind == "list":
        return str(draw(st.lists(st.integers(-2, 2), min_size=1, max_size=3)))
    if kind == "long":
        rows = draw(st.integers(1, 2))
        return f"torch.tensor({[[draw(st.integers(-2, 1)) for _ in range(2)]] * rows})"
    if kind == "mask":
        return f"torch.tensor({draw(st.lists(st.booleans(), min_size=1, max_size=4))})"
    return kind


@st.composite
def views(draw: Draw, shape: Shape) -> str:
    """An expression that is a view, a copy or an error."""
    rank = len(shape)
    count = 1
    for size in shape:
        count *= size
    dim, other = draw(dimension(rank)), draw(dimension(rank))
    divisors = [size for size in range(1, 25) if count and count % size == 0] or [0, 1, 2]
    first = draw(st.sampled_from(divisors))
    order = draw(st.permutations(range(rank)))
    return draw(
        st.sampled_from(
            [
                f"t.permute({', '.join(map(str, order)) or '()'})",
                f"torch.permute(t, {tuple(order)})",
                f"t.transpose({dim}, {other})",
                "t.t()",
                "t.T" if rank == 2 else "t.mT",
                f"t.unsqueeze({dim})",
                "t.squeeze()",
                f"t.squeeze({dim})",
                f"t.movedim({dim}, {other})",
                f"t.view({first}, -1)",
                f"t.view(-1, {first})",
                "t.view(-1)",
                f"t.reshape({first}, -1)",
                f"t.reshape(-1, 1, {first})",
                f"t.view({tuple(shape)[::-1]})",
                f"t.flatten({dim}, {other})",
                f"t.unflatten({dim}, (-1, {draw(st.integers(1, 3))}))",
                f"t.narrow({dim}, {draw(st.integers(-2, 3))}, {draw(st.integers(-1, 3))})",
                f"t.select({dim}, {draw(st.integers(-3, 3))})",
                f"t.unbind({dim})",
                f"t.chunk({draw(st.integers(0, 4))}, {dim})",
                f"t.split({draw(st.integers(-1, 4))}, {dim})",
                f"t.split({draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))}, {dim})",
                f"t.expand({', '.join(map(str, _expanded(draw, shape)))})",
                f"t.expand_as(torch.empty({_expanded(draw, shape)}))",
                f"t.repeat({', '.join(map(str, draw(shapes(rank + 1))))})",
                f"t.repeat_interleave({draw(st.integers(0, 3))}, {dim})",
                f"t.unfold({dim}, {draw(st.integers(0, 3))}, {draw(st.integers(0, 2))})",
                "t.contiguous()",
                "t.clone()",
                "t.detach()",
                "torch.empty_like(t)",
                "torch.zeros_like(t)",
                f"t.new_zeros({draw(shapes())})",
                "t.ravel()",
                f"t.flip({dim})",
                f"t.index_select({dim}, {_index(draw)})",
                f"t[{draw(keys(shape))}]",
                f"t[{draw(keys(shape))}]",
                f"t.as_strided({_strided(draw)})",
                f"torch.stack([t, t], {dim})",
                f"torch.cat([t, t], {dim})",
                f"t.view(torch.{draw(st.sampled_from(DTYPES))})",
                f"t.to(torch.{draw(st.sampled_from(WIDE_DTYPES))})",
            ]
        )
    )


def _expanded(draw: Draw, shape: Shape) -> Shape:
    front = draw(st.lists(st.integers(0, 2), max_size=1))
    return (*front, *(draw(st.sampled_from([size, size, -1, 2])) for size in shape))


def _index(draw: Draw) -> str:
    rows = draw(st.lists(st.integers(0, 2)))
    return f"torch.tensor({rows}, dtype=torch.int64)"


def _strided(draw: Draw) -> str:
    rank = draw(st.integers(0, 3))
    sizes = tuple(draw(st.integers(0, 3)) for _ in range(rank))
    strides = tuple(draw(st.integers(0, 4)) for _ in range(rank))
    offset = draw(st.none() | st.integers(0, 3))
    return f"{sizes}, {strides}" + (f", {offset}" if offset is not None else "")


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
    "log",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sigmoid",
    "tanh",
    "sin",
    "cos",
    "isnan",
    "isinf",
    "isfinite",
    "logical_not",
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
    "pow",
]
REDUCTIONS = [
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
    "logsumexp",
    "cumsum",
]
IN_PLACE = [
    "add_",
    "sub_",
    "mul_",
    "div_",
    "clamp_",
    "fill_",
    "copy_",
    "masked_fill_",
    "zero_",
    "neg_",
    "exp_",
    "eq_",
]


@st.composite
def computations(draw: Draw, shape: Shape) -> str:
    """An expression that computes new elements, writes in place, or is an error."""
    rank = len(shape)
    dim = draw(dimension(rank))
    keep = draw(st.booleans())
    low, high = draw(st.sampled_from([0, 0.5, None])), draw(st.sampled_from([2, 1.5, None]))
    binary = draw(st.sampled_from(BINARY))
    operand = draw(operands(shape))
    reduction = draw(st.sampled_from(REDUCTIONS))
    in_place = draw(st.sampled_from(IN_PLACE))
    written = "" if in_place in ("zero_", "neg_", "exp_") else operand
    written = f"t.eq(t), {operand}" if in_place == "masked_fill_" else written
    named = f"dim={dim}, keepdim={keep}"
    return draw(
        st.sampled_from(
            [
                f"t.{draw(st.sampled_from(UNARY))}()",
                f"torch.{draw(st.sampled_from(UNARY))}(t)",
                f"t.{binary}({operand})",
                f"torch.{binary}(t, {operand})",
                f"t {draw(st.sampled_from(OPERATORS))} {operand}",
                f"{operand} {draw(st.sampled_from(['+', '-', '*', '/']))} t",
                f"t.{reduction}({f'dim={dim}' if reduction == 'cumsum' else named})",
                f"t.{reduction}()" if reduction not in ("cumsum", "logsumexp") else "t.sum()",
                f"t.sum(({dim}, {draw(dimension(rank))}), keepdim={keep})",
                f"t.sum({dim}, dtype=torch.{draw(st.sampled_from(DTYPES))})",
                f"t.{in_place}({written})",
                f"t.clamp(min={low}, max={high})",
                f"torch.where(t.eq(t), t, {operand})",
                f"torch.where(t > 1, {operand}, t)",
                f"t.masked_fill(t.eq(t), {operand})",
                f"t.sort({dim})",
                f"t.topk({draw(st.integers(0, 3))}, {dim})",
                f"t.softmax({dim})",
                f"torch.matmul(t, {operand})" if operand.startswith("torch") else "t @ t.mT",
                f"torch.diff(t, dim={dim})",
                f"t.gather({dim}, torch.zeros({draw(shapes(rank))}, dtype=torch.int64))",
                f"torch.result_type(t, {operand})",
            ]
        )
    )


@st.composite
def operands(draw: Draw, shape: Shape) -> str:
    """A number, the tensor in another form, or a tensor of another dtype."""
    dtype = draw(st.sampled_from(DTYPES))
    other = tuple(draw(st.sampled_from([size, size, 1, 2])) for size in shape)
    dropped = other[draw(st.integers(0, len(other))) :]
    return draw(
        st.sampled_from(
            ["2", "0.5", "-1", "True", "t", "t", f"torch.tensor(3, dtype=torch.{dtype})"]
            + [f"torch.ones({dropped}, dtype=torch.{dtype})"] * 3
        )
    )
