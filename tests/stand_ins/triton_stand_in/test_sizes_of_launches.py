"""How many programs and warps a launch may have."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_sm120.errors import GhostValue
from pytest_sm120.recorder.records import Launch
from tests.stand_ins.bench import Bench

KERNELS = """
    import lib
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def scale(x_ptr, n, BLOCK: tl.constexpr = 64):
        tl.store(x_ptr, 0)

    @triton.jit
    def own_warps(x_ptr, num_warps: tl.constexpr):
        pass

    def run(grid, *args, **kwargs):
        scale[grid](*args, **kwargs)
"""


@pytest.fixture
def kernels(bench: Bench) -> Any:
    return bench.load(KERNELS)


def only_launch(bench: Bench) -> Launch:
    [launch] = bench.recording.launches()
    return launch


@pytest.mark.parametrize(
    ("grid", "sizes"),
    [
        *(((3,), (3,)), ([3, 4], (3, 4)), ((1, 2, 3), (1, 2, 3))),
        (lambda meta: (meta["n"] // meta["BLOCK"],), (2,)),
    ],
)
def test_grid_is_recorded_as_a_tuple(
    bench: Bench, kernels: Any, grid: Any, sizes: tuple[int, ...]
) -> None:
    kernels.run(grid, 1, 128)
    assert only_launch(bench).grid == sizes


def test_grid_may_hold_constants_and_known_tensors(bench: Bench, kernels: Any) -> None:
    language, torch = kernels.tl, kernels.torch
    kernels.run((language.constexpr(3), torch.tensor(4), True), 1, 1)
    assert only_launch(bench).grid == (3, 4, 1)


@pytest.mark.parametrize("grid", [3, (), (1, 2, 3, 4), (-1, -2), (1.5,), "ab", None, ("a",)])
def test_grid_that_is_not_one_to_three_whole_numbers_is_refused(
    bench: Bench, kernels: Any, grid: Any
) -> None:
    with pytest.raises(ValueError) as raised:
        kernels.run(grid, 1, 1)
    assert str(raised.value) == (
        f"target.py:16: scale is launched with the grid {grid!r}. A grid is a tuple of one "
        "to three whole numbers, none negative. Pass a tuple such as (blocks,)."
    )
    assert bench.recording.launches() == []


@pytest.mark.parametrize("grid", [(0,), (3, 0), (-1,), (2, -1), (0, 70000)])
def test_grid_without_programs_is_recorded_as_empty_and_writes_nothing(
    bench: Bench, kernels: Any, grid: tuple[int, ...]
) -> None:
    written = kernels.torch.zeros(2, device="cuda:0")
    kernels.run(grid, written, 1)
    launch = only_launch(bench)
    assert (launch.grid, launch.empty) == (grid, True)
    assert (launch.written, launch.accumulated) == ((), ())
    written.clone()
    assert bench.recording.allocations("clone")[0].fill == 0


def test_grid_with_programs_is_not_empty(bench: Bench, kernels: Any) -> None:
    kernels.run((2, 1), bench.tensor(2), 1)
    assert (only_launch(bench).empty, only_launch(bench).written) == (False, ("x_ptr",))


def test_grid_from_a_ghost_is_refused(kernels: Any) -> None:
    with pytest.raises(GhostValue, match=r"the code asked index\(lib\.blocks\) at run time"):
        kernels.run((kernels.lib.blocks,), 1, 1)
    with pytest.raises(GhostValue, match=r"the code asked iter\(lib\.grid\) at run time"):
        kernels.run(kernels.lib.grid, 1, 1)


@pytest.mark.parametrize("warps", [1, 8, 32])
def test_power_of_two_of_warps_is_recorded(bench: Bench, kernels: Any, warps: int) -> None:
    kernels.run((1,), 1, 1, num_warps=warps)
    assert only_launch(bench).num_warps == warps


@pytest.mark.parametrize("warps", [0, -4, 3, 12])
def test_warps_that_are_no_power_of_two_are_refused(bench: Bench, kernels: Any, warps: int) -> None:
    with pytest.raises(AssertionError) as raised:
        kernels.run((1,), 1, 1, num_warps=warps)
    assert str(raised.value) == (
        f"target.py:16: scale is launched with num_warps={warps}. Triton accepts powers of two "
        "only. Pass 1, 2, 4, 8, 16 or 32."
    )
    assert bench.recording.launches() == []


def test_more_warps_than_a_block_has_are_refused(bench: Bench, kernels: Any) -> None:
    with pytest.raises(ValueError) as raised:
        kernels.scale.warmup(1, 1, grid=(1,), num_warps=64)
    assert str(raised.value).partition(": ")[2] == (
        "scale is launched with num_warps=64, which is 2048 threads. A block of sm_120 has at most "
        "1024; the card refuses the launch. Pass at most 32."
    )


def test_warps_that_are_not_known_and_those_of_a_parameter_are_not_judged(
    bench: Bench, kernels: Any
) -> None:
    kernels.run((1,), 1, 1, num_warps=kernels.lib.warps)
    kernels.own_warps[(1,)](1, num_warps=3)
    assert len(bench.recording.launches()) == 2
