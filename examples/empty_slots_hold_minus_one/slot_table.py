"""Keeps, for each request, the slots of its tokens; -1 marks a slot that holds no token.

Zero would not do: 0 is the index of a real slot, and the kernel that reads the table skips only
what is negative.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _append_slots(table_ptr, slots_ptr, lengths_ptr, width, BLOCK: tl.constexpr):
    request = tl.program_id(0)
    length = tl.load(lengths_ptr + request)
    lane = tl.arange(0, BLOCK)
    slot = tl.load(slots_ptr + request * width + lane, mask=lane < length, other=-1)
    tl.store(table_ptr + request * width + lane, slot, mask=lane < length)


class SlotTable:
    """One table for each device, grown when there are more requests than ever before."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.tables: dict[torch.device, torch.Tensor] = {}

    def _table(self, requests: int, device: torch.device) -> torch.Tensor:
        table = self.tables.get(device)
        if table is None or table.shape[0] < requests:
            with torch.inference_mode(False):
                table = torch.full((requests, self.width), -1, dtype=torch.int32, device=device)
            self.tables[device] = table
        return table[:requests]

    def append(self, slots: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the table of the requests, cleared and filled with the given slots."""
        table = self._table(slots.shape[0], slots.device)
        table.fill_(-1)
        _append_slots[(slots.shape[0],)](table, slots, lengths, self.width, BLOCK=64)
        return table
