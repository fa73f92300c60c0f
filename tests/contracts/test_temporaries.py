"""A later call that works in a temporary, though a buffer is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_sm120.contracts import check
from pytest_sm120.errors import ContractBroken
from tests.contracts.fake_targets import CONTRACT, FakeBench, FakeTensor

BORN_ANYWHERE = replace(CONTRACT, allow_inference=True)


def keeper(bench: FakeBench, later: Callable[[FakeTensor, int, str], FakeTensor]):
    """Return a drive that keeps a buffer and launches with what ``later`` makes of it."""
    buffers = bench.registry()

    def drive(size: int, device: str) -> None:
        kept = buffers.get(f"split:{device}")
        if kept is None or kept.view.shape[0] < size * 4:
            kept = buffers[f"split:{device}"] = bench.allocate(
                "torch.zeros", (size * 4, 16), device=device, fill=0
            )
            bench.launch("kernel", out=kept)
        else:
            bench.launch("kernel", out=later(kept, size, device))

    return drive


def test_temporary_in_place_of_the_kept_buffer_breaks_reuse():
    bench = FakeBench()

    def later(kept, size, device):
        return bench.allocate("torch.empty", (size * 4, 16), device=device)

    drive = keeper(bench, later)
    with pytest.raises(ContractBroken) as caught:
        check(BORN_ANYWHERE, drive, bench=bench, sizes=[4, 4], devices=["cuda:0"])
    same, back = [line for line in str(caught.value).splitlines() if line[:1].isdigit()]
    made = bench.recording.allocations("torch.empty")[0]
    launch = bench.recording.launches()[1]
    assert same == (
        f"1. reuse on same size: {made.site}: allocate allocates uint8[16, 16] on cuda:0 with"
        ' torch.empty in the step "same" (size 4 on cuda:0), and launches kernel with it'
        f" ({launch.site}), though 256 bytes in the shape (16, 16) were kept. A persistent buffer"
        " that later calls do not use is memory for nothing. Take the buffer that is kept under the"
        " key."
    )
    assert back.startswith("2. reuse under capture: ")


@pytest.mark.parametrize(
    "later",
    [
        lambda bench: lambda kept, size, device: kept,
        lambda bench: lambda kept, size, device: bench.allocate("torch.empty", (2, 2)),
        lambda bench: lambda kept, size, device: bench.allocate("torch.empty", (64,), "int32"),
    ],
    ids=["kept", "smaller", "another dtype"],
)
def test_other_tensors_of_a_later_call_break_nothing(later):
    bench = FakeBench()
    drive = keeper(bench, later(bench))
    assert not check(BORN_ANYWHERE, drive, bench=bench, sizes=[4, 4], devices=["cuda:0"]).findings
