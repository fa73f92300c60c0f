"""FlashInfer's launches through modules that are compiled from C++ on first use."""

from __future__ import annotations

import pytest

from tests.upstream.witness import built, called, made, ordered, piece

PAGE = "flashinfer/page.py"
PACKBITS = "flashinfer/quantization/packbits.py"
CONCAT = "flashinfer/concat_ops.py"
GDN = "flashinfer/gdn_kernels/experimental/kernel/gdn_fused_decode_cuda_sm120_persistent.py"


@pytest.mark.drives(PAGE, "_append_paged_kv_cache_kernel")
def test_pages_are_appended_to_with_indices_of_32_bits(load, witness):
    module = load()
    tables = {
        "batch": witness.tensor("batch", "int32", (9,)),
        "positions": witness.tensor("positions", "int32", (9,)),
        "indices": witness.tensor("indices", "int32", (40,)),
        "indptr": witness.tensor("indptr", "int32", (4,)),
        "last": witness.tensor("last", "int32", (3,)),
    }
    key = witness.tensor("key", "bfloat16", (9, 4, 128))
    value = witness.tensor("value", "bfloat16", (9, 4, 128))
    # A pool of pages that holds K and V of each page side by side.
    strides = (16384, 512, 128, 1)
    pages = [witness.tensor(name, "bfloat16", (40, 16, 4, 128), strides) for name in ("k", "v")]
    batch, positions, *table = tables.values()
    for _ in range(2):
        module._append_paged_kv_cache_kernel(key, value, batch, positions, *pages, *table, 0)
    compiled, build = built("flashinfer.jit.page.gen_page_module")
    launch = called(
        f"{compiled}.append_paged_kv_cache",
        piece("key", "bfloat16", (9, 4, 128)),
        piece("value", "bfloat16", (9, 4, 128)),
        piece("batch", "int32", (9,)),
        piece("positions", "int32", (9,)),
        piece("k", "bfloat16", (40, 16, 4, 128), strides),
        piece("v", "bfloat16", (40, 16, 4, 128), strides),
        piece("indices", "int32", (40,)),
        piece("indptr", "int32", (4,)),
        piece("last", "int32", (3,)),
        0,
    )
    witness.saw(*build, launch, launch)


@pytest.mark.drives(PACKBITS, "_packbits")
@pytest.mark.parametrize(("bits", "packed"), [(16, 2), (17, 3)])
def test_bits_are_packed_into_bytes_rounded_up(load, witness, bits, packed):
    module = load()
    x = witness.tensor("x", "bool", (bits,))
    returned = module._packbits(x, "little")
    compiled, build = built("flashinfer.jit.quantization.gen_quantization_module")
    witness.saw(
        made("packed", "torch.empty", "uint8", (packed,)),
        *build,
        called(
            f"{compiled}.packbits",
            piece("x", "bool", (bits,)),
            "little",
            piece("packed", "uint8", (packed,)),
        ),
    )
    assert witness.of(returned) == piece("packed", "uint8", (packed,))


@pytest.mark.drives(CONCAT, "concat_mla_k")
def test_keys_are_concatenated_into_the_tensor_of_the_caller(load, witness):
    module = load()
    k = witness.tensor("k", "bfloat16", (7, 128, 192))
    nope = witness.tensor("nope", "bfloat16", (7, 128, 128), (32768, 256, 1))
    rope = witness.tensor("rope", "bfloat16", (7, 1, 64))
    assert module.concat_mla_k(k, nope, rope) is None
    compiled, build = built("flashinfer.jit.dsv3_optimizations.gen_concat_mla_module")
    witness.saw(
        *build,
        called(
            f"{compiled}.concat_mla_k",
            piece("k", "bfloat16", (7, 128, 192)),
            piece("nope", "bfloat16", (7, 128, 128), (32768, 256, 1)),
            piece("rope", "bfloat16", (7, 1, 64)),
        ),
    )


@pytest.mark.drives(GDN, "execute")
def test_decode_step_shares_barrier_and_scratch_and_waits_for_the_other_stream(
    load, sm120, witness
):
    module = load(real=["flashinfer.gdn_kernels.experimental.kernel._stream_order"])
    # 16 heads of Q and K and 32 of V, all of 128: 2 x 16 x 128 + 32 x 128 = 8192.
    inputs = {
        "hidden": ("bfloat16", (2, 2048)),
        "w_ba": ("bfloat16", (2048, 64)),
        "mixed": ("bfloat16", (2, 8192)),
        "weight": ("bfloat16", (8192, 4)),
        "bias": ("bfloat16", (8192,)),
        "conv": ("bfloat16", (10, 8192, 3)),
        "a_log": ("float32", (32,)),
        "dt_bias": ("float32", (32,)),
        "state": ("float32", (10, 32, 128, 128)),
        "slots": ("int32", (2,)),
    }
    tensors = [witness.tensor(name, *spec) for name, spec in inputs.items()]
    *before, state, slots = tensors
    output, conv, ssm = module.execute(*before, 0.5, state, slots)
    with sm120.session.other_stream():
        module.execute(*before, 0.5, state, slots, output)
    assert conv is tensors[5] and ssm is state and module.launch_count() == 2
    geometry = (2048, 64, 8192, 16, 32, 128, 4, 3)
    key = f"_scratch_cache[({geometry}, 2, 8192, 'cuda:0')]"
    compiled, build = built(
        "flashinfer.jit.gdn_fused_decode.gen_gdn_fused_decode_module", *geometry
    )
    launch = called(
        f"{compiled}.gdn_fused_decode",
        *(piece(name, *spec) for name, spec in inputs.items()),
        piece("out", "bfloat16", (2, 1, 32, 128)),
        piece("conv out", "bfloat16", (2, 8192)),
        piece("partials", "float32", (20480,)),
        piece("barrier", "int32", (2,)),
        0.5,
    )
    witness.saw(
        *build,
        made("out", "torch.empty", "bfloat16", (2, 1, 32, 128)),
        made("conv out", "torch.empty", "bfloat16", (2, 8192), kept=f"{key}[0]"),
        made("partials", "torch.empty", "float32", (20480,), kept=f"{key}[1]"),  # 160 x 2 x 64
        made("barrier", "torch.zeros", "int32", (2,), kept="_barrier_cache['cuda:0']"),
        launch,
        # The second waits for an event that is recorded on the stream of the first.
        ordered("record_event").under("other stream"),
        ordered("wait_event").under("other stream"),
        launch.under("other stream"),
    )
