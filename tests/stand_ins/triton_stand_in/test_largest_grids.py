"""The largest grid of each arch, which the card enforces."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sm120.arch import ARCHES, Arch
from tests.stand_ins.bench import Bench

KERNEL = """
    import triton

    @triton.jit
    def scale(x_ptr):
        pass

    def run(grid):
        scale[grid](1)
"""


@pytest.mark.parametrize("arch", ARCHES.values(), ids=lambda arch: arch.name)
@pytest.mark.parametrize("axis", range(3))
def test_grid_over_the_limit_is_refused_on_every_arch(
    tmp_path: Path, arch: Arch, axis: int
) -> None:
    bench = Bench(tmp_path, arch)
    try:
        run = bench.load(KERNEL).run
        run(arch.max_grid)
        too_large = [1, 1, 1]
        too_large[axis] = arch.max_grid[axis] + 1
        with pytest.raises(ValueError) as raised:
            run(tuple(too_large))
        assert str(raised.value) == (
            f"target.py:9: scale is launched with the grid {tuple(too_large)}. The largest grid of "
            f"{arch.name} is (2147483647, 65535, 65535); the card refuses the launch. Put the long "
            "dimension first, or give each program more to do."
        )
        assert len(bench.recording.launches()) == 1
    finally:
        bench.close()
