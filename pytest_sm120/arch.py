"""GPU architectures as data: what capability queries answer and what the hardware allows.

Sources: the table "Technical Specifications per Compute Capability" in the CUDA C++ Programming
Guide 13.0 for the limits. SMs and L2 cache of a card: beside its line, what was read or that no
source was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pytest_sm120.errors import UsageError


class Arch(NamedTuple):
    """One compute capability, with the card that stands for it."""

    #: ``(major, minor)``, as ``torch.cuda.get_device_capability`` returns it.
    capability: tuple[int, int]
    #: The card whose numbers are used where a query asks for a device.
    card: str
    #: Streaming multiprocessors of that card.
    sm_count: int
    #: Largest shared memory of one block, after opting in: 1 KiB less than an SM has, which the
    #: system keeps for each block (guide, "Shared Memory" of each arch).
    shared_memory_per_block_bytes: int
    #: Shared memory of one SM (guide, "Maximum amount of shared memory per SM").
    shared_memory_per_sm_bytes: int
    #: Memory of that card, as its data sheet has it.
    memory_bytes: int
    #: L2 cache of that card.
    l2_cache_bytes: int
    #: Largest number of blocks on one SM (guide, "Maximum number of resident blocks per SM").
    max_blocks_per_sm: int
    #: Largest number of threads on one SM (guide, "Maximum number of resident threads per SM").
    max_threads_per_sm: int
    #: Whether the card shares the host's memory.
    is_integrated: bool = False
    #: Registers (of 32 bits) of one SM: 64 Ki on every arch listed here (guide).
    registers_per_sm: int = 65536
    #: Registers that one block may have (guide: 64 Ki on every arch listed here).
    registers_per_block: int = 65536
    #: Registers that one thread may have (guide).
    registers_per_thread: int = 255
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

_MIB = 1024**2

# Each line: capability, card, SMs, shared memory of a block and of an SM, memory, L2 cache, blocks
# and threads of an SM.
_TABLE = (
    # deviceQuery of the 40 GB card: 108 SMs; an article that compares B200 with it: 40 MB of L2.
    Arch((8, 0), "A100 SXM 80 GB", 108, 163 * _KIB, 164 * _KIB, 80 * _GIB, 40 * _MIB, 32, 2048),
    # deviceQuery: 82 SMs, 6291456 bytes of L2.
    Arch((8, 6), "GeForce RTX 3090", 82, 99 * _KIB, 100 * _KIB, 24 * _GIB, 6 * _MIB, 16, 1536),
    # A summary of the technical brief of Jetson AGX Orin: 16 SMs, 4 MB of L2.
    Arch((8, 7), "Orin", 16, 163 * _KIB, 164 * _KIB, 64 * _GIB, 4 * _MIB, 16, 1536, True),
    # A dealer's table: 142 SMs. The L2 is that of L40, the same chip, which has 96 MiB according to
    # arXiv 2606.22588; the dealer's table has 48 MB.
    Arch((8, 9), "L40S", 142, 99 * _KIB, 100 * _KIB, 48 * _GIB, 96 * _MIB, 24, 1536),
    # The article named at A100: 50 MB of L2. The 132 SMs are unconfirmed.
    Arch((9, 0), "H100 SXM", 132, 227 * _KIB, 228 * _KIB, 80 * _GIB, 50 * _MIB, 32, 2048),
    # Device query in pull request 4002 of pytorch/ao: 148 SMs, 126.5 MB of L2.
    Arch((10, 0), "B200", 148, 227 * _KIB, 228 * _KIB, 180 * _GIB, 253 * _MIB // 2, 32, 2048),
    # Unconfirmed: SMs and L2 are taken to be those of B200.
    Arch((10, 3), "B300", 148, 227 * _KIB, 228 * _KIB, 270 * _GIB, 253 * _MIB // 2, 32, 2048),
    # Jetson Thor data sheet: 2560 cores in 20 SMs; TVM's target tag for it: 32 MiB of L2.
    Arch((11, 0), "Thor", 20, 227 * _KIB, 228 * _KIB, 128 * _GIB, 32 * _MIB, 24, 1536, True),
    # RTX PRO 6000 Blackwell data sheet: 24064 cores in 188 SMs; white paper of GB202: 128 MB of L2.
    Arch(
        *((12, 0), "RTX PRO 6000 Blackwell", 188),
        *(99 * _KIB, 100 * _KIB, 96 * _GIB, 128 * _MIB, 24, 1536),
    ),
    # deviceQuery: 48 SMs, 25165824 bytes of L2.
    Arch((12, 1), "GB10", 48, 99 * _KIB, 100 * _KIB, 128 * _GIB, 24 * _MIB, 24, 1536, True),
)
ARCHES = {arch.capability: arch for arch in _TABLE}

#: The arch that capability queries answer with unless a test or setting says otherwise.
DEFAULT_ARCH = ARCHES[12, 0]

# "sm_120", "sm120", "sm_120a", "sm_120f", "compute_120", "120" and "12.0" name the same capability.
# Text, since a run that names no arch need not compile it.
_NAME = r"(?i:sm_?|compute_)?(\d{1,2})\.?(\d)[afAF]?"


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


def find_arches(given: object) -> tuple[Arch, ...]:
    """Return the arches of one spelling, a list of them or a mapping's keys, each once.

    ``(12, 0)`` is one arch. Raises UsageError for an unknown or an empty one.
    """
    spellings: Any = given if is_several_arches(given) else (given,)
    found = tuple(dict.fromkeys(find_arch(spelling) for spelling in spellings))
    if found:
        return found
    raise UsageError(
        f"No arch is named: {given!r}.",
        limit="A test that runs for no arch shows nothing.",
        remedy='Name one, e.g. "sm_120"; sm120.for_each_arch() stands for all.',
    )


def is_several_arches(given: object) -> bool:
    """Return whether this is a list of arches or a mapping of them, rather than one spelling."""
    if isinstance(given, Mapping):
        return True
    is_list = isinstance(given, (list, tuple)) and not isinstance(given, Arch)
    return is_list and [type(part) for part in given] != [int, int]  # type: ignore[attr-defined]  # a list


def _capability_of(spelling: object) -> tuple[int, int] | None:
    if isinstance(spelling, str):
        found = re.fullmatch(_NAME, spelling.strip())
        return (int(found[1]), int(found[2])) if found else None
    if isinstance(spelling, (tuple, list)) and len(spelling) == 2:
        return tuple(spelling)
    return None
