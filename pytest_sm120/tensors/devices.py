"""Devices as data."""

from __future__ import annotations

import re

# The device types that torch 2.13's parser accepts.
_TYPES = ["cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga"]
_TYPES += ["maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"]
_SPELLING = re.compile(r"([a-z]+)(?::(0|[1-9]\d*))?")


class Device:
    """A device with a type and, for an accelerator, an index; built as ``torch.device`` is.

    ``Device("cuda:0")``, ``Device("cuda", 0)``, ``Device(0)`` and ``Device(other_device)`` are
    accepted; anything else raises RuntimeError with torch's own reason.
    """

    __slots__ = ("index", "type")

    def __init__(self, spelling: object, index: int | None = None) -> None:
        self.type, self.index = _parse(spelling, index)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[object, ...]:
        return (Device, (str(self),))


def _parse(spelling: object, index: int | None) -> tuple[str, int | None]:
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    if isinstance(spelling, int) and not isinstance(spelling, bool):
        if spelling < 0:
            raise RuntimeError("Device index must not be negative")
        # torch: a bare index means the current accelerator's type, which is cuda for our cards.
        return "cuda", spelling
    text = str(spelling)
    found = _SPELLING.fullmatch(text)
    if found is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    kind, digits = found[1], found[2]
    if kind not in _TYPES:
        raise RuntimeError(
            f"Expected one of {', '.join(_TYPES)} device type at start of device string: {kind}"
        )
    if digits is not None and index is not None:
        raise RuntimeError(
            f"type (string) must not include an index because index was passed explicitly: {text}"
        )
    return kind, int(digits) if digits is not None else index


def without_default_index(device: Device) -> Device:
    """Return the device a tensor would report: ``cuda`` means ``cuda:0``, the current device."""
    if device.index is None and device.type not in ("cpu", "meta"):
        return Device(device.type, 0)
    return Device("cpu") if device.type == "cpu" else device
