"""When memory is given up: nothing refers to it any more, or it moved."""

from __future__ import annotations


def test_storage_is_freed_with_the_last_view_of_it(torch, execution):
    recording = execution.recording
    buffer = torch.empty(8)
    view = buffer[2:4]
    [allocation] = recording.allocations()
    del buffer
    assert recording.freed_at(allocation) is recording.freed_at(view) is None
    torch.empty(1)
    del view
    later = torch.empty(1)
    assert recording.freed_at(allocation) == 2
    assert [one.order for one in recording.allocations()] == [0, 1, 2]
    assert recording.freed_at(later) is None


def test_old_memory_is_freed_when_resizing_needs_more(torch, execution):
    tensor = torch.zeros(4)
    address = tensor.data_ptr()
    tensor.resize_(16)
    old, new = execution.recording.allocations()
    assert (new.call, new.bytes, new.uninitialized) == ("Tensor.resize_", 64, True)
    assert not new.shares_storage_with(old) and new.shares_storage_with(tensor)
    assert execution.recording.freed_at(old) == 1
    assert execution.recording.freed_at(new) is None
    assert tensor.data_ptr() != address


def test_memory_stays_when_resizing_needs_no_more(torch, execution):
    tensor = torch.zeros(4)
    tensor.resize_(2)
    [allocation] = execution.recording.allocations()
    assert allocation.shares_storage_with(tensor)
