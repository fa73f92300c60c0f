"""Writes docs/arches.md from the table: python -m tests.tables.write_arches, in the checkout."""

from __future__ import annotations

from pathlib import Path

from pytest_sm120.arch import ARCHES, Arch

_HEAD = """\
# Arches

What capability queries answer, and what the hardware allows, for each arch that a test may name.
This page is written from `pytest_sm120/arch.py`, which says where the SMs and the L2 cache of each
card are from, or that they are unconfirmed. Every arch has warps of {warp_size} threads,
{max_threads_per_block} threads in a block, {registers_per_sm} registers in a block and in an SM,
{registers_per_thread} in a thread, and a largest grid of {max_grid}.

Shared memory is in KiB, the L2 cache in MiB, the card's memory in GiB.

| arch | card | SMs | shared/block | shared/SM | blocks/SM | threads/SM | L2 | memory |
|---|---|---|---|---|---|---|---|---|
"""


def write_page() -> str:
    """Return the text of the page."""
    first = next(iter(ARCHES.values()))
    return _HEAD.format(**first._asdict()) + "".join(map(_row, ARCHES.values()))


def _row(arch: Arch) -> str:
    shared = arch.shared_memory_per_block_bytes >> 10, arch.shared_memory_per_sm_bytes >> 10
    sizes = f"{arch.l2_cache_bytes / 2**20:g}", arch.memory_bytes >> 30
    limits = arch.max_blocks_per_sm, arch.max_threads_per_sm
    cells = [f"`{arch.name}`", arch.card, arch.sm_count, *shared, *limits, *sizes]
    return "| " + " | ".join(map(str, cells)) + " |\n"


if __name__ == "__main__":
    Path("docs/arches.md").write_text(write_page(), encoding="utf-8")
