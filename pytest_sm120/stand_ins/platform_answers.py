"""What platform questions are answered, from one declared table for the chosen arch.

Code under test asks its own project these questions (``is_hip()``, ``current_platform.is_rocm()``,
``is_sm120_supported()``). The project is a ghost, so the answers come from here, by the last part
of the name: we stand for one NVIDIA card of the chosen arch, and for no other vendor's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from pytest_sm120.arch import Arch


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


Answer = Callable[..., object]

_YES = ("is_cuda", "is_cuda_alike", "is_nvidia", "is_cuda_available", "has_cuda")
_NO = """
is_hip is_rocm is_amd is_npu is_xpu is_musa is_cpu is_hpu is_mps is_tpu is_neuron is_maca is_mthreads
is_ascend is_intel is_out_of_tree is_unspecified is_habana is_gfx95_supported is_gfx942_supported
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


def _is_blackwell(arch: Arch, *_: object) -> bool:
    return arch.capability[0] in (10, 12)


_COMPUTED: dict[str, Answer] = {
    "get_device_capability": lambda arch, *_: DeviceCapability(*arch.capability),
    "get_compute_capability": lambda arch, *_: DeviceCapability(*arch.capability),
    "has_device_capability": lambda arch, wanted, *_: _number(arch) >= _as_number(wanted),
    "is_device_capability": lambda arch, wanted, *_: _number(arch) == _as_number(wanted),
    "is_device_capability_family": (
        lambda arch, wanted, *_: _number(arch) // 10 == _as_number(wanted) // 10
    ),
    "get_device_sm": lambda arch, *_: _number(arch),
    "get_sm_version": lambda arch, *_: _number(arch),
    "get_device_name": lambda arch, *_: arch.card,
    "get_device_core_count": lambda arch, *_: arch.sm_count,
    "get_num_sms": lambda arch, *_: arch.sm_count,
    "get_device_sm_count": lambda arch, *_: arch.sm_count,
    "num_compute_units": lambda arch, *_: arch.sm_count,
    "is_blackwell": _is_blackwell,
    "is_blackwell_supported": _is_blackwell,
    "is_hopper": lambda arch, *_: arch.capability[0] == 9,
    "is_ampere": lambda arch, *_: arch.capability[0] == 8,
    "is_sm12x": lambda arch, *_: arch.capability[0] == 12,
    "is_sm12x_supported": lambda arch, *_: arch.capability[0] == 12,
}

# is_sm120_supported() asks for the family, as sglang.srt.utils does; is_sm121 for that one only.
_SM_NUMBER = re.compile(r"is_sm_?(\d{2,3})[af]?(?:_supported)?")


def find_answer(name: str) -> Answer | None:
    """Return a function of (arch, call's arguments) for a platform question, else None.

    ``name`` is the last part of the dotted name that was asked, e.g. ``"is_hip"``.
    """
    if name in _YES or name in _NO:
        return lambda arch, *_: name in _YES
    numbered = _SM_NUMBER.fullmatch(name)
    if numbered:
        wanted = int(numbered[1])
        return lambda arch, *_: _belongs(_number(arch), wanted)
    return _COMPUTED.get(name)


def _belongs(number: int, wanted: int) -> bool:
    return number // 10 == wanted // 10 if wanted % 10 == 0 else number == wanted
