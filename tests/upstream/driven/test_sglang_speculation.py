"""SGLang's schedule of verification: three kernels, the first of which zeroes for the second."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.upstream.witness import launched, made, piece

SCHEDULE = "sglang/kernels/ops/speculative/dspark/dspark_schedule.py"
PREPARE = (
    made("extra", "torch.empty", "int32", (70,)),
    made("survival", "torch.empty", "float32", (70, 3)),
    launched(
        "_schedule_topk_prep_kernel",
        (70,),
        confidence_ptr=piece("confidence", "float32", (70, 5)),
        survival_ptr=piece("survival", "float32", (70, 3)),
        selected_extra_ptr=piece("extra", "int32", (70,)),
        gamma=5,
        cols=3,  # the longest verification is shorter than 5
        G_P2=8,  # next power of 2 of 5
    ),
)
SELECT = launched(
    "_schedule_topk_selected_extra_kernel",
    (4,),  # ceil(210 / 64)
    survival_ptr=piece("survival", "float32", (70, 3)),
    selected_extra_ptr=piece("extra", "int32", (70,)),
    budget=9,
    cols=3,
    n=210,  # 70 x 3
    survival_eps=0.5,
    BLOCK_C=64,
    BLOCK_CP=256,
)
FINALIZE = (
    made("lens", "torch.empty", "int32", (70,)),
    launched(
        "_schedule_topk_finalize_kernel",
        (1,),
        selected_extra_ptr=piece("extra", "int32", (70,)),
        out_ptr=piece("lens", "int32", (70,)),
        min_verify_len=0,
        lower_bound=1,  # never less than one
        max_len=3,
        bs=70,
        BLOCK=256,
    ),
)


@pytest.mark.drives(SCHEDULE, "schedule_verify_lens_topk_triton")
@pytest.mark.parametrize(("budget", "between"), [(9, (SELECT,)), (0, ())])
def test_schedule_selects_only_with_a_budget(load, witness, budget, between):
    settings = SimpleNamespace(
        resolved_max_verify_len=lambda: 3, survival_eps=0.5, min_verify_len=0
    )
    confidence = witness.tensor("confidence", "float32", (70, 5))
    returned = load().schedule_verify_lens_topk_triton(
        confidence=confidence, budget=budget, cfg=settings
    )
    witness.saw(*PREPARE, *between, *FINALIZE)
    assert witness.of(returned) == piece("lens", "int32", (70,))
