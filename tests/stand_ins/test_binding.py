"""Arguments by name: from signatures of any kind of callee, and from the schemas of operators."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_sm120.stand_ins.binding import bind_arguments


def compiled(a: Any, size: "tl.constexpr", *, out: Any = None) -> None:  # type: ignore[name-defined] # noqa: F821, UP037  # as in a file without triton
    """A function with a parameter that only the compiler is given."""


@pytest.mark.parametrize(
    ("args", "kwargs", "bound"),
    [
        ((1, 2), {}, {"a": 1, "size": 2, "out": None}),
        ((1,), {}, {"a": 1, "out": None}),
        ((1,), {"out": 5}, {"a": 1, "out": 5}),
        ((1,), {"num_warps": 8}, {"a": 1, "out": None}),
        ((1, 2, 3), {}, None),
        ((), {"out": 5}, {"out": 5}),
        ((), {"num_warps": 8}, None),
    ],
)
def test_arguments_are_bound_by_a_signature(
    args: tuple[int, ...], kwargs: dict[str, int], bound: dict[str, object] | None
) -> None:
    assert bind_arguments(compiled, args, kwargs) == bound


def test_callee_without_a_signature_binds_nothing() -> None:
    assert bind_arguments(3, (1,), {}) is None


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ("f() -> ()", []),
        ("ns::f(Tensor x, Tensor(a!)? y=None) -> Tensor", ["x", "y"]),
        ("f(int[2] sizes=[1, 2], *, bool flag=False) -> (Tensor, Tensor)", ["sizes", "flag"]),
        ("(Tensor(a!, b) x, str s) -> ()", ["x", "s"]),
    ],
)
def test_arguments_are_bound_by_a_schema(schema: str, names: list[str]) -> None:
    args = tuple(range(len(names)))
    assert bind_arguments(schema, args, {}) == dict(zip(names, args, strict=True))
    assert bind_arguments(schema, (*args, 1), {}) is None
