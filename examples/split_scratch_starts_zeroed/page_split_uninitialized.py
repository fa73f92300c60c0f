"""The same as page_split.py, but the scratch starts with whatever the allocator recycled.

Only pages that a query refers to are copied. The consumer gathers slot 0 for every padding index
and masks the score afterwards, so slot 0 has to hold finite numbers from the first call on.
"""

import torch
import triton
import triton.language as tl

LARGE_PAGE = 128
SMALL_PAGE = 32
ROW_BYTES = 72
RATIO = LARGE_PAGE // SMALL_PAGE

_scratch = {}


@triton.jit
def _copy_referenced_pages(
    source_ptr, target_ptr, referenced_ptr, page_bytes, RATIO: tl.constexpr, BLOCK: tl.constexpr
):
    program = tl.program_id(0)
    page = program // RATIO
    if tl.load(referenced_ptr + page) == 0:
        return
    start = program.to(tl.int64) * page_bytes
    for offset in range(0, page_bytes, BLOCK):
        lane = offset + tl.arange(0, BLOCK)
        inside = lane < page_bytes
        row = tl.load(source_ptr + start + lane, mask=inside, other=0)
        tl.store(target_ptr + start + lane, row, mask=inside)


def split_pages(pages, referenced):
    """Return (small pages, 32 * 72) uint8, a view of the scratch of the pages' device."""
    small_pages = pages.shape[0] * RATIO
    page_bytes = SMALL_PAGE * ROW_BYTES
    key = ("split", pages.device)
    scratch = _scratch.get(key)
    if scratch is None or scratch.shape[0] < small_pages:
        with torch.inference_mode(False):
            scratch = torch.empty((small_pages, page_bytes), dtype=torch.uint8, device=pages.device)
        _scratch[key] = scratch
    view = scratch[:small_pages]
    _copy_referenced_pages[(small_pages,)](pages, view, referenced, page_bytes, RATIO, BLOCK=1024)
    return view
