"""vLLM's launches through something else: operators, tuned configs, config tables, CuTe DSL."""

from __future__ import annotations

import pytest

from tests.upstream.witness import called, filled, launched, made, piece

SHRINK = "vllm/lora/ops/triton_ops/lora_shrink_op.py"
EXPAND = "vllm/lora/ops/triton_ops/lora_expand_op.py"
BMM = "vllm/model_executor/layers/mamba/ops/ssd_bmm.py"
SPARSE_GELU = "vllm/kernels/triton/activation.py"
ROUTER = "vllm/model_executor/kernels/linear/cute_dsl/ll_fp32w.py"


@pytest.mark.drives(BMM, "_bmm_chunk_fwd")
def test_chunked_product_is_launched_with_its_first_config_each_time(load, witness):
    module = load(real=["vllm.model_executor.layers.mamba.ops.triton_helpers"])
    a = witness.tensor("a", "bfloat16", (1000, 2, 128))
    b = witness.tensor("b", "bfloat16", (1000, 2, 128))
    starts = witness.tensor("starts", "int32", (5,))
    # The second time the sibling goes past the tuner, with the config that it found.
    for _ in range(2):
        returned = module._bmm_chunk_fwd(a, b, 256, starts, causal=True)
        witness.saw(
            made("out", "torch.empty", "bfloat16", (4, 2, 256, 256)),
            launched(
                "_bmm_chunk_fwd_kernel",
                (2, 8),  # 256 / 128 x 256 / 256 tiles, 4 chunks x 2 groups
                a_ptr=piece("a", "bfloat16", (1000, 2, 128)),
                b_ptr=piece("b", "bfloat16", (1000, 2, 128)),
                out_ptr=piece("out", "bfloat16", (4, 2, 256, 256)),
                cu_chunk_seqlens_ptr=piece("starts", "int32", (5,)),
                chunk_size=256,
                K=128,
                ngroups=2,
                stride_a_seqlen=256,
                stride_a_head=128,
                stride_ak=1,
                stride_b_seqlen=256,
                stride_b_head=128,
                stride_bk=1,
                stride_out_chunk=131072,  # 2 x 256 x 256
                stride_out_head=65536,
                stride_outm=256,
                stride_outn=1,
                IS_CAUSAL=True,
                dot_dtype="bfloat16",
                BLOCK_SIZE_M=128,
                BLOCK_SIZE_N=256,
                BLOCK_SIZE_K=64,
                num_stages=3,
                num_warps=8,
                num_ctas=1,
            ),
        )
        assert witness.of(returned) == piece("out", "bfloat16", (4, 2, 256, 256))


@pytest.mark.drives(SPARSE_GELU, "_gelu_and_mul_sparse_triton_op")
def test_sparse_gelu_is_launched_from_inside_its_operator(load, witness):
    module = load()
    x = witness.tensor("x", "bfloat16", (2, 5, 3072))
    returned = module._gelu_and_mul_sparse_triton_op(x, 1.5)
    witness.saw(
        made("halves", "torch.empty", "bfloat16", (2, 5, 1536)),
        launched(
            "_gelu_and_mul_sparse_kernel",
            (10,),  # a program per row
            x_ptr=piece("x", "bfloat16", (2, 5, 3072)),
            output_ptr=piece("halves", "bfloat16", (2, 5, 1536)),
            d=1536,
            std_multiplier=1.5,
            BLOCK_SIZE=2048,
            num_warps=8,  # a warp for 256 of the 2048
        ),
    )
    assert witness.of(returned) == piece("halves", "bfloat16", (2, 5, 1536))


@pytest.fixture
def lora(load):
    settings = {
        "BATCH_INVARIANT": False,
        "TUNED_CONFIG_FOLDER": None,
        "LORA_DISABLE_PDL": False,
        "LORA_ENABLE_DUAL_STREAM": True,
    }
    provide = {f"vllm.envs.VLLM_{name}": value for name, value in settings.items()}
    return load(real=["vllm.lora.ops.triton_ops.utils"], provide=provide)


def adapters(witness, active=3):
    return (
        witness.tensor("mapping", "int32", (20,)),
        witness.tensor("sorted", "int32", (20,)),
        witness.tensor("per lora", "int32", (5,)),
        witness.tensor("starts", "int32", (6,)),
        witness.tensor("lora ids", "int32", (5,)),
        witness.values("no lora", "bool", [False], device="cpu"),
        witness.values("active", "int32", [active], device="cpu"),
    )


BATCH = {
    "token_indices_sorted_by_lora_ids": piece("sorted", "int32", (20,)),
    "num_tokens_per_lora": piece("per lora", "int32", (5,)),
    "lora_token_start_loc": piece("starts", "int32", (6,)),
    "lora_ids": piece("lora ids", "int32", (5,)),
    "M": 20,
    "SLICE_NUM": 1,
    "USE_GDC": True,
    "launch_pdl": True,
    "num_warps": 4,
    "num_ctas": 1,
    "num_stages": 2,
}
WARNED = called(
    "vllm.logger.init_logger().warning_once", "Using default LoRA kernel configs"
).under("inference")


@pytest.mark.drives(SHRINK, "_lora_shrink")
def test_shrink_zeroes_the_output_that_64_splits_add_into(lora, witness):
    x = witness.tensor("x", "bfloat16", (20, 4096))
    weights = [witness.tensor("a", "bfloat16", (5, 1, 16, 4096))]
    out = witness.tensor("out", "float32", (1, 20, 16))
    lora._lora_shrink(x, weights, out, *adapters(witness), 0.5)
    whole = piece("out", "float32", (1, 20, 16))
    witness.saw(
        filled("zero_", whole, 0).under("inference"),
        WARNED,
        launched(
            "_lora_shrink_kernel",
            (64, 1, 3),  # 64 splits of one block, one slice, three adapters in use
            **BATCH,
            input_ptr=piece("x", "bfloat16", (20, 4096)),
            lora_ptr=piece("a", "bfloat16", (5, 1, 16, 4096)),
            out_ptr=whole,
            N=16,
            K=4096,
            scaling=0.5,
            input_d0_stride=4096,
            input_d1_stride=1,
            lora_d0_stride=65536,
            lora_d1_stride=4096,
            lora_d2_stride=1,
            output_d0_stride=320,
            output_d1_stride=16,
            output_d2_stride=1,
            BLOCK_M=32,
            BLOCK_N=16,
            BLOCK_K=256,
            EVEN_K=False,  # 4096 is no multiple of 64 x 256
            SPLIT_K=64,  # below 128 tokens
            GROUP_SIZE_M=8,
            STORE_PARTIALS=False,
            output_split_stride=0,
            PARTIAL_N=0,
            PARTIAL_K=0,
        ).under("inference"),
    )


@pytest.mark.drives(EXPAND, "_lora_expand")
def test_expand_casts_float32_and_is_given_the_first_adapter_of_a_single_slice(lora, witness):
    x = witness.tensor("x", "float32", (1, 20, 16))
    weights = [witness.tensor("b", "bfloat16", (5, 1, 4096, 16))]
    out = witness.tensor("out", "bfloat16", (20, 4096))
    lora._lora_expand(x, weights, out, *adapters(witness, active=2), 0, add_inputs=True)
    witness.saw(
        WARNED,
        launched(
            "_lora_expand_kernel",
            (32, 1, 2),  # 4096 / 128 columns, one slice, two adapters in use
            **BATCH,
            input_ptr=piece("x", "float32", (1, 20, 16)),
            # The pointer to the first of five; the stride below leads to the others.
            lora_ptr=piece("b", "bfloat16", (4096, 16)),
            out_ptr=piece("out", "bfloat16", (20, 4096)),
            N=4096,
            K=16,
            slice_start_loc=0,
            input_d0_stride=320,
            input_d1_stride=16,
            input_d2_stride=1,
            ls_d0_ptr=65536,
            ls_d1_ptr=16,
            ls_d2_ptr=1,
            output_d0_stride=4096,
            output_d1_stride=1,
            output_hs_ptr=4096,
            BLOCK_M=64,
            BLOCK_N=128,
            BLOCK_K=32,
            EVEN_K=False,  # 16 is less than a block
            ADD_INPUTS=True,
            CAST_TYPE=True,
            SAME_STRIDE=True,
        ).under("inference"),
    )


@pytest.mark.drives(ROUTER, "LLFp32WGemm.__call__")
@pytest.mark.parametrize(
    ("rows", "columns", "groups"),
    [(12, 128, 2), (13, 128, 1), (10, 128, 1), (12, 136, 1)],
    ids=["even and at least 12", "odd", "less than 12", "more than 128 columns"],
)
def test_router_product_is_compiled_once_for_each_number_of_rows(
    load, sm120, witness, rows, columns, groups
):
    base = "vllm.model_executor.kernels.linear.cute_dsl"
    module = load(real=["vllm.model_executor.warmup.jit_warmup", f"{base}._ll_router_common"])
    hidden = witness.tensor("hidden", "bfloat16", (rows, 1000))
    weight = witness.tensor("weight", "float32", (columns, 1000))
    product = module.LLFp32WGemm()
    first, second = product(hidden, weight), product(hidden, weight)

    [kernel] = sm120.recording.calls("LLFp32WDotprod")
    chosen = {"m": rows, "k": 1000, "bs": 192, "token_groups": groups, "epb": 1}
    assert kernel.kwargs == {**chosen, "use_pdl": True}
    # The last strides are a multiple of gcd(8, 1000) = 8; the output's need not be.
    fakes = sm120.recording.calls("make_fake_tensor")
    assert [call.kwargs["divisibility"] for call in fakes] == [8, 8, 1]
    [compiled] = sm120.recording.calls("cutlass.cute.compile")
    assert compiled.args[4] == 1 and compiled.kwargs == {"options": "--enable-tvm-ffi"}
    outputs = sm120.recording.allocations()
    assert [(made.call, made.dtype, made.shape, made.device) for made in outputs] == [
        ("torch.empty", "float32", (rows, columns), "cuda:0")
    ] * 2
    for call, output, returned in zip(
        sm120.recording.calls("cutlass.cute.compile()"), outputs, (first, second), strict=True
    ):
        assert witness.of(call.args[:2]) == (
            piece("hidden", "bfloat16", (rows, 1000)),
            piece("weight", "float32", (columns, 1000)),
        )
        assert call.args[2].shares_storage_with(output) and call.args[3] == columns
        assert output.shares_storage_with(returned)
