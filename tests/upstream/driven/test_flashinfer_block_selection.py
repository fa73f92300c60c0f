"""FlashInfer's choice of 16 key blocks on sm_120: which kernel, which scratch, which scalars."""

from __future__ import annotations

import pytest

from tests.upstream.witness import piece

SELECT = "flashinfer/msa_ops/sparse_topk_select.py"
PARENT = "flashinfer.msa_ops"


@pytest.fixture
def select(load):
    kernels = [f"{PARENT}.cute_dsl.topk_select_{name}_sm12x" for name in KERNELS]
    return load(real=["flashinfer.utils", f"{PARENT}._blackwell_sm100", *kernels]).msa_topk_select


KERNELS = {
    "chunked": "TopKSelectChunkedSm12x",
    "countrank": "TopKSelectCountRankSm12x",
    "radix": "TopKSelectRadixSm12x",
}


def allocated(sm120):
    return [
        (each.call, each.dtype, each.shape, each.device) for each in sm120.recording.allocations()
    ]


@pytest.mark.drives(SELECT, "msa_topk_select")
@pytest.mark.parametrize(
    ("valid", "chunks", "length"),
    [(35, 2, 17), (200, 4, 50), (1200, 16, 75)],
    ids=["at least two", "64 in each", "at most sixteen"],
)
def test_blocks_are_ranked_in_chunks_with_one_scratch_for_keys_and_indices(
    select, sm120, witness, valid, chunks, length
):
    scores = witness.tensor("scores", "float32", (8, 2000, 10))
    out = select(scores, 16, valid, force_begin_blocks=1, force_end_blocks=1)
    width = chunks * 16
    assert allocated(sm120) == [
        ("torch.zeros", "int32", (1,), "cuda:0"),  # stands for counts that are not given
        ("torch.empty", "int32", (10, 8, 16), "cuda:0"),
        ("torch.empty", "int32", (2, 10, 8, width), "cuda:0"),
    ]
    witness.knows("out", out)
    [launch] = sm120.recording.calls("cutlass.cute.compile()")
    assert launch.kernel == KERNELS["chunked"]
    keys, indices = launch.args[1:3]
    assert keys.shares_storage_with(sm120.recording.allocations()[2])
    for view, first in ((keys, 0), (indices, 10 * 8 * width * 4)):
        assert view.shape == (10, 8, width) and view.byte_range[0] == first
    assert (witness.of(launch.args[0]), witness.of(launch.args[3])) == (
        piece("scores", "float32", (8, 2000, 10)),
        piece("out", "int32", (10, 8, 16)),
    )
    # Without the two that are always chosen, valid - 2 are shared out.
    assert launch.args[4:] == (valid, 1, 1, chunks, length, 10, 8)


@pytest.mark.drives(SELECT, "msa_topk_select")
@pytest.mark.parametrize(
    ("heads", "tiles", "queries", "valid", "kernel"),
    [
        (8, 300, 10, 32, "countrank"),  # too few for chunks
        (32, 300, 40000, None, "radix"),  # a scratch of 819 MB, and more than 128 blocks
        (8, 2049, 10, None, "radix"),  # more than 16 chunks of 128
    ],
)
def test_blocks_that_do_not_suit_chunks_are_ranked_by_one_kernel(
    select, sm120, witness, heads, tiles, queries, valid, kernel
):
    scores = witness.tensor("scores", "float32", (heads, tiles, queries))
    for _ in range(2):
        witness.knows("out", select(scores, 16, valid))
    # What stands for the counts is made once.
    assert [shape for _, _, shape, _ in allocated(sm120)] == [
        (1,),
        (queries, heads, 16),
        (queries, heads, 16),
    ]
    _, launch = sm120.recording.calls("cutlass.cute.compile()")
    assert launch.kernel == KERNELS[kernel]
    assert witness.of(launch.args[:2]) == (
        piece("scores", "float32", (heads, tiles, queries)),
        piece("out", "int32", (queries, heads, 16)),
    )
    assert launch.args[2].shares_storage_with(sm120.recording.allocations()[0])
    assert launch.args[3:] == (valid or tiles, 0, 0, queries, heads)


@pytest.mark.drives(SELECT, "msa_topk_select")
@pytest.mark.parametrize(("tiles", "kernel"), [(128, "countrank"), (129, "radix")])
def test_counts_of_each_token_stay_on_the_device(select, sm120, witness, tiles, kernel):
    scores = witness.tensor("scores", "float32", (4, tiles, 10))
    counts = witness.tensor("counts", "int32", (10,))
    out = witness.tensor("out", "int32", (10, 4, 16))
    assert select(scores, 16, counts, out, force_end_blocks=2) is out
    assert allocated(sm120) == []
    [launch] = sm120.recording.calls("cutlass.cute.compile()")
    assert launch.kernel == KERNELS[kernel]
    assert witness.of(launch.args) == (
        piece("scores", "float32", (4, tiles, 10)),
        piece("out", "int32", (10, 4, 16)),
        piece("counts", "int32", (10,)),
        0,  # the one count for all is not looked at
        0,
        2,
        10,
        4,
    )
