"""SGLang's sparse attention in parts, which a second kernel puts together."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

SPLIT = "sglang/kernels/ops/attention/dsa/triton_sparse_mla.py"
PROPERTIES = "triton.runtime.driver.active.utils.get_device_properties"


@pytest.mark.drives(SPLIT, "_triton_sparse_mla_fwd_splitk")
def test_split_attention_reduces_the_parts_of_padded_heads(load, witness):
    both = witness.tensor("q", "bfloat16", (3, 20, 576))
    kv = witness.tensor("kv", "float8_e4m3fn", (999, 576))
    indices = witness.tensor("indices", "int32", (3, 1, 512))
    nope, rope = both[..., :512], both[..., 512:]
    module = load(provide={PROPERTIES: lambda device: {"max_shared_mem": 101376}})
    module._cu_count = lambda device: 188
    returned = module._triton_sparse_mla_fwd_splitk(nope, rope, kv, indices, 2.0, 512, 4)
    strides = (11520, 576, 1)  # 20 x 576
    out = piece("out", "bfloat16", (3, 20, 512))
    # 20 heads are 2 blocks of 16, so parts have 32.
    sums = piece("sums", "float32", (3, 4, 32))
    parts = piece("parts", "bfloat16", (3, 4, 32, 512))
    both_launches = {"H": 20, "D_V": 512, "KV_SPLITS": 4, "BLOCK_K": 64, "num_warps": 4}
    witness.saw(
        made("out", "torch.empty", "bfloat16", (3, 20, 512)),
        made("sums", "torch.empty", "float32", (3, 4, 32)),
        made("parts", "torch.empty", "bfloat16", (3, 4, 32, 512)),
        launched(
            "_sparse_mla_split_k_kernel",
            (3, 2, 4),
            q_nope_ptr=piece("q", "bfloat16", (3, 20, 512), strides=strides),
            q_rope_ptr=piece("q", "bfloat16", (3, 20, 64), strides=strides, first_byte=1024),
            kv_ptr=piece("kv", "float8_e4m3fn", (999, 576)),
            idx_ptr=piece("indices", "int32", (3, 512)),
            lse_partial_ptr=sums,
            acc_partial_ptr=parts,
            qk_scale=2.8853900817779268,  # twice log2(e)
            fp8_max=448.0,
            topk=512,
            KV_DIM=576,
            D_TAIL=64,
            NUM_GROUPS=4,  # of 128
            STRIDE_QN_T=11520,
            STRIDE_QN_H=576,
            STRIDE_QR_T=11520,
            STRIDE_QR_H=576,
            USE_FP8_DOT=True,
            BLOCK_H=16,
            num_stages=2,
            **both_launches,
        ),
        launched(
            "_sparse_mla_reduce_kernel",
            (3, 20, 8),  # 512 / 64
            lse_partial_ptr=sums,
            acc_partial_ptr=parts,
            out_ptr=out,
            ACTIVE_SPLITS=4,  # two tiles of 64 each
            ACTIVE_SPLITS_POW2=4,
            D_CHUNK=64,
            **both_launches,
        ),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (1, 3, 20, 512))
