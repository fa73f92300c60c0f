"""An index buffer's neutral value is -1, and it must be there again on every call.

``slot_table.py`` keeps the contract, ``slot_table_zeroed.py`` is its broken twin. The buffers live
in an attribute of an object, so the test watches the object.
"""

from pathlib import Path

import pytest

from pytest_sm120 import Scratch
from pytest_sm120.errors import ContractBroken

HERE = Path(__file__).parent

TABLE = Scratch(
    key="tables['{device}']",
    init=("full", -1),
    dtype="int32",
    shape=lambda requests: (requests, 16),
    cleared_each_call=True,
)


def append(sm120, table, requests, device="cuda:0"):
    slots = sm120.tensor((requests, 16), dtype="int32", device=device)
    lengths = sm120.values([3] * requests, dtype="int32", device=device)
    return table.append(slots, lengths)


def test_empty_slots_hold_minus_one_before_the_kernel_writes(sm120):
    module = sm120.load(HERE / "slot_table.py")
    append(sm120, sm120.watch(module.SlotTable(width=16)), requests=5)
    [table] = sm120.recording.allocations(dtype="int32")
    assert (table.call, table.fill, table.shape) == ("torch.full", -1, (5, 16))
    assert table.registered_as == "tables['cuda:0']"
    [fill] = sm120.recording.fills("fill_")
    [launch] = sm120.recording.launches("_append_slots")
    assert fill.value == -1 and fill.view.covers(launch.args["table_ptr"])
    assert fill.order < launch.order


def test_table_keeps_its_contract(sm120):
    table = sm120.watch(sm120.load(HERE / "slot_table.py").SlotTable(width=16))
    sm120.check(TABLE, drive=lambda requests, device: append(sm120, table, requests, device))


def test_zeroed_twin_breaks_the_contract(sm120):
    table = sm120.watch(sm120.load(HERE / "slot_table_zeroed.py").SlotTable(width=16))
    with pytest.raises(ContractBroken, match="-1"):
        sm120.check(TABLE, drive=lambda requests, device: append(sm120, table, requests, device))
