"""The table of arches and their spellings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.arch import ARCHES, DEFAULT_ARCH, Arch, find_arch
from pytest_sm120.errors import UsageError

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
    assert arch.sm_count > 0 and arch.memory_bytes > 2**30


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
        f"{spelling!r} is not an arch that this version knows. Known are sm_80, sm_86, sm_89, "
        "sm_90, sm_100, sm_103, sm_120, sm_121, also spelled as sm_120a, 12.0 or (12, 0). Use one "
        "of these in the marker's arch= or in the setting sm120_arch."
    )


@given(st.text(max_size=12))
def test_any_text_names_an_arch_or_is_refused(text: str) -> None:
    try:
        found = find_arch(text)
    except UsageError:
        return
    assert "".join(filter(str.isdecimal, text)) == f"{found.capability[0]}{found.capability[1]}"
