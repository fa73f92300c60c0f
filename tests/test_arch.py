"""The table of arches and their spellings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.arch import ARCHES, DEFAULT_ARCH, Arch, find_arch, find_arches
from pytest_sm120.errors import UsageError
from tests.tables.write_arches import write_page

EVERY_ARCH = pytest.mark.parametrize("arch", ARCHES.values(), ids=lambda arch: arch.name)


@EVERY_ARCH
@pytest.mark.parametrize(
    "form",
    [
        *("sm_{0}{1}", "sm{0}{1}", "sm_{0}{1}a", "sm_{0}{1}f", "compute_{0}{1}", "{0}{1}"),
        *("{0}.{1}", "SM_{0}{1}", " sm_{0}{1} "),
    ],
)
def test_every_spelling_names_the_arch(arch: Arch, form: str) -> None:
    assert find_arch(form.format(*arch.capability)) is arch


@EVERY_ARCH
def test_capability_and_arch_name_the_arch(arch: Arch) -> None:
    assert find_arch(arch.capability) is arch
    assert find_arch(list(arch.capability)) is arch  # type: ignore[arg-type]  # what a setting may hold
    assert find_arch(arch) is arch
    assert find_arch(arch.name) is arch


@EVERY_ARCH
def test_limits_fit_each_other(arch: Arch) -> None:
    # One KiB of an SM's shared memory is the system's: CUDA C++ Programming Guide, "Shared Memory".
    assert arch.shared_memory_per_sm_bytes - arch.shared_memory_per_block_bytes == 1024
    assert arch.max_threads_per_block % arch.warp_size == 0
    assert arch.max_grid == (2147483647, 65535, 65535)
    assert arch.sm_count > 0 and arch.memory_bytes > 2**30 > arch.l2_cache_bytes >= 4 * 2**20
    assert arch.max_threads_per_sm % arch.max_threads_per_block in (0, 512)
    assert arch.max_threads_per_sm // arch.max_blocks_per_sm >= arch.warp_size
    assert arch.registers_per_thread < arch.registers_per_block == arch.registers_per_sm


# From "Technical Specifications per Compute Capability": KiB of shared memory of a block, blocks
# and threads of an SM.
@pytest.mark.parametrize(
    ("name", "limits"),
    [
        *(("sm_80", (163, 32, 2048)), ("sm_86", (99, 16, 1536)), ("sm_87", (163, 16, 1536))),
        *(("sm_89", (99, 24, 1536)), ("sm_90", (227, 32, 2048)), ("sm_100", (227, 32, 2048))),
        *(("sm_103", (227, 32, 2048)), ("sm_110", (227, 24, 1536)), ("sm_120", (99, 24, 1536))),
        ("sm_121", (99, 24, 1536)),
    ],
)
def test_limits_are_those_of_the_guide(name: str, limits: tuple[int, int, int]) -> None:
    arch = find_arch(name)
    block = arch.shared_memory_per_block_bytes // 1024
    assert (block, arch.max_blocks_per_sm, arch.max_threads_per_sm) == limits


def test_several_arches_are_each_found_once() -> None:
    found = find_arches(["sm_120", (9, 0), "12.0"])
    assert [arch.name for arch in found] == ["sm_120", "sm_90"]
    assert find_arches((12, 1)) == find_arches("sm_121") == (find_arch("sm_121"),)
    assert find_arches({"sm_90": 1}) == find_arches(find_arch("sm_90"))


def test_page_of_arches_is_up_to_date() -> None:
    page = Path(__file__).parents[1] / "docs" / "arches.md"
    assert page.read_text(encoding="utf-8") == write_page(), (
        "docs/arches.md is stale. Run: python -m tests.tables.write_arches"
    )


def test_default_is_sm_120() -> None:
    assert DEFAULT_ARCH.capability == (12, 0)
    assert DEFAULT_ARCH.name == "sm_120"
    with pytest.raises(AttributeError):
        DEFAULT_ARCH.sm_count = 1  # type: ignore[misc]  # the point


@pytest.mark.parametrize(
    "spelling", ["sm_70", "sm_", "", "ampere", "12", "sm_1200", (12, 0, 0), (7, 0), 120, None, 12.0]
)
def test_unknown_arch_is_refused(spelling: object) -> None:
    with pytest.raises(UsageError) as raised:
        find_arch(spelling)  # type: ignore[arg-type]  # the point
    assert str(raised.value) == (
        f"{spelling!r} is not an arch that this version knows. Known are sm_80, sm_86, sm_87, "
        "sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121, also spelled as sm_120a, 12.0 or "
        "(12, 0). Use one of these in the marker's arch= or in the setting sm120_arch."
    )


@given(st.text(max_size=12))
def test_any_text_names_an_arch_or_is_refused(text: str) -> None:
    try:
        found = find_arch(text)
    except UsageError:
        return
    assert "".join(filter(str.isdecimal, text)) == f"{found.capability[0]}{found.capability[1]}"
