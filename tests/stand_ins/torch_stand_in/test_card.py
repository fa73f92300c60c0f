"""What torch.cuda answers about the card of each arch."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sm120.arch import ARCHES, Arch
from tests.stand_ins.bench import Bench


@pytest.mark.parametrize("arch", ARCHES.values(), ids=lambda arch: arch.name)
def test_properties_come_from_the_table(tmp_path: Path, arch: Arch) -> None:
    bench = Bench(tmp_path, arch)
    try:
        cuda = bench.load("import torch").torch.cuda
        found = cuda.get_device_properties(0)
        assert (found.name, found.major, found.minor) == (arch.card, *arch.capability)
        assert found.multi_processor_count == arch.sm_count
        assert found.shared_memory_per_block_optin == arch.shared_memory_per_block_bytes
        assert found.shared_memory_per_multiprocessor == arch.shared_memory_per_sm_bytes
        assert found.max_threads_per_multi_processor == arch.max_threads_per_sm
        assert found.L2_cache_size == arch.l2_cache_bytes
        assert found.is_integrated == (arch.name in ("sm_87", "sm_110", "sm_121"))
        assert cuda.mem_get_info() == (arch.memory_bytes, arch.memory_bytes)
        assert cuda.get_arch_list() == [arch.name]
    finally:
        bench.close()
