"""SGLang's hyper-connections: a persistent kernel, and a compiled module with grown partials."""

from __future__ import annotations

import pytest

from tests.upstream.witness import called, launched, made, piece

COMBINE = "sglang/kernels/ops/elementwise/hc_combine.py"
MIX = "sglang/kernels/ops/gemm/hc_mix.py"


def mix(module, witness, rows, device="cuda:0"):
    x = witness.tensor("x", "bfloat16", (rows, 4096), device=device)
    down = witness.tensor("down", "bfloat16", (48, 4096), device=device)
    up = witness.tensor("up", "bfloat16", (4096, 48), device=device)
    return module.fused_hc_mix(x, down, up, 4, 1024)


@pytest.mark.drives(MIX, "fused_hc_mix")
def test_mix_launches_one_program_per_multiprocessor(load, witness):
    returned = mix(load(), witness, rows=5)
    witness.saw(
        made("down_sums", "torch.empty", "float32", (16, 48)),  # always 16 rows
        made("out", "torch.empty", "bfloat16", (5, 1024)),
        made("counters", "torch.zeros", "int32", (3,), kept="_counters_cache['cuda:0']"),
        launched(
            "_hc_mix_persistent_kernel",
            (188,),  # multiprocessors of sm_120's largest card
            x_ptr=piece("x", "bfloat16", (5, 4096)),
            w_down_ptr=piece("down", "bfloat16", (48, 4096)),
            w_up_ptr=piece("up", "bfloat16", (4096, 48)),
            t_raw_ptr=piece("down_sums", "float32", (16, 48)),
            out_ptr=piece("out", "bfloat16", (5, 1024)),
            counters_ptr=piece("counters", "int32", (3,)),
            K=4096,
            LOWRANK=48,
            HS=1024,
            num_rows=5,
            num_ctas=188,
            inv_hc=0.25,  # one of 4 branches
            ROWS=16,
            HC=4,
            BLOCK_N=32,
            BLOCK_K=256,
            BLOCK_J=32,
            BLOCK_R=64,
            num_warps=8,
        ),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (5, 1024))


@pytest.mark.drives(MIX, "fused_hc_mix")
def test_mix_of_no_rows_launches_nothing(load, witness):
    returned = mix(load(), witness, rows=0)
    witness.saw(
        made("down_sums", "torch.empty", "float32", (16, 48)),
        made("out", "torch.empty", "bfloat16", (0, 1024)),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (0, 1024))


@pytest.mark.drives(MIX, "_get_counters")
def test_counters_are_zeroed_once_for_each_device(load, sm120, witness):
    module = load()
    devices = [sm120.tensor((1,), device=name).device for name in ("cuda:0", "cuda:1", "cuda:0")]
    first, second, again = (module._get_counters(device) for device in devices)
    assert again is first and second is not first
    witness.saw(
        made("first", "torch.zeros", "int32", (3,), kept="_counters_cache['cuda:0']"),
        made(
            "second",
            "torch.zeros",
            "int32",
            (3,),
            device="cuda:1",
            kept="_counters_cache['cuda:1']",
        ),
    )


def combine_arguments(witness, rows):
    wide = (rows, 8192)
    block = witness.tensor("block", "bfloat16", (rows, 2048))
    residual = witness.tensor("residual", "bfloat16", wide)
    normed = witness.tensor("normed", "bfloat16", wide)
    inject = witness.tensor("inject", "bfloat16", (4, 8192))
    return block, residual, normed, inject, 4, 2048


def combine_pieces(rows):
    wide = (rows, 8192)
    return (
        piece("block", "bfloat16", (rows, 2048)),
        piece("residual", "bfloat16", wide),
        piece("normed", "bfloat16", wide),
        piece("inject", "bfloat16", (4, 8192)),
        piece("out", "bfloat16", wide),
    )


@pytest.mark.drives(COMBINE, "_get_partials")
def test_partials_hold_at_least_32_rows_and_grow_to_any_number(load, sm120, witness):
    module, device = load(), sm120.tensor((1,), device="cuda:0").device
    small, same = module._get_partials(4, device, 5), module._get_partials(4, device, 32)
    grown = module._get_partials(4, device, 40)
    assert same is small and grown is not small
    witness.saw(
        # No key: the cache lets go of the small one when it grows.
        made("small", "torch.empty", "float32", (32, 8, 4)),
        made(
            "grown",
            "torch.empty",
            "float32",
            (40, 8, 4),
            kept="_partials_cache[('cuda:0', 4)]",
        ),
    )


@pytest.mark.drives(COMBINE, "_get_partials")
def test_partials_are_kept_by_branches_and_device(load, sm120, witness):
    module = load()
    for branches, name in ((4, "cuda:0"), (2, "cuda:0"), (4, "cuda:1")):
        module._get_partials(branches, sm120.tensor((1,), device=name).device, 1)
    key = "_partials_cache[('{}', {})]"
    witness.saw(
        made("a", "torch.empty", "float32", (32, 8, 4), kept=key.format("cuda:0", 4)),
        made("b", "torch.empty", "float32", (32, 8, 2), kept=key.format("cuda:0", 2)),
        made(
            "c",
            "torch.empty",
            "float32",
            (32, 8, 4),
            device="cuda:1",
            kept=key.format("cuda:1", 4),
        ),
    )


JIT = "sglang.kernels.jit.utils.load_jit"
ARGUMENTS: dict[str, object] = {
    "sglang.kernels.jit.utils.make_cpp_args": lambda *given: given,
    "sglang.kernels.jit.utils.is_arch_support_pdl": lambda: True,
}
# 4 branches of 2048 elements, with dependent launch, in bfloat16.
TEMPLATE = "<(4, 2048, True, torch.bfloat16)>::run"
BUILD = called(
    JIT,
    "hc_combine",
    4,
    2048,
    True,
    "bfloat16",
    cuda_files=["elementwise/hc_combine.cuh"],
    cuda_wrappers=[
        ("hc_combine", f"HcCombineKernel{TEMPLATE}"),
        ("hc_combine_split", f"HcCombineSplitKernel{TEMPLATE}"),
    ],
)


@pytest.mark.drives(COMBINE, "hc_combine")
def test_combine_hands_its_rows_to_the_compiled_module(load, witness):
    returned = load(provide=ARGUMENTS).hc_combine(*combine_arguments(witness, rows=3))
    witness.saw(
        made("out", "torch.empty_like", "bfloat16", (3, 8192)),
        BUILD,
        called(f"{JIT}().hc_combine", *combine_pieces(rows=3)),
    )
    assert witness.of(returned) == piece("out", "bfloat16", (3, 8192))


@pytest.mark.drives(COMBINE, "hc_combine_split")
def test_split_combine_hands_over_as_many_partials_as_rows(load, witness):
    load(provide=ARGUMENTS).hc_combine_split(*combine_arguments(witness, rows=3))
    witness.saw(
        made("out", "torch.empty_like", "bfloat16", (3, 8192)),
        made(
            "partials",
            "torch.empty",
            "float32",
            (32, 8, 4),
            kept="_partials_cache[('cuda:0', 4)]",
        ),
        BUILD,
        called(
            f"{JIT}().hc_combine_split",
            *combine_pieces(rows=3),
            piece("partials", "float32", (3, 8, 4)),
        ),
    )
