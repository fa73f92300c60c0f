import unittest

import pytest

from pytest_sm120 import Scratch

TARGET = "minikernels/ops/block_gather.py"  # relative to sm120_root


def gather(sm120, module, blocks, device="cuda:0"):
    pool = sm120.tensor((64, 2048), dtype="uint8", device=device)
    table = sm120.values([5] * (blocks - 1) + [-1], dtype="int32", device=device)
    return module.gather_blocks(pool, table)


def test_buffer_starts_zeroed_and_is_kept_for_each_device(sm120):
    module = sm120.load(TARGET)
    sm120.check(
        Scratch(
            key="gathered:{device}",
            init="zeros",
            dtype="uint8",
            shape=lambda blocks: (blocks, 2048),
            consumer="blockreader<=2.0",
        ),
        drive=lambda blocks, device: gather(sm120, module, blocks, device),
    )


@pytest.mark.sm120(arch="sm_120")
def test_capability_queries_answer_for_the_arch_of_the_marker(sm120):
    module = sm120.load(TARGET)
    assert sm120.arch.name == "sm_120"
    assert module.torch.cuda.get_device_capability() == (12, 0)


@pytest.mark.sm120
class BlockGatherTest(unittest.TestCase):
    def setUp(self):
        self.module = self.sm120.load(TARGET)

    def test_one_program_copies_one_block(self):
        out = gather(self.sm120, self.module, blocks=3)
        [launch] = self.sm120.recording.launches("_gather_kernel")
        self.assertEqual(launch.grid, (3,))
        self.assertEqual(launch.num_warps, 8)
        self.assertEqual(tuple(out.shape), (3, 2048))
