"""Platform questions, asked of a project that is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_sm120.arch import ARCHES, Arch, find_arch
from pytest_sm120.stand_ins.platform_answers import DeviceTarget, find_answer
from tests.stand_ins.bench import Bench

EVERY_ARCH = pytest.mark.parametrize("arch", ARCHES.values(), ids=lambda arch: arch.name)


def answer(name: str, arch: Arch, **options: object) -> Any:
    """What the table answers."""
    found = find_answer(name)
    assert found is not None
    return found(arch, **options)


def ask(tmp_path: Path, arch: Arch, code: str) -> object:
    """What an expression on the ghost ``platform`` is, at import and at run time alike."""
    bench = Bench(tmp_path, arch)
    try:
        module = bench.load(f"from lib import platform\ndef ask(): return {code}\nvalue = {code}\n")
        assert module.__sm120_assumptions__ == []
        assert bench.recording.calls() == []
        assert module.ask() == module.value
        return module.value
    finally:
        bench.close()


@EVERY_ARCH
def test_vendor_is_nvidia(tmp_path: Path, arch: Arch) -> None:
    code = "[platform.is_cuda(), platform.is_hip(), platform.is_rocm(), platform.is_npu()]"
    assert ask(tmp_path, arch, code) == [True, False, False, False]


@EVERY_ARCH
def test_vendor_is_nvidia_when_asked_by_attribute(tmp_path: Path, arch: Arch) -> None:
    code = "[bool(platform.is_cuda), not platform.is_hip, bool(platform.is_xpu)]"
    assert ask(tmp_path, arch, code) == [True, True, False]


@EVERY_ARCH
def test_triton_is_there(tmp_path: Path, arch: Arch) -> None:
    code = "[bool(platform.HAS_TRITON), platform.has_triton(), platform.is_triton_available()]"
    assert ask(tmp_path, arch, code) == [True, True, True]


@EVERY_ARCH
def test_float8_is_e4m3_and_dependent_launches_need_sm_90(tmp_path: Path, arch: Arch) -> None:
    assert str(ask(tmp_path, arch, "platform.fp8_dtype()")) == "torch.float8_e4m3fn"
    assert ask(tmp_path, arch, "platform.is_arch_support_pdl()") is (arch.capability >= (9, 0))


@EVERY_ARCH
def test_capability_is_a_pair_with_names(tmp_path: Path, arch: Arch) -> None:
    code = "platform.get_device_capability(0)"
    found = ask(tmp_path, arch, code)
    assert found == arch.capability
    assert answer("get_device_capability", arch, device_id=0) == arch.capability


@EVERY_ARCH
def test_capability_is_compared(tmp_path: Path, arch: Arch) -> None:
    code = (
        "[platform.has_device_capability(90), platform.has_device_capability((9, 0)), "
        "platform.has_device_capability(capability=90, device_id=0), "
        "platform.is_device_capability((12, 0)), platform.is_device_capability_family(120)]"
    )
    capability = arch.capability
    newer = capability >= (9, 0)
    assert ask(tmp_path, arch, code) == [
        *(newer, newer, newer),
        capability == (12, 0),
        capability[0] == 12,
    ]


@EVERY_ARCH
def test_numbers_come_from_the_table(tmp_path: Path, arch: Arch) -> None:
    code = (
        "[platform.get_device_sm(), platform.get_sm_version(), platform.get_device_name(), "
        "platform.get_device_core_count(0), platform.num_compute_units(device_id=0)]"
    )
    number = arch.capability[0] * 10 + arch.capability[1]
    assert ask(tmp_path, arch, code) == [number, number, arch.card, arch.sm_count, arch.sm_count]


@EVERY_ARCH
def test_families_are_told_apart(tmp_path: Path, arch: Arch) -> None:
    code = (
        "[platform.is_sm120_supported(), platform.is_sm121(), bool(platform.is_sm90), "
        "platform.is_sm_100f(), platform.is_blackwell(), platform.is_hopper(), "
        "bool(platform.is_ampere), platform.is_sm12x(), platform.is_sm12x_supported(), "
        "platform.is_blackwell_supported()]"
    )
    major = arch.capability[0]
    assert ask(tmp_path, arch, code) == [
        *(major == 12, arch.capability == (12, 1), major == 9, major == 10, major in (10, 12)),
        *(major == 9, major == 8, major == 12, major == 12, major in (10, 12)),
    ]


def test_capability_turns_into_a_number_and_a_version() -> None:
    capability = answer("get_device_capability", find_arch("sm_121"))
    assert (capability.major, capability.minor) == (12, 1)
    assert capability.to_int() == 121
    assert capability.as_version_str() == "12.1"


def test_triton_driver_compiles_for_the_arch(bench: Bench) -> None:
    module = bench.load(
        """
        import triton
        target = triton.runtime.driver.active.get_current_target()
        is_cuda = target.backend == "cuda"
        """
    )
    assert module.target == DeviceTarget("cuda", 120, 32)
    assert module.is_cuda


@EVERY_ARCH
def test_triton_driver_knows_the_card(tmp_path: Path, arch: Arch) -> None:
    bench = Bench(tmp_path, arch)
    try:
        module = bench.load(
            """
            import triton
            def ask(device=0):
                driver = triton.runtime.driver.active
                return driver.utils.get_device_properties(device)
            at_import = ask()
            """
        )
        assert module.ask() == module.at_import
        assert module.ask() == {
            "max_shared_mem": arch.shared_memory_per_block_bytes,
            "max_num_regs": 65536,
            "multiprocessor_count": arch.sm_count,
            "warpSize": 32,
        }
        assert module.__sm120_assumptions__ == []
        assert bench.recording.calls() == []
    finally:
        bench.close()


def test_property_that_the_table_lacks_is_named(bench: Bench) -> None:
    module = bench.load(
        """
        import triton
        def ask(key):
            return triton.runtime.driver.active.utils.get_device_properties(0)[key]
        """
    )
    with pytest.raises(KeyError) as raised:
        module.ask("mem_bus_width")
    assert raised.value.args == (
        "Triton's driver was asked for 'mem_bus_width' of sm_120. The table of arches has only "
        "max_shared_mem, max_num_regs, multiprocessor_count, warpSize, since clocks and bus widths "
        "differ from card to card. Ask for one of these, or provide= what the code computes from "
        "it.",
    )


@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("has_sm120", "sm_120 sm_121"),
        ("_is_sm120", "sm_120 sm_121"),
        ("is_sm120a_supported", "sm_120"),
        ("is_sm121a_supported", "sm_121"),
        ("is_sm120f_supported", "sm_120 sm_121"),
        ("has_sm100", "sm_100 sm_103"),
        ("is_sm100a_supported", "sm_100 sm_103"),
        ("has_sm100a_exact", "sm_100"),
        ("has_sm103", "sm_103"),
        ("is_sm110a_supported", "sm_110"),
        ("is_sm100_or_newer", "sm_100 sm_103 sm_110 sm_120 sm_121"),
        ("has_sm10_or_newer", "sm_100 sm_103 sm_110 sm_120 sm_121"),
        ("is_sm90_or_newer", "sm_90 sm_100 sm_103 sm_110 sm_120 sm_121"),
        ("has_sm8_or_newer", " ".join(arch.name for arch in ARCHES.values())),
        ("is_sm12x", "sm_120 sm_121"),
        ("is_sm12x_supported", "sm_120 sm_121"),
        ("is_sm10x", "sm_100 sm_103"),
        ("is_sm8x", "sm_80 sm_86 sm_87 sm_89"),
        ("is_blackwell", "sm_100 sm_103 sm_120 sm_121"),
        ("is_blackwell_supported", "sm_100 sm_103 sm_120 sm_121"),
    ],
)
def test_question_is_answered_yes_on_these_arches_alone(question: str, yes: str) -> None:
    found = [arch.name for arch in ARCHES.values() if answer(question, arch)]
    assert found == yes.split()


@pytest.mark.parametrize("family", [120, (12, 0), 121])
def test_family_is_that_of_the_number(family: object) -> None:
    found = [
        arch.name
        for arch in ARCHES.values()
        if answer("is_device_capability_family", arch, capability=family)
    ]
    assert found == ["sm_120", "sm_121"]


@pytest.mark.parametrize("name", ["is_small", "uses_sm_count", "is_sm120_fast"])
def test_name_that_only_looks_like_a_question_has_no_answer(name: str) -> None:
    assert find_answer(name) is None


def test_question_that_needs_an_argument_is_no_flag(bench: Bench) -> None:
    module = bench.load("from lib import platform\nflag = bool(platform.has_device_capability)\n")
    assert module.flag is False
    assert len(module.__sm120_assumptions__) == 1


def test_unknown_question_has_no_answer() -> None:
    assert find_answer("is_fast") is None
