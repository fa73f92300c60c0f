"""What SGLang's page split owes its consumer, as the tests a maintainer would keep.

Run against three versions of the file by tests/upstream/test_split_scratch.py: as shipped in 0.5.23
(torch.empty), with torch.zeros, and with torch.zeros and a comment that says why.
"""

from types import SimpleNamespace

import pytest

from pytest_sm120 import Scratch

TARGET = "sglang/kernels/ops/attention/flash_mla_sm120.py"
PAGE_BYTES = 149760  # of a 256-token page: 256 * (576 + 8) bytes, padded to a multiple of 576
SPLIT = "flash_mla_sm120_split:{device}"
MASK = "flash_mla_sm120_mask:{device}"


@pytest.fixture
def mla(sm120):
    resources = SimpleNamespace(buffers=sm120.registry())
    return sm120.load(
        TARGET, provide={"sglang.srt.runtime_context.get_resources": lambda: resources}
    )


def split(sm120, mla, pages, device="cuda:0"):
    kv = sm120.tensor((pages, PAGE_BYTES), dtype="uint8", device=device)
    touched = sm120.values([300, -1, 301], dtype="int32", device=device)
    return mla._split_kv_pages_to_64(kv, 256, touched_indices=touched)


def split_key(device):
    return SPLIT.format(device=device)


def test_first_allocation_is_zeroed_and_registered(sm120, mla):
    split(sm120, mla, pages=4)
    [scratch] = sm120.recording.allocations(dtype="uint8")
    assert scratch.call == "torch.zeros"
    assert scratch.shape == (16, 37440) and scratch.device == "cuda:0"
    assert scratch.registered_as == split_key("cuda:0")


def test_launch_binds_the_mask_and_a_slice_of_the_scratch(sm120, mla):
    split(sm120, mla, pages=4)
    view = split(sm120, mla, pages=3)
    [scratch] = sm120.recording.allocations(dtype="uint8")
    [mask] = sm120.recording.allocations(dtype="int8")
    first, second = sm120.recording.launches("_page_split_kernel")
    assert first.grid == (16,) and second.grid == (12,)
    for launch in (first, second):
        assert launch.args["HAS_MASK"] is True and launch.args["RATIO"] == 4
        assert launch.args["src_stride0"] == PAGE_BYTES and launch.args["dst_stride0"] == 37440
        assert launch.args["dst_ptr"].shares_storage_with(scratch)
        assert launch.args["mask_ptr"].shares_storage_with(mask)
    assert second.args["dst_ptr"].byte_range == (0, 12 * 37440)
    assert view.shape == (12, 64, 1, 584) and view.stride() == (37440, 584, 584, 1)


def test_same_and_smaller_call_reuse_one_allocation(sm120, mla):
    for pages in (4, 4, 2, 4):
        split(sm120, mla, pages)
    assert len(sm120.recording.allocations(dtype="uint8")) == 1
    assert len(sm120.recording.launches("_page_split_kernel")) == 4


def test_growth_allocates_zeros_again(sm120, mla):
    split(sm120, mla, pages=4)
    with sm120.step("grow") as step:
        split(sm120, mla, pages=6)
    [grown] = step.allocations(dtype="uint8")
    assert grown.call == "torch.zeros" and grown.shape == (24, 37440)
    assert [store.key for store in step.stores()] == [
        split_key("cuda:0"),
        MASK.format(device="cuda:0"),
    ]


def test_each_device_gets_its_own_zeroed_scratch(sm120, mla):
    for device in ("cuda:0", "cuda:1", "cuda:0"):
        split(sm120, mla, pages=4, device=device)
    first, second = sm120.recording.allocations(dtype="uint8")
    assert [first.registered_as, second.registered_as] == [split_key(d) for d in DEVICES]
    assert (first.device, second.device) == DEVICES
    assert not first.shares_storage_with(second)
    assert first.call == second.call == "torch.zeros"


DEVICES = ("cuda:0", "cuda:1")


def test_mask_is_zeroed_on_every_call(sm120, mla):
    for pages in (4, 2, 4):
        with sm120.step("call") as step:
            split(sm120, mla, pages)
        [clear] = step.fills("zero_")
        [mark] = step.launches("_page_mark_kernel")
        assert clear.view.dtype == "int8" and clear.view.shape == (pages,)
        assert clear.view.covers(mark.args["mask_ptr"]) and clear.order < mark.order
    assert len(sm120.recording.allocations(dtype="int8")) == 1


def test_pool_of_64_token_pages_needs_no_scratch(sm120, mla):
    kv = sm120.tensor((4, 37440), dtype="uint8", device="cuda:0")
    assert mla._split_kv_pages_to_64(kv, 64) is kv
    assert sm120.recording.records() == []


def test_scratch_keeps_the_whole_contract(sm120, mla):
    sm120.check(
        Scratch(
            key=SPLIT,
            init="zeros",
            dtype="uint8",
            shape=lambda pages: (pages * 4, 37440),
            consumer="flashinfer-python<=0.6.18",
        ),
        drive=lambda size, device: split(sm120, mla, size, device),
    )


def test_source_allocates_bytes_once_zeroed_and_says_why(sm120):
    [alloc] = sm120.source(TARGET).allocations(dtype="uint8")
    assert alloc.call == "torch.zeros" and alloc.function == "_split_kv_pages_to_64"
    assert "slot 0" in alloc.comment
