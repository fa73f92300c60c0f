"""Shape and stride arithmetic; strides and offsets count elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

Shape = tuple[int, ...]


def contiguous_strides(shape: Sequence[int]) -> Shape:
    """Return row-major strides; a dimension of size 0 counts as 1, as in torch."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether the elements lie in row-major order; size-1 dimensions do not matter."""
    if 0 in shape:
        return True
    pairs = zip(shape, strides, contiguous_strides(shape), strict=True)
    return all(size == 1 or stride == wanted for size, stride, wanted in pairs)


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return how many elements the view spans, from its first to its last; 0 for an empty view."""
    if 0 in shape:
        return 0
    return sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1


def broadcast_shapes(*shapes: Sequence[int]) -> Shape | None:
    """Return the common shape, or None when two sizes of one dimension do not fit."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[int] = []
    for position in range(-rank, 0):
        sizes = {shape[position] for shape in shapes if len(shape) >= -position} - {1}
        if len(sizes) > 1:
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def resolve_minus_one(shape: Sequence[int], count: int) -> Shape | None:
    """Return the shape with its one -1 replaced so that it holds ``count`` elements.

    None when that cannot be: a second -1, another negative size, or sizes that do not divide.
    """
    known = prod(size for size in shape if size != -1)
    if any(size < -1 for size in shape) or list(shape).count(-1) > 1:
        return None
    if -1 not in shape:
        return tuple(shape) if known == count else None
    if known == 0 or count % known:
        return None
    return tuple(count // known if size == -1 else size for size in shape)


def view_strides(old_shape: Shape, old_strides: Shape, new_shape: Shape) -> Shape | None:
    """Return the strides of ``tensor.view(new_shape)``, or None when a copy would be needed.

    The rule is torch's: each new dimension must come from one run of old dimensions that are
    contiguous among themselves. Both shapes hold the same number of elements.
    """
    if 0 in old_shape:
        return old_strides if old_shape == new_shape else contiguous_strides(new_shape)
    result: list[int] = []
    position = len(new_shape) - 1
    for run_size, run_stride in _contiguous_runs(old_shape, old_strides):
        filled = 1
        while position >= 0 and (filled < run_size or new_shape[position] == 1):
            result.append(filled * run_stride)
            filled *= new_shape[position]
            position -= 1
        if filled != run_size:
            return None
    return tuple(reversed(result))


def _contiguous_runs(shape: Shape, strides: Shape) -> list[tuple[int, int]]:
    """Return, last first, the runs of dimensions that step through memory as one.

    Each is (elements, stride of its last dimension). A dimension of size 1 joins the run after it.
    """
    if not shape:
        return [(1, 1)]
    runs = [(shape[-1], strides[-1])]
    for size, stride in zip(reversed(shape[:-1]), reversed(strides[:-1]), strict=True):
        count, step = runs[-1]
        if size == 1 or stride == count * step:
            runs[-1] = (count * size, step)
        else:
            runs.append((size, stride))
    return runs


def element_offsets(shape: Shape, strides: Shape, offset: int) -> list[int]:
    """Return the storage index of every element of a view, in row-major order."""
    offsets = [offset]
    for size, stride in zip(shape, strides, strict=True):
        offsets = [start + step * stride for start in offsets for step in range(size)]
    return offsets


def channels_last_strides(shape: Shape) -> Shape:
    """Return the strides of a tensor whose second dimension lies innermost."""
    inner = contiguous_strides((shape[0], *shape[2:], shape[1]))
    return (inner[0], inner[-1], *inner[1:-1])


def is_channels_last(shape: Shape, strides: Shape) -> bool:
    """Return whether the elements lie as with channels_last_strides and leave no gaps."""
    step = 1
    for dimension in (1, 3, 2, 0):
        if shape[dimension] != 1:
            if strides[dimension] != step:
                return False
            step *= shape[dimension]
    return True


def looks_channels_last(shape: Shape, strides: Shape) -> bool:
    """Return whether the strides of four dimensions grow as with channels_last_strides."""
    if len(shape) != 4 or strides[1] == 0:
        return False
    least = 0
    for dimension in (1, 3, 2, 0):
        if shape[dimension] == 0 or strides[dimension] < least:
            return False
        # With one channel and one column both orders are alike; that counts as row-major.
        if dimension == 0 and least == strides[1]:
            return False
        least = strides[dimension] * max(shape[dimension], 1)
    return True


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether every element has its own place and no place in between is left out."""
    expected = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size == 0:
            return True
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def may_overlap_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether two indices surely name one place: a dimension that does not advance."""
    return 0 not in shape and any(
        stride == 0 and size > 1 for size, stride in zip(shape, strides, strict=True)
    )


def broadcast_strides(shape: Shape, strides: Shape, wanted: Shape) -> Shape:
    """Return the strides with which a view is read as if it had the wanted, larger shape."""
    missing = len(wanted) - len(shape)
    own = (
        0 if size == 1 and size != target else stride
        for size, stride, target in zip(shape, strides, wanted[missing:], strict=True)
    )
    return (0,) * missing + tuple(own)


def result_strides(shape: Shape, operands: Sequence[Shape]) -> Shape:
    """Return the strides that torch gives to a new tensor computed from these operands.

    ``operands`` holds the strides of each operand broadcast to ``shape``. The rule is that of
    torch's TensorIterator: the order of dimensions follows the first operand that has one.
    """
    order = list(range(len(shape)))[::-1]
    for position in range(1, len(order)):
        moving = position
        for earlier in range(position - 1, -1, -1):
            comparison = _compare_dimensions(order[earlier], order[moving], shape, operands)
            if comparison < 0:
                break
            if comparison > 0:
                order[earlier], order[moving] = order[moving], order[earlier]
                moving = earlier
    return _strides_in_order(shape, order)


def _compare_dimensions(first: int, second: int, shape: Shape, operands: Sequence[Shape]) -> int:
    """Return 1 when the first dimension belongs outside the second, -1 inside, 0 for either."""
    for strides in operands:
        if 0 in (strides[first], strides[second]):
            continue
        if strides[first] != strides[second]:
            return -1 if strides[first] < strides[second] else 1
        if shape[first] > shape[second]:
            return 1
    return 0


def _strides_in_order(shape: Shape, order: Sequence[int]) -> Shape:
    if list(order) == list(range(len(shape)))[::-1]:
        return contiguous_strides(shape)
    strides = [0] * len(shape)
    step = 1
    for dimension in order:
        strides[dimension] = step
        # Unlike a contiguous tensor's, these strides become 0 after a dimension of size 0.
        step *= shape[dimension]
    return tuple(strides)
