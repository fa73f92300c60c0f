"""A scratch of which only some rows are written must start zeroed.

``page_split.py`` keeps the contract, ``page_split_uninitialized.py`` is its broken twin.
"""

from pathlib import Path

import pytest

from pytest_sm120 import Scratch
from pytest_sm120.errors import ContractBroken

HERE = Path(__file__).parent

SPLIT_SCRATCH = Scratch(
    key=lambda device: ("split", device),
    init="zeros",
    dtype="uint8",
    shape=lambda pages: (pages * 4, 32 * 72),
)


def split(sm120, module, pages, device="cuda:0"):
    large = sm120.tensor((pages, 128 * 72), dtype="uint8", device=device)
    referenced = sm120.values([1] * pages, dtype="int8", device=device)
    return module.split_pages(large, referenced)


def test_first_call_zeroes_the_scratch_and_copies_into_it(sm120):
    module = sm120.load(HERE / "page_split.py")
    view = split(sm120, module, pages=3)
    [scratch] = sm120.recording.allocations(dtype="uint8")
    assert scratch.call == "torch.zeros"
    assert scratch.shape == (12, 2304) and scratch.bytes == 27648
    assert scratch.registered_as == "_scratch[('split', 'cuda:0')]"
    [launch] = sm120.recording.launches("_copy_referenced_pages")
    assert launch.grid == (12,) and launch.args["BLOCK"] == 1024
    assert launch.args["target_ptr"].shares_storage_with(scratch)
    assert view.shape == (12, 2304) and view.stride() == (2304, 1)


def test_scratch_keeps_its_contract(sm120):
    module = sm120.load(HERE / "page_split.py")
    sm120.check(SPLIT_SCRATCH, drive=lambda size, device: split(sm120, module, size, device))


def test_uninitialized_twin_breaks_the_contract(sm120):
    module = sm120.load(HERE / "page_split_uninitialized.py")
    with pytest.raises(ContractBroken, match=r"with torch\.empty"):
        sm120.check(SPLIT_SCRATCH, drive=lambda size, device: split(sm120, module, size, device))


def test_source_says_why_the_scratch_is_zeroed(sm120):
    [scratch] = sm120.source(HERE / "page_split.py").allocations(dtype="uint8")
    assert scratch.call == "torch.zeros" and scratch.function == "split_pages"
    assert "slot 0" in scratch.comment
