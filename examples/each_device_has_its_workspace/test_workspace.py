"""A workspace that is kept between calls must be kept for each device.

``reduction.py`` keeps the contract, ``reduction_shared.py`` is its broken twin: on the second
device it hands out the workspace of the first.
"""

from pathlib import Path

import pytest

from pytest_sm120 import Scratch
from pytest_sm120.errors import ContractBroken

HERE = Path(__file__).parent

# A module global: the key is the path by which the module's own code reaches the buffer.
WORKSPACE = Scratch(
    key="_workspaces['partials:{device}']",
    init="empty",
    dtype="float32",
    shape=lambda rows: (rows * 4,),
)


def sum_rows(sm120, module, rows, device="cuda:0"):
    return module.sum_rows(sm120.tensor((rows, 1000), dtype="float32", device=device))


def test_partial_sums_are_written_block_by_block(sm120):
    module = sm120.load(HERE / "reduction.py")
    sums = sum_rows(sm120, module, rows=6)
    [launch] = sm120.recording.launches("_sum_blocks")
    assert launch.grid == (6, 4) and launch.num_warps == 2
    assert launch.args["partials_ptr"].shape == (6, 4)
    assert sums.shape == (6,) and str(sums.device) == "cuda:0"


def test_workspace_keeps_its_contract(sm120):
    module = sm120.load(HERE / "reduction.py")
    sm120.check(WORKSPACE, drive=lambda rows, device: sum_rows(sm120, module, rows, device))


def test_shared_twin_hands_the_first_devices_workspace_to_the_second(sm120):
    module = sm120.load(HERE / "reduction_shared.py")
    with pytest.raises(ContractBroken, match="one per device"):
        sm120.check(WORKSPACE, drive=lambda rows, device: sum_rows(sm120, module, rows, device))
