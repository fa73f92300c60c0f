"""SGLang's small kernels over rows and pages: compiled modules, and Triton where they cannot be."""

from __future__ import annotations

import pytest

from tests.upstream.witness import called, launched, made, piece

SUM = "sglang/kernels/ops/elementwise/row_sum.py"
SCALE = "sglang/kernels/ops/elementwise/row_scale.py"
ZERO = "sglang/kernels/ops/kvcache/zero_pages.py"
JIT = "sglang.kernels.jit.utils.load_jit"
ARGUMENTS: dict[str, object] = {
    "sglang.kernels.jit.utils.make_cpp_args": lambda *given: given,
    "sglang.kernels.jit.utils.is_arch_support_pdl": lambda: True,
}


@pytest.mark.drives(SUM, "row_sum")
@pytest.mark.parametrize(("keep", "shape"), [(False, (7,)), (True, (7, 1))])
def test_row_sum_is_compiled_for_the_next_power_of_2(load, witness, keep, shape):
    x = witness.tensor("x", "float32", (7, 6))
    returned = load(provide=ARGUMENTS).row_sum(x, keepdim=keep)
    witness.saw(
        made("sums", "torch.empty", "float32", (7,)),
        called(
            JIT,
            "muse_spark_row_sum",
            8,  # next power of 2 of 6
            128,
            True,
            cuda_files=["muse_spark/row_sum.cuh"],
            cuda_wrappers=[("muse_spark_row_sum", "muse_spark_row_sum<(8, 128, True)>")],
        ),
        called(
            f"{JIT}().muse_spark_row_sum",
            piece("x", "float32", (7, 6)),
            piece("sums", "float32", (7,)),
        ),
    )
    assert witness.of(returned) == piece("sums", "float32", shape)


BUILD_SCALE = called(
    JIT,
    "inkling_row_scale",
    True,
    cuda_files=["inkling/inkling_row_scale.cuh"],
    cuda_wrappers=[("run", "row_scale<(True,)>"), ("run_compact", "row_compact<(True,)>")],
)


@pytest.mark.drives(SCALE, "row_scale_bf16")
def test_row_scale_gives_a_contiguous_result_of_strided_rows(load, witness):
    x = witness.tensor("x", "bfloat16", (5, 64), strides=(128, 1))
    tau = witness.tensor("tau", "float32", (5,))
    returned = load(provide=ARGUMENTS).row_scale_bf16(x, tau)
    witness.saw(
        made("out", "torch.empty", "bfloat16", (5, 64)),
        BUILD_SCALE,
        called(
            f"{JIT}().run",
            piece("x", "bfloat16", (5, 64), strides=(128, 1)),
            piece("tau", "float32", (5,)),
            piece("out", "bfloat16", (5, 64)),
        ),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (5, 64))


@pytest.mark.drives(SCALE, "apply_log_scaling_tau")
def test_log_scaling_of_whole_vectors_is_compiled(load, witness):
    x = witness.tensor("x", "bfloat16", (5, 4, 32), strides=(256, 32, 1))
    tau = witness.tensor("tau", "float32", (5, 1, 1))
    returned = load(provide=ARGUMENTS).apply_log_scaling_tau(x, tau)
    witness.saw(
        made("out", "torch.empty", "bfloat16", (5, 128)),
        BUILD_SCALE,
        called(
            f"{JIT}().run",
            piece("x", "bfloat16", (5, 128), strides=(256, 1)),
            piece("tau", "float32", (5,)),
            piece("out", "bfloat16", (5, 128)),
        ),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (5, 4, 32))


@pytest.mark.drives(SCALE, "apply_log_scaling_tau")
def test_log_scaling_of_another_dtype_is_launched(load, witness):
    x = witness.tensor("x", "float16", (5, 4, 129), strides=(1000, 129, 1))
    tau = witness.tensor("tau", "bfloat16", (5, 1, 1))
    returned = load().apply_log_scaling_tau(x, tau)
    witness.saw(
        made("out", "torch.empty", "float16", (5, 4, 129)),
        made("tau32", "Tensor.to", "float32", (5,)),
        launched(
            "_apply_log_scaling_tau_kernel",
            (3,),  # ceil(2580 / 1024)
            x_ptr=piece("x", "float16", (5, 4, 129), strides=(1000, 129, 1)),
            tau_ptr=piece("tau32", "float32", (5,)),
            out_ptr=piece("out", "float16", (5, 4, 129)),
            x_row_stride=1000,
            inner=516,  # 4 x 129
            total=2580,
            BLOCK=1024,
        ),
    )
    assert witness.of(returned) == piece("out", "float16", (5, 4, 129))


@pytest.mark.drives(ZERO, "zero_pages")
def test_pages_are_zeroed_as_words_of_8_bytes(load, witness):
    pool = witness.tensor("pool", "uint8", (200000,))
    pages = witness.tensor("pages", "int32", (3,))
    assert load().zero_pages(pool, pages, 10, 18000) is None
    witness.saw(
        made("wide", "Tensor.to", "int64", (3,)),
        launched(
            "_zero_pages_kernel",
            (3, 2),  # ceil(2250 / 2048)
            buf_ptr=piece("pool", "int64", (22500,)),  # 10 pages
            pages_ptr=piece("wide", "int64", (3,)),
            page_words=2250,  # 18000 / 8
            BLOCK=2048,
        ),
    )
