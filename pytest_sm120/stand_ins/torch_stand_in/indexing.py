"""Reading and writing with square brackets."""

from __future__ import annotations

from operator import index
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.memory import (
    known_values,
    refuse_overlap,
    write_in_place,
)
from pytest_sm120.stand_ins.torch_stand_in.overlaps import (
    is_same_memory,
    may_change_while_read,
    refuse_partial_overlap,
)
from pytest_sm120.stand_ins.torch_stand_in.slicing import drop_dimension, slice_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, make_view
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign
from pytest_sm120.stand_ins.torch_stand_in.views import expand, unsqueeze
from pytest_sm120.stand_ins.torch_stand_in.writes import write_number

NOT_AN_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
    "indices (got {})"
)


def get_item(input: Tensor, key: Any) -> Any:
    """Return a view, or a new tensor when tensors are among the indices."""
    seen, picks = _basic(input, key)
    if not picks:
        return seen
    # Here and below: most keys hold no tensor and need none of that module.
    from pytest_sm120.stand_ins.torch_stand_in.advanced_indexing import read_picked

    return read_picked(seen, picks)


def set_item(input: Tensor, key: Any, value: Any) -> None:
    """Write a number or a tensor to the elements that the key names."""
    seen, picks = _basic(input, key)
    if picks:
        from pytest_sm120.stand_ins.torch_stand_in.advanced_indexing import write_picked

        write_picked(seen, picks, value)
    elif isinstance(value, Tensor):
        given = value if value.shape == seen.shape else _spread(value, seen)
        if value.ndim and is_same_memory(seen, given):
            return
        refuse_overlap(seen)
        known = known_values(given)
        # torch fills with a value that has no dimensions.
        if value.ndim:
            refuse_partial_overlap(seen, given)
            known = None if may_change_while_read(seen, given) else known
        write_in_place(seen, "__setitem__", known)
    else:
        refuse_overlap(seen)
        write_number(seen, "__setitem__", value)


def _spread(value: Tensor, target: Tensor) -> Tensor:
    """Return the value, without its leading dimensions of size 1, in the shape of the target."""
    while value.ndim and value.shape[0] == 1:
        value = drop_dimension(value, 0, 0)
    return expand("", value, tuple(target.shape))


def _basic(input: Tensor, key: Any) -> tuple[Tensor, dict[int, Tensor]]:
    """Return the view after integers, slices, None and Ellipsis, and the tensors by dimension."""
    parts = _split_key(key)
    used = sum(_dimensions_used(part) for part in parts)
    if not input.ndim and used:
        _refuse_index_of_scalar(parts)
    if used > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim}")
    seen = make_view(input, input.shape, input.stride())
    picks: dict[int, Tensor] = {}
    position = 0
    for part in parts:
        if part is Ellipsis:
            # A second Ellipsis skips as many dimensions again, as in torch.
            position += input.ndim - used
        elif part is None:
            seen, position = unsqueeze("", seen, position), position + 1
        elif position >= seen.ndim and not isinstance(part, bool):
            position = _past_the_end(seen, position, part)
        elif isinstance(part, slice):
            seen, position = _slice(seen, position, part), position + 1
        elif isinstance(part, (bool, list, Tensor)):
            seen, position = _pick(seen, position, part, picks)
        else:
            seen = _select(seen, position, part)
    return seen, picks


def _split_key(key: Any) -> list[Any]:
    if isinstance(key, tuple):
        return [_as_part(part) for part in key]
    return [_as_part(key)]


def _as_part(part: Any) -> Any:
    if isinstance(part, Tensor) and not part.ndim and part.dtype.kind in ("int", "uint"):
        # A tensor without dimensions is an index like any number when its value is known.
        return index(part) if part._storage.contents is not None else part
    return part


def _dimensions_used(part: Any) -> int:
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, Tensor) and part.dtype.kind == "bool":
        return part.ndim
    return 1


def _refuse_index_of_scalar(parts: list[Any]) -> None:
    if isinstance(parts[0], slice):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if all(isinstance(part, int) for part in parts):
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )


def _past_the_end(seen: Tensor, position: int, part: Any) -> int:
    """Return the next position after a slice of all, which torch lets through; refuse the rest."""
    if isinstance(part, slice):
        if part.start or part.stop is not None or part.step not in (None, 1):
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-seen.ndim},"
                f" {seen.ndim - 1}], but got {position})"
            )
        return position + 1
    if isinstance(part, (list, Tensor)):
        raise IndexError(
            f"too many indices for tensor of dimension {seen.ndim} (got {position + 1})"
        )
    raise IndexError(f"index {index(part)} is out of bounds for dimension {position} with size 0")


def _slice(seen: Tensor, position: int, part: slice) -> Tensor:
    if part.step is not None and index(part.step) <= 0:
        raise ValueError("step must be greater than zero")
    start, stop, step = slice(*map(_whole, (part.start, part.stop, part.step))).indices(
        seen.shape[position]
    )
    return slice_dimension(seen, position, start, stop, step)


def _whole(bound: Any) -> int | None:
    return None if bound is None else index(bound)


def _select(seen: Tensor, position: int, part: Any) -> Tensor:
    if not hasattr(type(part), "__index__"):
        refuse_foreign(part)
        if isinstance(part, str):
            raise TypeError("new(): invalid data type 'str'")
        raise IndexError(NOT_AN_INDEX.format(type(part).__name__))
    size, wanted = seen.shape[position], index(part)
    if not -size <= wanted < size:
        raise IndexError(
            f"index {wanted} is out of bounds for dimension {position} with size {size}"
        )
    return drop_dimension(seen, position, wanted % size)


def _pick(seen: Tensor, position: int, part: Any, picks: dict[int, Tensor]) -> tuple[Tensor, int]:
    if isinstance(part, bool):
        part = [part]
        seen = unsqueeze("", seen, position)
    if isinstance(part, list):
        from pytest_sm120.stand_ins.torch_stand_in.advanced_indexing import tensor_of_numbers

        part = tensor_of_numbers(seen, part)
    picks[position] = part
    return seen, position + (part.ndim if part.dtype.kind == "bool" else 1)
