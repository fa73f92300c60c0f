"""Devices as a caller names them, resolved against the current device."""

from __future__ import annotations

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign, unknown_operation
from pytest_sm120.tensors.devices import Device

#: How many cards ``torch.cuda.device_count`` answers: those of one common server.
DEVICE_COUNT = 8

_MODELLED = ("cpu", "cuda", "meta")


def read_device(execution: Execution, device: object) -> Device:
    """Return the device on which a new tensor would lie; None means the CPU.

    Raises what torch raises for a device that is spelled wrongly or is not there.
    """
    if device is None:
        return Device("cpu")
    if isinstance(device, bool) or not isinstance(device, (str, int, Device)):
        refuse_foreign(device)
        raise TypeError(f"argument 'device' must be torch.device, not {type(device).__name__}")
    found = device if isinstance(device, Device) else Device(device)
    if found.type == "cuda":
        return Device("cuda", cuda_index(execution, found))
    if found.type not in _MODELLED:
        raise unknown_operation(f"a tensor on the device {found}")
    return Device(found.type)


def cuda_index(execution: Execution, device: object) -> int:
    """Return the index of a CUDA device; the current one when none is named."""
    if device is None:
        return execution.device_index
    if isinstance(device, int) and not isinstance(device, bool):
        number: int | None = device
    else:
        found = device if isinstance(device, Device) else Device(device)
        if found.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {found}")
        number = found.index
    if number is None or number == -1:
        return execution.device_index
    if not 0 <= number < DEVICE_COUNT:
        raise RuntimeError("CUDA error: invalid device ordinal")
    return number
