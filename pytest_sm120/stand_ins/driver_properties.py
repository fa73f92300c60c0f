"""What Triton's driver says about the card: ``utils.get_device_properties(device)``."""

from __future__ import annotations

from pytest_sm120.arch import Arch


class DriverProperties(dict[str, int]):
    """The properties by the keys of Triton's driver; KeyError says which are known."""

    def __init__(self, arch: Arch) -> None:
        super().__init__(
            max_shared_mem=arch.shared_memory_per_block_bytes,
            max_num_regs=arch.registers_per_block,
            multiprocessor_count=arch.sm_count,
            warpSize=arch.warp_size,
        )
        self._arch = arch

    def __missing__(self, key: object) -> int:
        raise KeyError(
            f"Triton's driver was asked for {key!r} of {self._arch.name}. The table of arches has "
            f"only {', '.join(self)}, since clocks and bus widths differ from card to card. Ask "
            "for one of these, or provide= what the code computes from it."
        )
