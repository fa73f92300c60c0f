"""torch.Size, and reading sizes and dimensions from what a caller passed."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, overload


class Size(tuple[int, ...]):
    """The sizes of a tensor, as ``torch.Size``."""

    __slots__ = ()

    def numel(self) -> int:
        """Return the number of elements of a tensor with these sizes."""
        return prod(self)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: SupportsIndex) -> int: ...
        @overload
        def __getitem__(self, key: slice) -> Size: ...

    def __getitem__(self, key: SupportsIndex | slice) -> int | Size:
        """Return one size, or a Size for a slice."""
        found = tuple.__getitem__(self, key)
        return Size(found) if isinstance(found, tuple) else found

    def __add__(self, other: tuple[Any, ...]) -> Size:
        """Return both one after the other."""
        return Size(tuple.__add__(self, other))

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


def read_sizes(call: str, given: tuple[object, ...]) -> tuple[int, ...]:
    """Return the sizes given one by one or as one sequence; may hold -1.

    Raises TypeError for anything that is not a whole number, as torch does.
    """
    if len(given) == 1 and isinstance(given[0], (str, bool)):
        raise TypeError(
            f"{call}(): argument 'size' (position 1) must be tuple of ints, not "
            f"{type(given[0]).__name__}"
        )
    sizes = given
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        sizes = tuple(given[0])
    return tuple(_read_size(call, size, position) for position, size in enumerate(sizes, 1))


def _read_size(call: str, size: object, position: int) -> int:
    if isinstance(size, bool) or not (hasattr(type(size), "__index__")):
        raise TypeError(
            f"{call}(): argument 'size' failed to unpack the object at pos {position} with error "
            f'"type must be tuple of ints,but got {type(size).__name__}"'
        )
    return index(size)  # type: ignore[arg-type]  # it has __index__


def refuse_negative(sizes: tuple[int, ...]) -> None:
    """Raise RuntimeError for a negative size, as torch does."""
    for size in sizes:
        if size < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {size}: {list(sizes)}"
            )


def wrap_dimension(dimension: object, rank: int) -> int:
    """Return the dimension counted from the front; IndexError outside of the tensor's rank."""
    if isinstance(dimension, bool) or not hasattr(type(dimension), "__index__"):
        raise TypeError(f"argument 'dim' must be int, not {type(dimension).__name__}")
    number = index(dimension)  # type: ignore[arg-type]  # it has __index__
    span = max(rank, 1)
    if not -span <= number < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], "
            f"but got {number})"
        )
    return number % span


def wrap_dimensions(dimensions: object, rank: int) -> tuple[int, ...]:
    """Return dimensions counted from the front; None or none at all mean every dimension."""
    if dimensions is None:
        return tuple(range(rank))
    given = dimensions if isinstance(dimensions, (tuple, list)) else (dimensions,)
    wrapped = tuple(wrap_dimension(dimension, rank) for dimension in given)
    refuse_repeated(wrapped)
    return wrapped or tuple(range(rank))


def refuse_repeated(dimensions: Iterable[int]) -> None:
    """Raise RuntimeError when a dimension is named twice."""
    seen: set[int] = set()
    for dimension in dimensions:
        if dimension in seen:
            raise RuntimeError(f"dim {dimension} appears multiple times in the list of dims")
        seen.add(dimension)
