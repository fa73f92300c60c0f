"""FlashInfer's weight-only products on sm_121: one compiled kernel for each row of its tables."""

from __future__ import annotations

import pytest

from tests.upstream.witness import piece

PREFETCH = "flashinfer/gemm/kernels/native_bf16_fp4/prefetch.py"
GROUPED = "flashinfer/gemm/kernels/native_bf16_fp4/grouped.py"
pytestmark = pytest.mark.sm120(arch="sm_121")


@pytest.fixture
def names():
    return []


@pytest.fixture
def module(load, names):
    def build(stem, name, compile_kernel, *, extra_key_files):
        names.append(name)
        return compile_kernel()

    return load(
        real=["flashinfer.utils"],
        provide={"flashinfer.jit.cute_dsl_core.build_and_load_cute_dsl_kernel": build},
    )


def arguments(witness, m, n, k):
    """Return activations, weights of four bits, a scale for 16 of them, alpha and the output."""
    return (
        witness.tensor("a", "bfloat16", (m, k)),
        witness.tensor("b", "uint8", (n, k // 2)),
        witness.tensor("sf", "float8_e4m3fn", (n, k // 16)),
        witness.tensor("alpha", "float32", (1,)),
        witness.tensor("out", "bfloat16", (m, n)),
    )


def handed_over(m, n, k, scale_dtype):
    return (
        piece("a", "bfloat16", (m, k)),
        piece("b", "uint8", (n, k // 2)),
        piece("sf", scale_dtype, (n * k // 16,)),
        piece("alpha", "float32", (1,)),
        piece("out", "bfloat16", (m, n)),
    )


@pytest.mark.drives(PREFETCH, "run")
@pytest.mark.parametrize(
    ("m", "n", "k", "name"),
    [
        (10, 34816, 5120, "n34816_k5120_bm16_bk1024_w8_r10_cb0_bn128_v2"),
        (11, 34816, 5120, "n34816_k5120_bm16_bk512_w8_r11_cb0_bn128_v2"),  # half the depth
        (14, 5120, 17408, "n5120_k17408_bm16_bk1024_w7_r14_cb1_bn112_v2"),  # compact weights
        (17, 5120, 17408, "n5120_k17408_bm32_bk512_w8_r17_cb0_bn128_v1"),
        (33, 5120, 17408, "n5120_k17408_bm64_bk256_w8_r34_cb0_bn128_v1"),  # rows in twos
    ],
)
def test_few_rows_are_prefetched_by_the_kernel_of_their_number(
    module, names, sm120, witness, m, n, k, name
):
    given = arguments(witness, m, n, k)
    assert module.is_supported((*given, None))
    assert module.run(*given, do_preparation=True) is given[-1]
    assert names == [name] and sm120.recording.calls("cutlass.cute.compile()") == []
    module.run(*given)
    [launch] = sm120.recording.calls("cutlass.cute.compile()")
    # The scales as bytes; the partial sums are not needed.
    assert witness.of(launch.args) == (*handed_over(m, n, k, "uint8"), None)
    assert names == [name] and sm120.recording.allocations() == []


@pytest.mark.drives(PREFETCH, "run")
def test_two_numbers_of_rows_with_one_configuration_share_a_kernel(module, names, sm120, witness):
    module.run(*arguments(witness, 33, 5120, 17408))
    with sm120.session.capture():
        module.run(*arguments(witness, 34, 5120, 17408))
        with pytest.raises(RuntimeError) as caught:
            module.run(*arguments(witness, 35, 5120, 17408))
    assert str(caught.value) == "Warm the native W4A16 prefetch tactic before capture"
    assert len(names) == 1
    launches = sm120.recording.calls("cutlass.cute.compile()")
    assert [(call.args[0].shape[0], call.capturing) for call in launches] == [
        (33, False),
        (34, True),
    ]


@pytest.mark.drives(GROUPED, "run")
@pytest.mark.parametrize(
    ("m", "n", "k", "name"),
    [
        (128, 5120, 17408, "n5120_k17408_tm8_w8_tk128_st2_u8_gm1_ca1_ws1"),
        (352, 5120, 17408, "n5120_k17408_tm22_w8_tk64_st2_u1_gm1_ca0_ws0"),
        (352, 34816, 5120, "n34816_k5120_tm22_w8_tk64_st2_u2_gm1_ca0_ws0"),
        (512, 5120, 17408, "n5120_k17408_tm4_w8_tk64_st2_u1_gm8_ca1_ws1"),
        (2000, 34816, 5120, "n34816_k5120_tm21_w8_tk64_st2_u4_gm1_ca0_ws0"),
    ],
)
def test_many_rows_are_grouped_by_the_kernel_of_their_number(
    module, names, sm120, witness, m, n, k, name
):
    given = arguments(witness, m, n, k)
    assert module.is_supported((*given, None))
    for _ in range(2):
        assert module.run(*given) is given[-1]
    launches = sm120.recording.calls("cutlass.cute.compile()")
    assert [witness.of(launch.args) for launch in launches] == [
        handed_over(m, n, k, "float8_e4m3fn")
    ] * 2
    assert names == [name] and sm120.recording.allocations() == []
