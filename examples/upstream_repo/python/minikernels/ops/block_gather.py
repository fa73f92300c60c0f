"""Gathers the blocks that a batch refers to into one persistent buffer for each device."""

import torch
import triton
import triton.language as tl

from minikernels.platform import is_hip

from ..runtime.context import get_resources

_is_hip = is_hip()
BLOCK_BYTES = 2048


@triton.jit
def _gather_kernel(pool_ptr, out_ptr, table_ptr, n_blocks, BLOCK_BYTES: tl.constexpr):
    block = tl.program_id(0)
    source = tl.load(table_ptr + block).to(tl.int64)
    if source < 0:
        return
    lane = tl.arange(0, BLOCK_BYTES)
    data = tl.load(pool_ptr + source * BLOCK_BYTES + lane)
    tl.store(out_ptr + block.to(tl.int64) * BLOCK_BYTES + lane, data)


def gather_blocks(pool, table):
    """Return (blocks, 2048) uint8; rows whose table entry is -1 keep what they held."""
    if _is_hip:
        raise NotImplementedError("gather_blocks has no HIP path")
    count = table.numel()
    buffers = get_resources().buffers
    key = f"gathered:{pool.device}"
    gathered = buffers.get(key)
    if gathered is None or gathered.shape[0] < count:
        with torch.inference_mode(False):
            # blockreader up to 2.0 multiplies rows of absent blocks by 0: they must be finite.
            gathered = torch.zeros(count, BLOCK_BYTES, dtype=torch.uint8, device=pool.device)
        buffers[key] = gathered
    out = gathered[:count]
    _gather_kernel[(count,)](pool, out, table, count, BLOCK_BYTES=BLOCK_BYTES, num_warps=8)
    return out
