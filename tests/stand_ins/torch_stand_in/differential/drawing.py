"""Pieces of argument lists: dimensions, operands, sizes, keys."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import NamedTuple

from hypothesis import strategies as st

from .inputs import Draw, Input, dense, dtypes, shapes

MakeArguments = Callable[[Draw, Input], str]


class Arguments(NamedTuple):
    """How one operation is called besides its tensor."""

    #: For the tensor of the documentation's table, a float32 tensor of shape (2, 3).
    example: str
    #: Draws arguments, wrong ones now and then.
    draw: MakeArguments


NOTHING = Arguments("", lambda draw, given: "")


def always(text: str) -> Arguments:
    """Return arguments that never differ."""
    return Arguments(text, lambda draw, given: text)


def one_of(draw: Draw, *texts: str) -> str:
    """Draw one of the texts."""
    return draw(st.sampled_from(texts))


def flag(draw: Draw) -> bool:
    """Draw True or False."""
    return draw(st.booleans())


def dimension(draw: Draw, given: Input) -> int:
    """Draw a dimension; out of range once in a while."""
    rank = len(given.shape)
    if draw(st.integers(0, 9)) == 0 or not rank:
        return draw(st.sampled_from([-rank - 1, rank, 0]))
    return draw(st.integers(-rank, rank - 1))


def tensor(draw: Draw, shape: tuple[int, ...], dtype: str | None = None) -> str:
    """Draw a dense tensor of this shape."""
    return dense(shape, dtype or draw(dtypes()), draw(st.sampled_from([-2, 0, 1])))


def like(draw: Draw, given: Input) -> str:
    """Draw a tensor of the same shape."""
    return tensor(draw, given.shape)


def broadcast(draw: Draw, given: Input) -> str:
    """Draw a tensor that broadcasts with the input, seldom one that does not."""
    sizes = [draw(st.sampled_from([size, size, size, 1])) for size in given.shape]
    if draw(st.integers(0, 9)) == 0:
        sizes = [*sizes, 2]
    dropped = draw(st.sampled_from([0, 0, 1]))
    return tensor(draw, tuple(sizes[dropped:]))


def number(draw: Draw, *more: str) -> str:
    """Draw a Python number."""
    return one_of(draw, "2", "3", "0.5", "-1", "True", "0", *more)


def operand(draw: Draw, given: Input) -> str:
    """Draw a number, the tensor itself, or another tensor."""
    kind = draw(st.integers(0, 5))
    if kind < 2:
        return number(draw)
    if kind == 2:
        return "t"
    if kind == 3:
        return f"torch.tensor({number(draw)}, dtype=torch.{draw(dtypes())}, device=device)"
    return broadcast(draw, given)


def sizes(draw: Draw, largest_rank: int = 3) -> str:
    """Draw a shape."""
    return str(draw(shapes(largest_rank)))


def factors(draw: Draw, given: Input) -> tuple[int, ...]:
    """Draw a shape with as many elements as the input, seldom one with others or a -1."""
    count = prod(given.shape)
    kind = draw(st.integers(0, 6))
    if kind == 0:
        return draw(shapes(3))
    divisors = [size for size in range(1, 25) if count % size == 0]
    first = draw(st.sampled_from(divisors))
    if kind < 3 and count:
        return draw(st.sampled_from([(first, -1), (-1, first), (1, -1, first)]))
    if kind < 5:
        return (first, count // first)
    return draw(st.sampled_from([given.shape[::-1], (count,), given.shape, (*given.shape, 1)]))


def strided(draw: Draw) -> str:
    """Draw sizes, strides and now and then an offset."""
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(0, 3)) for _ in range(rank))
    strides = tuple(draw(st.integers(0, 4)) for _ in range(rank))
    offset = draw(st.none() | st.integers(0, 3))
    return f"{shape}, {strides}" + (f", {offset}" if offset is not None else "")


def indices(draw: Draw, shape: tuple[int, ...], end: int) -> str:
    """Draw a tensor of indices below ``end``, now and then of another dtype."""
    kind = draw(st.sampled_from(["int64", "int64", "int64", "int32", "int16"]))
    top = max(end, 1)
    flat = [draw(st.integers(0, top - 1)) for _ in range(prod(shape))]
    return f"torch.tensor({flat}, dtype=torch.{kind}, device=device).reshape({shape})"


def key(draw: Draw, given: Input) -> str:
    """Draw what stands between square brackets: integers, slices, None, lists, masks."""
    kinds = ["int", "slice", "slice", "slice", "None", "...", "list", "long", "mask"]
    count = draw(st.integers(0, len(given.shape) + 1))
    parts = [_key_part(draw, given, draw(st.sampled_from(kinds))) for _ in range(count)]
    return f"({', '.join(parts)},)" if parts else "..."


def _key_part(draw: Draw, given: Input, kind: str) -> str:
    size = draw(st.sampled_from(given.shape or (1,)))
    inside = st.integers(-size, max(size - 1, 0)) | st.integers(-2, 2)
    if kind == "int":
        return str(draw(inside))
    if kind == "slice":
        bounds = [str(draw(st.none() | st.integers(-4, 4))) for _ in range(2)]
        return f"slice({', '.join(bounds)}, {draw(st.sampled_from([None, 1, 2]))})"
    if kind == "list":
        return str(draw(st.lists(inside, min_size=1, max_size=3)))
    if kind == "long":
        rows = [[draw(inside) for _ in range(2)] for _ in range(draw(st.integers(1, 2)))]
        return f"torch.tensor({rows}, device=device)"
    if kind == "mask":
        length = draw(st.sampled_from([size, size, 1, 2]))
        bits = draw(st.lists(st.booleans(), min_size=length, max_size=length))
        return f"torch.tensor({bits}, dtype=torch.bool, device=device)"
    return kind
