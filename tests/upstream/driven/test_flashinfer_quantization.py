"""FlashInfer's quantization: how large the scales are in each layout, and what is cleared."""

from __future__ import annotations

import pytest

from tests.upstream.witness import built, called, made, piece

FP8 = "flashinfer/quantization/fp8_quantization.py"
PACKBITS = "flashinfer/quantization/packbits.py"
PAGE = "flashinfer/page.py"
REAL = ["flashinfer.utils", "flashinfer.tllm_enums"]


@pytest.mark.drives(FP8, "get_mxfp8_quantization_sm100_module")
@pytest.mark.parametrize(
    ("layout", "number", "scales"),
    [
        # 130 rows and 1000 columns, which are padded to 1024: 32 scales a row.
        ("layout_128x4", 0, 8192),  # 256 rows of 32
        ("layout_8x4", 1, 4352),  # 136 rows of 32
        ("layout_linear", 2, 4160),  # no row more
    ],
)
def test_quantized_rows_are_padded_and_so_are_their_scales(load, witness, layout, number, scales):
    module = load(real=REAL)
    x = witness.tensor("x", "bfloat16", (2, 65, 1000))
    operators = module.get_mxfp8_quantization_sm100_module()
    which = getattr(module.SfLayout, layout)
    returned = operators.mxfp8_quantize_sm100(x, which, 64, enable_pdl=True)
    compiled, build = built("flashinfer.jit.fp8_quantization.gen_mxfp8_quantization_sm100_module")
    quantized = piece("values", "float8_e4m3fn", (2, 65, 1024))
    witness.saw(
        *build,
        made("values", "torch.empty", "float8_e4m3fn", (2, 65, 1024)),
        made("scales", "torch.empty", "uint8", (scales,)),
        called(
            f"{compiled}.mxfp8_quantize",
            piece("x", "bfloat16", (2, 65, 1000)),
            quantized,
            piece("scales", "uint8", (scales,)),
            number,
            64,
            True,
        ),
    )
    assert witness.of(returned) == (quantized, piece("scales", "uint8", (scales,)))


@pytest.mark.drives(FP8, "get_mxfp8_quantization_sm100_module")
def test_scales_are_cleared_on_the_host_only(load, witness):
    module = load(real=REAL)
    x = witness.tensor("x", "bfloat16", (3, 64), device="cpu")
    quantize = module.get_mxfp8_quantization_sm100_module().mxfp8_quantize_sm100
    returned = quantize(x, module.SfLayout.layout_128x4)
    compiled, build = built("flashinfer.jit.fp8_quantization.gen_mxfp8_quantization_sm100_module")
    # 128 rows of 4 scales, of which 3 rows of 2 are written.
    values, scales = piece("values", "uint8", (3, 64)), piece("scales", "uint8", (512,))
    witness.saw(
        *build,
        made("values", "torch.empty", "uint8", (3, 64), device="cpu"),
        made("scales", "torch.zeros", "uint8", (512,), device="cpu"),
        called(
            f"{compiled}.mxfp8_quantize_host",
            piece("x", "bfloat16", (3, 64)),
            values,
            scales,
            0,
        ),
    )
    assert witness.of(returned) == (values, scales)


@pytest.mark.drives(PACKBITS, "segment_packbits")
def test_each_segment_of_bits_starts_at_a_byte(load, sm120, witness):
    module = load()
    x = witness.tensor("x", "bool", (28,))
    # Segments of 9, 0 and 19 bits take 2, 0 and 3 bytes.
    indptr = witness.values("indptr", "int64", [0, 9, 9, 28], device="cuda:0")
    packed, starts = module.segment_packbits(x, indptr, "little")
    witness.knows("packed", packed)
    witness.knows("starts", starts)
    compiled, _ = built("flashinfer.jit.quantization.gen_quantization_module")
    [launch] = sm120.recording.calls(f"{compiled}.segment_packbits")
    x_given, given, *rest = launch.args
    assert (given.dtype, given.shape) == ("int32", (4,))
    assert witness.of((x_given, *rest)) == (
        piece("x", "bool", (28,)),
        piece("starts", "int32", (4,)),
        "little",
        piece("packed", "uint8", (5,)),
    )
    [bits] = sm120.recording.allocations("torch.empty")
    assert (bits.dtype, bits.shape, bits.device) == ("uint8", (5,), "cuda:0")
    [cleared] = sm120.recording.allocations("torch.zeros")
    assert (cleared.dtype, cleared.shape) == ("int64", (4,))  # the first start stays zero


@pytest.mark.drives(PAGE, "_append_paged_mla_kv_cache_kernel")
def test_mla_pages_are_appended_to_with_indices_cut_to_32_bits(load, witness):
    module = load()
    ckv = witness.tensor("ckv", "bfloat16", (9, 512))
    kpe = witness.tensor("kpe", "bfloat16", (9, 64))
    sizes = {"batch": 9, "positions": 9, "indices": 40, "indptr": 4, "last": 3}
    batch, positions, *tables = (
        witness.tensor(f"wide {name}", "int64", (size,)) for name, size in sizes.items()
    )
    ckv_cache = witness.tensor("ckv cache", "bfloat16", (40, 16, 512), (9216, 576, 1))
    kpe_cache = witness.tensor("kpe cache", "bfloat16", (40, 16, 64), (9216, 576, 1))
    module._append_paged_mla_kv_cache_kernel(
        ckv, kpe, batch, positions, ckv_cache, kpe_cache, *tables
    )
    compiled, build = built("flashinfer.jit.page.gen_page_module")
    narrow = {name: piece(name, "int32", (size,)) for name, size in sizes.items()}
    witness.saw(
        *(made(name, "Tensor.int", "int32", (size,)) for name, size in sizes.items()),
        *build,
        called(
            f"{compiled}.append_paged_mla_kv_cache",
            piece("ckv", "bfloat16", (9, 512)),
            piece("kpe", "bfloat16", (9, 64)),
            narrow["batch"],
            narrow["positions"],
            piece("ckv cache", "bfloat16", (40, 16, 512), (9216, 576, 1)),
            piece("kpe cache", "bfloat16", (40, 16, 64), (9216, 576, 1)),
            narrow["indices"],
            narrow["indptr"],
            narrow["last"],
        ),
    )
