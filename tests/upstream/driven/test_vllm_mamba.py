"""vLLM's state-space and linear-attention kernels, embeddings and fused norms."""

from __future__ import annotations

import pytest

from tests.upstream.witness import launched, made, piece

GATHER = "vllm/model_executor/layers/mamba/ops/gather_initial_states.py"
SCATTER = "vllm/model_executor/layers/mamba/ops/scatter_states.py"
BMM = "vllm/model_executor/layers/mamba/ops/ssd_bmm.py"
GATED = "vllm/model_executor/layers/mamba/ops/layernorm_gated.py"
L2NORM = "vllm/third_party/flash_linear_attention/ops/l2norm.py"
EMBED = "vllm/model_executor/layers/fused_embed_norm.py"
SPARSE_GELU = "vllm/kernels/triton/activation.py"
LAUNCHERS = [
    "vllm.model_executor.warmup.jit_warmup",
    "vllm.model_executor.warmup.jit_warmup_triton_helper",
]
STATE = piece("state", "float32", (10, 8, 96), (1024, 96, 1))


@pytest.mark.drives(GATHER, "gather_initial_states")
def test_gathered_states_are_dense_rows_of_a_padded_pool(load, witness):
    returned = load().gather_initial_states(
        witness.tensor("state", "float32", (10, 8, 96), strides=(1024, 96, 1)),
        witness.tensor("indices", "int32", (3,), strides=(2,)),
        witness.tensor("has state", "bool", (3,)),
    )
    witness.saw(
        made("gathered", "torch.empty", "float32", (3, 8, 96)),
        launched(
            "_gather_initial_states_kernel",
            (1, 3),  # 768 numbers in one block of 1024
            state_ptr=STATE,
            indices_ptr=piece("indices", "int32", (3,), (2,)),
            has_initial_state_ptr=piece("has state", "bool", (3,)),
            output_ptr=piece("gathered", "float32", (3, 8, 96)),
            stride_state_batch=1024,
            stride_indices=2,
            stride_has_initial_state=1,
            row_size=768,
            BLOCK_SIZE=1024,
            launch_pdl=True,
            num_warps=8,
        ),
    )
    assert witness.of(returned) == piece("gathered", "float32", (3, 8, 96))


@pytest.mark.drives(SCATTER, "scatter_states")
def test_scattered_states_are_launched_by_the_dispatcher(load, witness):
    load(real=LAUNCHERS).scatter_states(
        witness.tensor("state", "float32", (10, 8, 96), strides=(1024, 96, 1)),
        witness.tensor("source", "float32", (3, 8, 96)),
        witness.tensor("indices", "int64", (3,)),
    )
    witness.saw(
        launched(
            "_scatter_states_kernel",
            (1, 3),
            state_ptr=STATE,
            src_ptr=piece("source", "float32", (3, 8, 96)),
            indices_ptr=piece("indices", "int64", (3,)),
            stride_state_batch=1024,
            stride_src_batch=768,
            stride_indices=1,
            row_size=768,
            BLOCK_SIZE=1024,
            launch_pdl=True,
            num_warps=8,
        )
    )


@pytest.mark.drives(GATED, "rms_norm_gated")
def test_gated_norm_groups_its_columns_and_keeps_no_mean(load, witness):
    returned = load().rms_norm_gated(
        witness.tensor("x", "bfloat16", (2, 5, 1024)),
        witness.tensor("weight", "bfloat16", (1024,)),
        None,
        z=witness.tensor("z", "bfloat16", (2, 5, 1024)),
        group_size=256,
        norm_before_gate=False,
    )
    witness.saw(
        made("y", "torch.empty_like", "bfloat16", (10, 1024)),
        made("rstd", "torch.empty", "float32", (40,)),  # 4 groups x 10 rows
        launched(
            "_layer_norm_fwd_1pass_kernel",
            (10, 4),
            X=piece("x", "bfloat16", (10, 1024)),
            Y=piece("y", "bfloat16", (10, 1024)),
            W=piece("weight", "bfloat16", (1024,)),
            B=None,
            Z=piece("z", "bfloat16", (10, 1024)),
            Mean=None,
            Rstd=piece("rstd", "float32", (40,)),
            stride_x_row=1024,
            stride_y_row=1024,
            stride_z_row=1024,
            M=10,
            N=256,
            eps=1e-6,
            BLOCK_N=256,
            HAS_BIAS=False,  # by the heuristics, from B and Z
            HAS_Z=True,
            NORM_BEFORE_GATE=False,
            IS_RMS_NORM=True,
            num_warps=1,
        ),
    )
    assert witness.of(returned) == piece("y", "bfloat16", (2, 5, 1024))


@pytest.mark.drives(L2NORM, "l2norm_fwd")
def test_l2_norm_takes_32_rows_a_program(load, witness):
    returned = load().l2norm_fwd(witness.tensor("x", "float32", (2, 17, 96)))
    witness.saw(
        made("y", "torch.empty_like", "float32", (34, 96)),
        launched(
            "l2norm_fwd_kernel2",
            (2,),
            X=piece("x", "float32", (34, 96)),
            Y=piece("y", "float32", (34, 96)),
            eps=1e-6,
            M=34,
            N=96,
            BD=128,
            MBLOCK=32,
        ),
    )
    assert witness.of(returned) == piece("y", "float32", (2, 17, 96))


@pytest.mark.drives(EMBED, "fused_embed_norm")
@pytest.mark.parametrize("normed", [False, True])
def test_embedding_without_norm_passes_its_output_twice(load, witness, normed):
    ids = witness.tensor("ids", "int64", (3, 4))
    table = witness.tensor("table", "bfloat16", (500, 2560), device="cuda:0")
    weight = witness.tensor("weight", "bfloat16", (2560,)) if normed else None
    returned = load().fused_embed_norm(ids, table, weight, 1e-5)
    out, more = (piece(name, "bfloat16", (12, 2560)) for name in ("out", "normed"))
    allocated = [made("out", "torch.empty", "bfloat16", (12, 2560))]
    allocated += [made("normed", "torch.empty_like", "bfloat16", (12, 2560))] if normed else []
    whole = piece("table", "bfloat16", (500, 2560))
    witness.saw(
        *allocated,
        launched(
            "_fused_embed_norm_kernel",
            (12,),
            ids_ptr=piece("ids", "int64", (12,)),
            table_ptr=whole,
            table_stride_0=2560,
            out_ptr=out,
            normed_ptr=more if normed else out,
            chain_w_ptr=piece("weight", "bfloat16", (2560,)) if normed else whole,
            eps=1e-5,
            H=2560,
            BLOCK=4096,
            HAS_NORM=normed,
            num_warps=8,  # a warp for 512 of the 4096
        ),
    )
    assert witness.of(returned) == ((out, more) if normed else out)


@pytest.mark.drives(EMBED, "fused_embed_eh_norm")
def test_embedding_beside_the_previous_hidden_state_is_twice_as_wide(load, witness):
    returned = load().fused_embed_eh_norm(
        witness.tensor("positions", "int64", (6,)),
        witness.tensor("ids", "int32", (6,)),
        witness.tensor("table", "bfloat16", (500, 1536)),
        witness.tensor("previous", "bfloat16", (6, 1536), strides=(2048, 1)),
        witness.tensor("e weight", "bfloat16", (1536,)),
        witness.tensor("h weight", "bfloat16", (1536,)),
        1e-6,
    )
    witness.saw(
        made("out", "torch.empty", "bfloat16", (6, 3072)),
        launched(
            "_fused_embed_eh_norm_kernel",
            (6,),
            pos_ptr=piece("positions", "int64", (6,)),
            ids_ptr=piece("ids", "int32", (6,)),
            table_ptr=piece("table", "bfloat16", (500, 1536)),
            table_stride=1536,
            prev_ptr=piece("previous", "bfloat16", (6, 1536), (2048, 1)),
            prev_stride=2048,
            enorm_w_ptr=piece("e weight", "bfloat16", (1536,)),
            hnorm_w_ptr=piece("h weight", "bfloat16", (1536,)),
            eps=1e-6,
            out_ptr=piece("out", "bfloat16", (6, 3072)),
            out_stride=3072,
            H=1536,
            BLOCK=2048,
        ),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (6, 3072))
