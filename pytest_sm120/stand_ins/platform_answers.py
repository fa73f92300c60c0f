"""What platform questions are answered, from one declared table for the chosen arch.

Code under test asks its own project these questions (``is_hip()``, ``current_platform.is_rocm()``,
``is_sm120_supported()``). The project is a ghost, so the answers come from here, by the last part
of the name: we stand for one NVIDIA card of the chosen arch, and for no other vendor's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

from pytest_sm120.arch import Arch
from pytest_sm120.tensors.dtypes import DTYPES


class DeviceCapability(NamedTuple):
    """A capability as vLLM spells it: a pair with names that also turns into a number."""

    major: int
    minor: int

    def to_int(self) -> int:
        """Return e.g. 120 for (12, 0)."""
        return self.major * 10 + self.minor

    def as_version_str(self) -> str:
        """Return e.g. ``"12.0"``."""
        return f"{self.major}.{self.minor}"


class DeviceTarget(NamedTuple):
    """What Triton's driver compiles for, as ``triton.backends.compiler.GPUTarget``."""

    backend: str
    #: 120 for (12, 0).
    arch: int
    warp_size: int


#: Called with the arch and with the arguments of the call.
Answer = Callable[..., object]

_YES = """
is_cuda is_cuda_alike is_nvidia is_cuda_available has_cuda
HAS_TRITON has_triton is_triton_available
""".split()
_NO = """
is_hip is_rocm is_amd is_npu is_xpu is_musa is_cpu is_hpu is_mps is_tpu is_neuron is_maca
is_mthreads is_ascend is_intel is_out_of_tree is_unspecified is_habana is_gfx95_supported
is_gfx942_supported
is_gfx1250 is_gfx12 is_fp8_fnuz is_fp8_fnuz_supported is_mi300 is_rocm_aiter_enabled is_apple
is_host_cpu_arm64 is_wsl cpu_has_amx_support
""".split()


def _number(arch: Arch) -> int:
    return arch.capability[0] * 10 + arch.capability[1]


def _as_number(capability: object) -> int:
    """Return 120 for ``(12, 0)``, 120 and 12 * 10 alike, as vLLM's platform does."""
    if isinstance(capability, tuple):
        return int(capability[0]) * 10 + int(capability[1])
    return int(capability)  # type: ignore[call-overload, no-any-return]  # whatever a caller passes


# Answered when called; the wanted capability may be (12, 0) or 120, as vLLM's platform takes both.
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "has_device_capability": lambda own, wanted: own >= wanted,
    "is_device_capability": lambda own, wanted: own == wanted,
    "is_device_capability_family": lambda own, wanted: own // 10 == wanted // 10,
}

_COMPUTED: dict[str, Callable[[Arch], object]] = {
    "get_device_capability": lambda arch: DeviceCapability(*arch.capability),
    "get_compute_capability": lambda arch: DeviceCapability(*arch.capability),
    "get_device_sm": _number,
    "get_sm_version": _number,
    "get_device_name": lambda arch: arch.card,
    "get_device_core_count": lambda arch: arch.sm_count,
    "get_num_sms": lambda arch: arch.sm_count,
    "get_device_sm_count": lambda arch: arch.sm_count,
    "num_compute_units": lambda arch: arch.sm_count,
    "fp8_dtype": lambda arch: DTYPES["float8_e4m3fn"],
    "get_current_target": lambda arch: DeviceTarget("cuda", _number(arch), arch.warp_size),
}

_FLAGS: dict[str, Callable[[Arch], bool]] = {
    # Projects differ: some mean 10.x alone. Thor (11.0) is left out although its maker counts it
    # in, since code asks in order to choose kernels that were built for 10.x or 12.x.
    "is_blackwell": lambda arch: arch.capability[0] in (10, 12),
    "is_blackwell_supported": lambda arch: arch.capability[0] in (10, 12),
    # Programmatic dependent launch came with sm_90.
    "is_arch_support_pdl": lambda arch: arch.capability >= (9, 0),
    "is_hopper": lambda arch: arch.capability[0] == 9,
    "is_ampere": lambda arch: arch.capability[0] == 8,
}

# is_sm120_supported, has_sm120, is_sm12x, is_sm100_or_newer, has_sm10_or_newer; text, since most
# tests ask none of them and need not compile it.
_SM_QUESTION = r"_?(?:is|has)_sm_?(\d{1,3})([afx]?)(?:_(supported|or_newer|exact))?"


def find_answer(name: str) -> Answer | None:
    """Return a function of (arch, call's arguments) for a platform question, else None.

    ``name`` is the dotted name that was asked, or its last part, e.g. ``"is_hip"``.
    """
    question = name.rpartition(".")[2]
    if question in _COMPARED:
        return functools.partial(_compare, _COMPARED[question])
    if name.endswith(".driver.active.utils.get_device_properties"):
        return _triton_properties
    answer = find_flag(question) or _COMPUTED.get(question)
    # Which device is asked about does not matter: there is one card.
    return None if answer is None else lambda arch, *_, **__: answer(arch)


def find_flag(name: str) -> Callable[[Arch], bool] | None:
    """Return a function of the arch for a question that may be an attribute, else None."""
    if name in _YES or name in _NO:
        return lambda arch: name in _YES
    numbered = re.fullmatch(_SM_QUESTION, name) if "s_sm" in name else None
    if numbered:
        wanted = int(numbered[1])
        # sm10 and sm12x name a major version.
        wanted = wanted * 10 if wanted < 20 else wanted
        return lambda arch: _belongs(_number(arch), wanted, numbered[2], numbered[3])
    return _FLAGS.get(name)


def _compare(
    holds: Callable[[int, int], bool], arch: Arch, capability: object, *_: object, **__: object
) -> bool:
    return holds(_number(arch), _as_number(capability))


def _triton_properties(arch: Arch, *_: object, **__: object) -> dict[str, int]:
    from pytest_sm120.stand_ins.driver_properties import DriverProperties

    return DriverProperties(arch)


def _belongs(number: int, wanted: int, suffix: str, ending: str | None) -> bool:
    """Return whether an arch is what ``is_sm120`` and its like ask for.

    A number that ends in 0 stands for its family, as in sglang.srt.utils; but sm_120a is told from
    sm_121a, while FlashInfer asks for sm_100a when it means all of 10.x.
    """
    if ending == "or_newer":
        return number >= wanted
    is_exact = wanted % 10 != 0 or ending == "exact" or (suffix == "a" and wanted == 120)
    return number == wanted if is_exact else number // 10 == wanted // 10
