"""FlashInfer's Triton products that leave multiprocessors to others."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

GEMM = "flashinfer/triton/sm_constraint_gemm.py"
CONFIG = {
    "BLOCK_SIZE_M": 128,
    "BLOCK_SIZE_N": 128,
    "BLOCK_SIZE_K": 64,
    "GROUP_SIZE_M": 8,
    "num_stages": 3,
}


@pytest.fixture
def gemm(load):
    return load(real=["flashinfer.triton.kernels.sm_constraint_gemm", "flashinfer.triton.utils"])


@pytest.mark.drives(GEMM, "gemm_persistent")
@pytest.mark.parametrize(
    ("asked", "given", "programs"),
    [
        (None, 188, 40),  # 1000 x 640 in 8 x 5 tiles, fewer than the multiprocessors
        (16, 16, 16),
        (1000, 188, 40),
    ],
)
def test_persistent_product_starts_a_program_per_tile_up_to_what_is_asked(
    gemm, witness, asked, given, programs
):
    a = witness.tensor("a", "bfloat16", (1000, 512))
    b = witness.tensor("b", "bfloat16", (512, 640), (1, 512))
    returned = gemm.gemm_persistent(a, b, num_sms=asked)
    out = piece("out", "bfloat16", (1000, 640))
    witness.saw(
        made("out", "torch.empty", "bfloat16", (1000, 640)),
        launched(
            "gemm_kernel_persistent",
            (programs,),
            **CONFIG,
            num_warps=4,
            num_ctas=1,
            a_ptr=piece("a", "bfloat16", (1000, 512)),
            b_ptr=piece("b", "bfloat16", (512, 640), (1, 512)),
            c_ptr=out,
            M=1000,
            N=640,
            K=512,
            stride_am=512,
            stride_ak=1,
            stride_bk=1,
            stride_bn=512,
            stride_cm=640,
            stride_cn=1,
            alpha=1.0,
            beta=0.0,
            NUM_SMS=given,
        ),
    )
    assert witness.of(returned) == out


@pytest.mark.drives(GEMM, "gemm")
def test_plain_product_adds_to_the_tensor_of_the_caller(gemm, witness):
    a = witness.tensor("a", "float16", (129, 64))
    b = witness.tensor("b", "float16", (64, 256))
    c = witness.tensor("c", "float16", (129, 256))
    assert gemm.gemm(a, b, c, 2.0, 1.0) is c
    witness.saw(
        launched(
            "gemm_kernel",
            (4,),  # 2 x 2 tiles of 128
            **CONFIG,
            num_warps=4,
            num_ctas=1,
            a_ptr=piece("a", "float16", (129, 64)),
            b_ptr=piece("b", "float16", (64, 256)),
            c_ptr=piece("c", "float16", (129, 256)),
            M=129,
            N=256,
            K=64,
            stride_am=64,
            stride_ak=1,
            stride_bk=256,
            stride_bn=1,
            stride_cm=256,
            stride_cn=1,
            alpha=2.0,
            beta=1.0,
        )
    )


@pytest.mark.drives(GEMM, "gemm_descriptor_persistent")
def test_product_with_descriptors_turns_eight_bits_into_bfloat16(gemm, witness):
    a = witness.tensor("a", "float8_e4m3fn", (2048, 256))
    b = witness.tensor("b", "float8_e4m3fn", (4096, 256))
    returned = gemm.gemm_descriptor_persistent(a, b, num_sms=64, EPILOGUE_SUBTILE=True)
    out = piece("out", "bfloat16", (2048, 4096))
    witness.saw(
        made("out", "torch.empty", "bfloat16", (2048, 4096)),
        launched(
            "gemm_kernel_descriptor_persistent",
            (64,),  # of 16 x 32 tiles
            **CONFIG,
            num_warps=8,
            a_ptr=piece("a", "float8_e4m3fn", (2048, 256)),
            b_ptr=piece("b", "float8_e4m3fn", (4096, 256)),
            c_ptr=out,
            M=2048,
            N=4096,
            K=256,
            alpha=1.0,
            beta=0.0,
            EPILOGUE_SUBTILE=True,
            NUM_SMS=64,
        ),
    )
    assert witness.of(returned) == out
