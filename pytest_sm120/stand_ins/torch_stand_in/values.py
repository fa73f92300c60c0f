"""Contents of tensors as host code asks for them: item(), tolist(), truth values."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pytest_sm120.errors import UnknownOperation, UnknownValue, UsageError
from pytest_sm120.recorder.places import find_place
from pytest_sm120.stand_ins.torch_stand_in.memory import Known, View, known_values
from pytest_sm120.tensors.layouts import element_offsets
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Number, Uniform

# A list of more elements than this would be built for a big tensor with one uniform value.
_LARGEST_LISTED = 2**20


def describe(tensor: View) -> str:
    """Return ``"uint8[16, 37440] on cuda:0"``."""
    return f"{tensor._dtype.name}{list(tensor._shape)} on {tensor._storage.device}"


def read_values(tensor: View, asked_by: str) -> list[Number]:
    """Return the elements in row-major order; raise UnknownValue when nobody gave them."""
    known = known_values(tensor)
    count = prod(tensor._shape)
    if count == 0:
        return []
    if known is None or (isinstance(known, Uniform) and count > _LARGEST_LISTED):
        raise unknown_value(tensor, asked_by)
    return [known.value] * count if isinstance(known, Uniform) else list(known)


def listed_values(tensor: View) -> Sequence[Number] | None:
    """Return the known elements in row-major order; None when they are too many to follow."""
    count = prod(tensor._shape)
    if count == 0:
        return []
    known = known_values(tensor)
    if count > LARGEST_FOLLOWED:
        return None
    return [known.value] * count if isinstance(known, Uniform) else known


def unknown_value(tensor: View, asked_by: str) -> UnknownValue:
    """Return the error for code that needs contents that are not known."""
    site = find_place().site
    return UnknownValue(
        f"{site}: {asked_by} needs the contents of a tensor ({describe(tensor)}), which are not "
        "known.",
        limit="The record tier runs no kernel: it knows what a test gave with sm120.values, and "
        f"what host code made of that, for tensors of at most {LARGEST_FOLLOWED} elements, or"
        f" {_LARGEST_LISTED} where all are equal.",
        remedy="Give the input its contents with sm120.values(...), replace the function that asks "
        'with provide=, or run the test with tier=["interpret"].',
    )


def unknown_operation(name: str) -> UnknownOperation:
    """Return the error for an operation that torch has and this stand-in does not model."""
    return UnknownOperation(
        f"{find_place().site}: {name} is not modelled.",
        limit="The record tier models what host code around kernels uses; torch has more.",
        remedy="Replace the function that calls it with provide=, or run the test with "
        'tier=["interpret"].',
    )


def nested(values: Sequence[Number], shape: Sequence[int]) -> Any:
    """Return row-major values as nested lists; a plain number for no dimensions."""
    if not shape:
        return values[0]
    step = prod(shape[1:])
    return [
        nested(values[position * step : (position + 1) * step], shape[1:])
        for position in range(shape[0])
    ]


def item_of(tensor: View, asked_by: str) -> Number:
    """Return the value of a tensor with one element."""
    if prod(tensor._shape) != 1:
        raise RuntimeError(
            f"a Tensor with {prod(tensor._shape)} elements cannot be converted to Scalar"
        )
    return read_values(tensor, asked_by)[0]


def only_item_of(tensor: View, asked_by: str) -> Number:
    """Return the value of a tensor with one element, for Python's own conversions."""
    if prod(tensor._shape) != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return item_of(tensor, asked_by)


def broadcast_known(known: Known, shape: Sequence[int], wanted: Sequence[int]) -> Known:
    """Return the values of a tensor of one shape, repeated to fill a larger one."""
    if known is None or isinstance(known, Uniform) or tuple(shape) == tuple(wanted):
        return known
    steps: list[int] = []
    step = 1
    for size in reversed(shape):
        steps.append(0 if size == 1 else step)
        step *= size
    strides = (0,) * (len(wanted) - len(shape)) + tuple(reversed(steps))
    return [known[offset] for offset in element_offsets(tuple(wanted), strides, 0)]


def is_opaque(value: object) -> bool:
    """Return whether this is a ghost, which has no value."""
    return hasattr(type(value), "__sm120_opaque__")


def refuse_foreign(value: Any, question: str = "int({})") -> None:
    """Raise UsageError for a tensor, dtype or device of the real torch; ask a ghost to explain.

    ``question`` is what a ghost is said to have been asked; ``{}`` stands for its name.
    """
    kind = type(value)
    if getattr(kind, "__sm120_opaque__", False):
        # The ghost's own error says what it is and what to do.
        value.__sm120_asked__(question)
    if kind.__module__.partition(".")[0] == "torch":
        raise UsageError(
            f"{find_place().site}: an object of the real torch ({kind.__name__}) was given to the "
            "stand-in for torch.",
            limit="The record tier never mixes both.",
            remedy="Make inputs with sm120.tensor or sm120.values, or run the test with "
            'tier=["interpret"].',
        )
