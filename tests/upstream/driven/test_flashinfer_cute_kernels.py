"""FlashInfer's launches through what the CuTe DSL compiles, once for each shape and device."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.upstream.witness import piece

NORM = "flashinfer/gdn_kernels/qk_l2norm.py"
SCORES = "flashinfer/attn_scores/attn_scores.py"


class DiskCache:
    """Compiles each time it is asked, and keeps under which names it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, stem, name, compile_kernel, *, extra_key_files):
        self.asked.append((stem, name))
        return compile_kernel()


@pytest.fixture
def disk_cache():
    return DiskCache()


@pytest.fixture
def provided(disk_cache):
    return {"flashinfer.jit.cute_dsl_core.build_and_load_cute_dsl_kernel": disk_cache}


@pytest.fixture
def norm(load, provided):
    # The DSL would compile for the first device, which is of the generation in force.
    dsl = SimpleNamespace(envar=SimpleNamespace(arch="sm_120a"))
    provided["cutlass.cutlass_dsl.CuTeDSL._get_dsl"] = lambda: dsl
    parent = "flashinfer.gdn_kernels"
    return load(
        real=[f"{parent}.device_target", f"{parent}.cute_dsl_cache_naming"], provide=provided
    )


@pytest.mark.drives(NORM, "normalize_qk")
@pytest.mark.parametrize(
    ("dtype", "columns", "lanes", "vector", "rows"),
    [
        ("bfloat16", 128, 16, 8, 4),  # 8 elements are 16 bytes; a lane for 8, then 8 values each
        ("float16", 65, 16, 1, 4),  # odd rows are copied one by one; 9 lanes rounded up
        ("float32", 100, 16, 4, 4),
        ("bfloat16", 3072, 256, 8, 2),  # 384 lanes are 256 at most, with 16 values each
        ("bfloat16", 8192, 256, 8, 1),
    ],
)
def test_rows_of_query_and_key_are_normalized_by_one_compiled_kernel(
    norm, disk_cache, sm120, witness, dtype, columns, lanes, vector, rows
):
    q = witness.tensor("q", dtype, (3, 16, columns))
    k = witness.tensor("k", dtype, (3, 4, columns))
    returned = norm.normalize_qk(q, k)
    norm.normalize_qk(q, k)

    outputs = sm120.recording.allocations()
    assert [(each.call, each.dtype, each.shape) for each in outputs] == [
        ("torch.empty_like", dtype, (3, 16, columns)),
        ("torch.empty_like", dtype, (3, 4, columns)),
    ] * 2
    assert disk_cache.asked == [("gdn_qk_l2norm", f"qk_l2norm_{dtype}_{columns}_sm_120a")]
    shapes = [call.args[1] for call in sm120.recording.calls("make_fake_compact_tensor")]
    assert [shape[1] for shape in shapes] == [columns] * 4
    compiled, *launches = [call for call in sm120.recording.calls() if call.kernel == "_launch"]
    assert compiled.args[5:9] == (columns, lanes, vector, rows)
    # The rows of all tokens and heads: 3 x 16 and 3 x 4.
    witness.knows("q out", returned[0])
    witness.knows("k out", returned[1])
    assert len(launches) == 2 and witness.of(launches[0].args) == (
        piece("q", dtype, (48, columns)),
        piece("k", dtype, (12, columns)),
        piece("q out", dtype, (48, columns)),
        piece("k out", dtype, (12, columns)),
    )


@pytest.mark.drives(SCORES, "_gpu_schedule")
def test_schedule_is_compiled_for_32_rows_at_a_time(load, provided, disk_cache, sm120, witness):
    provided["flashinfer.utils.get_device_index"] = lambda device: device.index
    module = load(real=["flashinfer.attn_scores.kernels.schedule_kernel"], provide=provided)
    module._cached_gpu_arch = lambda index: "sm_120a"
    meta = witness.tensor("meta", "int32", (189, 2))
    for batch in (40, 64, 65):
        # The lengths of every other row, which are not copied.
        lengths = witness.tensor(f"{batch} lengths", "int32", (batch,), (2,))
        assert module._gpu_schedule(lengths, meta, 188) is None

    # 40 and 64 share a bucket; a page of scores is 256 wide.
    named = [f"sched_b{bucket}_split256_sms188_sm_120a" for bucket in (64, 96)]
    assert disk_cache.asked == [("attn_scores_schedule", name) for name in named]
    for compiled in sm120.recording.calls("cutlass.cute.compile"):
        assert compiled.kernel == "PagedMQALogitsScheduleKernel"
        assert compiled.kwargs == {"options": "--gpu-arch sm_120a --enable-tvm-ffi"}
    launches = sm120.recording.calls("cutlass.cute.compile()")
    assert [witness.of(launch.args) for launch in launches] == [
        (
            piece(f"{batch} lengths", "int32", (batch,), (2,)),
            piece("meta", "int32", (189, 2)),
            batch,
        )
        for batch in (40, 64, 65)
    ]
    assert sm120.recording.allocations() == []
