"""GPU architectures as data: what capability queries answer and what the hardware allows.

Sources: "Compute Capabilities" in the CUDA C++ Programming Guide 13.0 for the limits, the
products' data sheets for the number of SMs.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_sm120.errors import UsageError


class Arch(NamedTuple):
    """One compute capability, with the card that stands for it."""

    #: ``(major, minor)``, as ``torch.cuda.get_device_capability`` returns it.
    capability: tuple[int, int]
    #: The card whose numbers are used where a query asks for a device.
    card: str
    #: Streaming multiprocessors of that card.
    sm_count: int
    #: Largest shared memory of one block, after opting in.
    shared_memory_per_block_bytes: int
    #: Shared memory of one SM.
    shared_memory_per_sm_bytes: int
    #: Memory of that card.
    memory_bytes: int
    #: Registers (of 32 bits) of one SM: 64 Ki on every arch listed here.
    registers_per_sm: int = 65536
    #: Threads in a warp.
    warp_size: int = 32
    #: Largest number of threads in one block.
    max_threads_per_block: int = 1024
    #: Largest grid along x, y and z.
    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)

    @property
    def name(self) -> str:
        """The name with the prefix, e.g. ``"sm_120"``."""
        major, minor = self.capability
        return f"sm_{major}{minor}"


_KIB = 1024
_GIB = 1024**3

_TABLE = (
    Arch((8, 0), "A100 SXM 80 GB", 108, 163 * _KIB, 164 * _KIB, 80 * _GIB),
    Arch((8, 6), "GeForce RTX 3090", 82, 99 * _KIB, 100 * _KIB, 24 * _GIB),
    Arch((8, 9), "L40S", 142, 99 * _KIB, 100 * _KIB, 48 * _GIB),
    Arch((9, 0), "H100 SXM", 132, 227 * _KIB, 228 * _KIB, 80 * _GIB),
    Arch((10, 0), "B200", 148, 227 * _KIB, 228 * _KIB, 180 * _GIB),
    Arch((10, 3), "B300", 148, 227 * _KIB, 228 * _KIB, 270 * _GIB),
    Arch((12, 0), "RTX PRO 6000 Blackwell", 188, 99 * _KIB, 100 * _KIB, 96 * _GIB),
    Arch((12, 1), "GB10", 48, 99 * _KIB, 100 * _KIB, 128 * _GIB),
)
ARCHES = {arch.capability: arch for arch in _TABLE}

#: The arch that capability queries answer with unless a test or setting says otherwise.
DEFAULT_ARCH = ARCHES[12, 0]

# "sm_120", "sm120", "sm_120a", "sm_120f", "compute_120", "120" and "12.0" name the same capability.
_NAME = re.compile(r"(?:sm_?|compute_)?(\d{1,2})\.?(\d)[af]?", re.IGNORECASE)


def find_arch(spelling: str | tuple[int, int] | Arch) -> Arch:
    """Return the arch that ``"sm_120"``, ``"sm_120a"``, ``"12.0"`` or ``(12, 0)`` names.

    Raises UsageError when the spelling names no arch of the table.
    """
    if isinstance(spelling, Arch):
        return spelling
    capability = _capability_of(spelling)
    if capability in ARCHES:
        return ARCHES[capability]
    known = ", ".join(arch.name for arch in _TABLE)
    raise UsageError(
        f"{spelling!r} is not an arch that this version knows.",
        limit=f"Known are {known}, also spelled as sm_120a, 12.0 or (12, 0).",
        remedy="Use one of these in the marker's arch= or in the setting sm120_arch.",
    )


def _capability_of(spelling: object) -> tuple[int, int] | None:
    if isinstance(spelling, str):
        found = _NAME.fullmatch(spelling.strip())
        return (int(found[1]), int(found[2])) if found else None
    if isinstance(spelling, (tuple, list)) and len(spelling) == 2:
        return tuple(spelling)
    return None
