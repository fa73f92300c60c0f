"""vLLM's sampler kernels: top-k and top-p masks, min-p, log-probabilities, NaN counts."""

from __future__ import annotations

import pytest

from tests.upstream.witness import called, launched, made, piece

TOPK_TOPP = "vllm/v1/sample/ops/topk_topp_triton.py"
MIN_P = "vllm/v1/worker/gpu/sample/min_p.py"
NAN_COUNT = "vllm/v1/worker/gpu/metrics/logits.py"
LOGPROB = "vllm/v1/worker/gpu/sample/logprob.py"
SIBLINGS = [
    "vllm.model_executor.warmup.jit_warmup",
    "vllm.model_executor.warmup.jit_warmup_triton_helper",
    "vllm.utils.math_utils",
]

ROWS, VOCABULARY = 5, 1000
LOGITS = piece("logits", "float32", (ROWS, VOCABULARY))
K = piece("k as int32", "int32", (ROWS,))
P = piece("p", "float32", (ROWS,))
STATS = piece("stats", "float32", (2048, 4))
PARTS = piece("parts", "float32", (64, 5, 32, 8, 3))


@pytest.fixture
def inputs(witness):
    return (
        witness.tensor("logits", "float32", (ROWS, VOCABULARY)),
        witness.tensor("k", "int64", (ROWS,)),
        witness.tensor("p", "float32", (ROWS,)),
    )


def whole_rows(buffer, k=K, p=P, *, topp=True):
    return launched(
        "_topk_topp_kernel",
        (ROWS,),  # a program per row, as long as there are SMs (188) for them
        LOGITS=LOGITS,
        LOGITS_STRIDE_0=1000,
        BUFFER=buffer,
        PERCENTILE_TO_STD_TABLE=piece("percentiles", "float32", (200,)),
        NORMAL_CDF_TO_SIGMA_TABLE=piece("sigmas", "float32", (200,)),
        K=k,
        P=p,
        BATCH_SIZE=ROWS,
        VOCAB_SIZE=VOCABULARY,
        MASK_VALUE=float("-inf"),
        BLOCK_SIZE=8192,
        BLOCK_SIZE_TRUNC=4096,
        TOPK_ENABLED=True,
        TOPP_ENABLED=topp,
        SPLIT_COVERS_PONLY=topp,  # at most 64 rows
        num_warps=8,
    )


def split_rows(k, *, has_k):
    """The seven launches over 32 parts a row: 5 x 32 is the most that 188 SMs take."""
    shared = {
        "LOGITS": LOGITS,
        "LOGITS_STRIDE_0": 1000,
        "STATS": STATS,
        "K": k,
        "P": P,
        "HAS_K": has_k,
        "VOCAB_SIZE": VOCABULARY,
        "S": 32,
        "num_warps": 8,
    }
    ladder = {**shared, "PARTS": PARTS, "F": 8, "NUM_ROUNDS": 5}
    return [
        launched("_topp_sb_stats_kernel", (160,), **shared, BLOCK=8192),
        *(
            launched("_topp_sb_step_kernel", (160,), **ladder, ROUND=step, BLOCK=2048)
            for step in range(5)
        ),
        launched("_topp_sb_mask_kernel", (160,), **ladder, MASK_VALUE=float("-inf"), BLOCK=8192),
    ]


def split_scratch(device="cuda:0"):
    shapes = {"stats": (2048, 4), "parts": (64, 5, 32, 8, 3)}  # 64 rows x 32 parts, always
    return [
        made(
            name,
            "Tensor.new_empty",
            "float32",
            shape,
            device=device,
            kept=f"_TRITON_SPLIT_CACHE['{device}']['{name}']",
        )
        for name, shape in shapes.items()
    ]


TABLES = [
    called("vllm.utils.gpu_sync_debug.gpu_sync_allowed"),
    made(
        "sigmas",
        "Tensor.new_tensor",
        "float32",
        (200,),
        kept="_TRITON_TABLE_CACHE['cuda:0'][0]",
    ),
    made(
        "percentiles",
        "Tensor.new_tensor",
        "float32",
        (200,),
        kept="_TRITON_TABLE_CACHE['cuda:0'][1]",
    ),
]
BUFFER = made(
    "buffer",
    "Tensor.new_empty",
    "float32",
    (8, VOCABULARY),  # next power of 2 of 5 rows
    kept="_TRITON_BUFFER_CACHE[('cuda:0', 'float32', 1000)]",
)
FIVE_OF_BUFFER = piece("buffer", "float32", (ROWS, VOCABULARY))


@pytest.mark.drives(TOPK_TOPP, "apply_top_k_top_p_triton")
def test_top_k_and_top_p_launch_whole_rows_and_then_the_split_rows(load, witness, inputs):
    returned = load(real=SIBLINGS).apply_top_k_top_p_triton(*inputs)
    witness.saw(
        made("k as int32", "Tensor.to", "int32", (ROWS,)),
        BUFFER,
        *TABLES,
        whole_rows(FIVE_OF_BUFFER),
        *split_scratch(),
        *split_rows(K, has_k=True),
    )
    assert returned is inputs[0]


@pytest.mark.drives(TOPK_TOPP, "apply_top_k_top_p_triton")
def test_second_call_reuses_the_buffer_the_tables_and_the_scratch(load, witness, inputs):
    module = load(real=SIBLINGS)
    module.apply_top_k_top_p_triton(*inputs)
    witness.saw(
        made("k as int32", "Tensor.to", "int32", (ROWS,)),
        BUFFER,
        *TABLES,
        whole_rows(FIVE_OF_BUFFER),
        *split_scratch(),
        *split_rows(K, has_k=True),
    )
    module.apply_top_k_top_p_triton(*inputs, has_topp_only_rows=False)
    again = piece("k again", "int32", (ROWS,))
    witness.saw(
        made("k again", "Tensor.to", "int32", (ROWS,)),
        whole_rows(FIVE_OF_BUFFER, again),
    )


@pytest.mark.drives(TOPK_TOPP, "apply_top_k_top_p_triton")
def test_top_p_alone_is_left_to_the_split_rows(load, witness, inputs):
    logits, _, p = inputs
    load(real=SIBLINGS).apply_top_k_top_p_triton(logits, None, p)
    # Without k the logits stand in its place, and are not read through it.
    witness.saw(*split_scratch(), *split_rows(LOGITS, has_k=False))


@pytest.mark.drives(TOPK_TOPP, "apply_top_k_top_p_triton")
def test_top_k_alone_is_left_to_the_whole_rows(load, witness, inputs):
    logits, k, _ = inputs
    load(real=SIBLINGS).apply_top_k_top_p_triton(logits, k, None)
    witness.saw(
        made("k as int32", "Tensor.to", "int32", (ROWS,)),
        BUFFER,
        *TABLES,
        whole_rows(FIVE_OF_BUFFER, p=LOGITS, topp=False),
    )


@pytest.mark.drives(TOPK_TOPP, "_apply_topp_split")
def test_split_rows_keep_one_scratch_for_each_device(load, witness):
    module = load(real=SIBLINGS)
    for device in ("cuda:0", "cuda:1"):
        logits = witness.tensor("logits", "float32", (ROWS, VOCABULARY), device=device)
        p = witness.tensor("p", "float32", (ROWS,), device=device)
        module._apply_topp_split(logits, None, p, float("-inf"), 188)
        witness.saw(*split_scratch(device), *split_rows(LOGITS, has_k=False))


@pytest.mark.drives(MIN_P, "apply_min_p")
def test_min_p_launches_a_program_per_token_with_the_stride_of_padded_logits(load, witness):
    logits = witness.tensor("logits", "float32", (7, 1000), strides=(1024, 1))
    mapping = witness.tensor("mapping", "int32", (7,))
    min_p = witness.tensor("min_p", "float32", (4,))
    load().apply_min_p(logits, mapping, min_p)
    witness.saw(
        launched(
            "_min_p_kernel",
            (7,),
            logits_ptr=piece("logits", "float32", (7, 1000), (1024, 1)),
            logits_stride=1024,
            expanded_idx_mapping_ptr=piece("mapping", "int32", (7,)),
            min_p_ptr=piece("min_p", "float32", (4,)),
            vocab_size=1000,
            BLOCK_SIZE=1024,
        )
    )


@pytest.mark.drives(NAN_COUNT, "get_num_nans")
def test_nan_count_allocates_one_number_per_request(load, witness):
    logits = witness.tensor("logits", "bfloat16", (6, 32000), device="cuda:1")
    returned = load().get_num_nans(logits)
    witness.saw(
        made("counts", "torch.empty", "int32", (6,), device="cuda:1"),
        launched(
            "_num_nans_kernel",
            (6,),
            logits_ptr=piece("logits", "bfloat16", (6, 32000)),
            logits_stride=32000,
            num_nans_ptr=piece("counts", "int32", (6,)),
            vocab_size=32000,
            BLOCK_SIZE=8192,
        ),
    )
    assert witness.of(returned) == piece("counts", "int32", (6,))


@pytest.mark.drives(LOGPROB, "compute_token_logprobs")
def test_token_logprobs_are_float32_for_ids_in_int64(load, witness):
    logits = witness.tensor("logits", "bfloat16", (3, 5000))
    ids = witness.tensor("ids", "int32", (3, 21))
    returned = load().compute_token_logprobs(logits, ids)
    witness.saw(
        made("wide ids", "Tensor.to", "int64", (3, 21)),
        made("logprobs", "Tensor.new_empty", "float32", (3, 21)),
        launched(
            "_topk_log_softmax_kernel",
            (3,),
            output_ptr=piece("logprobs", "float32", (3, 21)),
            logits_ptr=piece("logits", "bfloat16", (3, 5000)),
            logits_stride=5000,
            topk_ids_ptr=piece("wide ids", "int64", (3, 21)),
            topk_ids_stride=21,
            topk=21,
            vocab_size=5000,
            BLOCK_SIZE=1024,
            TOPK_BLOCK_SIZE=32,  # next power of 2 of 21
        ),
    )
    assert witness.of(returned) == piece("logprobs", "float32", (3, 21))


@pytest.mark.drives(LOGPROB, "compute_topk_scores")
def test_topk_scores_put_the_sampled_token_before_the_best_ones(load, witness):
    logits = witness.tensor("logits", "float32", (3, 5000))
    sampled = witness.tensor("sampled", "int64", (3,))
    module = load(provide={"vllm.v1.outputs.LogprobsTensors": dict})
    returned = module.compute_topk_scores(logits, 20, sampled, cu_num_logits=[0, 1, 3])
    ids = piece("ids", "int64", (3, 21))  # the sampled one, and 20 more
    witness.saw(
        made("best", "torch.topk", "float32", (3, 20)),
        made("places", "torch.topk", "int64", (3, 20)),
        made("ids", "torch.cat", "int64", (3, 21)),
        made("logprobs", "Tensor.new_empty", "float32", (3, 21)),
        launched(
            "_topk_log_softmax_kernel",
            (3,),
            output_ptr=piece("logprobs", "float32", (3, 21)),
            logits_ptr=piece("logits", "float32", (3, 5000)),
            logits_stride=5000,
            topk_ids_ptr=ids,
            topk_ids_stride=21,
            topk=21,
            vocab_size=5000,
            BLOCK_SIZE=1024,
            TOPK_BLOCK_SIZE=32,
        ),
        made("ranks", "torch.empty", "int64", (3,)),
        launched(
            "_ranks_kernel",
            (3,),
            output_ptr=piece("ranks", "int64", (3,)),
            logits_ptr=piece("logits", "float32", (3, 5000)),
            logits_stride=5000,
            token_ids_ptr=piece("sampled", "int64", (3,)),
            vocab_size=5000,
            BLOCK_SIZE=8192,
        ),
    )
    assert witness.of(returned) == {
        "logprob_token_ids": ids,
        "logprobs": piece("logprobs", "float32", (3, 21)),
        "selected_token_ranks": piece("ranks", "int64", (3,)),
        "cu_num_generated_tokens": [0, 1, 3],
        "cu_num_generated_tokens_tensor": None,
    }
