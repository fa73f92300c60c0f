"""Random tensors of all layouts, as Python expressions that torch and its stand-in evaluate."""

from __future__ import annotations

from math import prod

from hypothesis import strategies as st

DTYPES = (
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64"
    " float8_e4m3fn float8_e5m2 complex64 uint16"
).split()
#: Drawn more often: what host code around kernels uses.
USUAL = ("int32", "int64", "float32", "bfloat16", "uint8", "bool")

Draw = st.DrawFn
Shape = tuple[int, ...]

SIZES = st.sampled_from([0, 1, 1, 2, 3, 4, 6])


def shapes(largest_rank: int = 4) -> st.SearchStrategy[Shape]:
    """Shapes of few elements, empty ones and single dimensions included."""
    return st.lists(SIZES, max_size=largest_rank).map(tuple)


def dtypes() -> st.SearchStrategy[str]:
    """Names of dtypes."""
    return st.sampled_from(USUAL) | st.sampled_from(DTYPES)


class Input:
    """A tensor to start from: its expression and what strategies need to know of it."""

    def __init__(self, base: str, layout: str, shape: Shape, dtype: str) -> None:
        #: Evaluates to the tensor whose storage ``t`` lies in.
        self.base = base
        #: Evaluates, with the base as ``b``, to ``t``.
        self.layout = layout
        self.shape = shape
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"b = {self.base}; t = {self.layout}"


def dense(shape: Shape, dtype: str, low: int = -2) -> str:
    """Return the expression of a row-major tensor that counts up from a number."""
    start = 0 if dtype.startswith("u") else low
    counted = f"torch.arange({start}, {start + prod(shape)}, dtype=torch.int64, device=device)"
    return f"{counted}.reshape({shape}).to(torch.{dtype})"


@st.composite
def tensors(draw: Draw, largest_rank: int = 4) -> Input:
    """Dense, transposed, sliced, stepped, padded, expanded and offset tensors."""
    shape, dtype = draw(shapes(largest_rank)), draw(dtypes())
    rank = len(shape)
    kind = draw(st.sampled_from(["dense", "dense", "transposed", "padded", "stepped", "expanded"]))
    if kind == "transposed" and rank > 1:
        order = draw(st.permutations(range(rank)))
        base = tuple(shape[order.index(place)] for place in range(rank))
        return Input(dense(base, dtype), f"b.permute({tuple(order)})", shape, dtype)
    if kind == "padded" and rank:
        ends = tuple(draw(st.integers(0, 2)) for _ in shape)
        base = tuple(size + end + 1 for size, end in zip(shape, ends, strict=True))
        kept = ", ".join(f"1:{size + 1}" for size in shape)
        return Input(dense(base, dtype), f"b[{kept}]", shape, dtype)
    if kind == "stepped" and rank:
        base = (*shape[:-1], shape[-1] * 2)
        return Input(dense(base, dtype), "b[..., ::2]", shape, dtype)
    if kind == "expanded" and rank:
        place = draw(st.integers(0, rank - 1))
        base = (*shape[:place], 1, *shape[place + 1 :])
        return Input(dense(base, dtype), f"b.expand({shape})", shape, dtype)
    return Input(dense(shape, dtype), "b", shape, dtype)
