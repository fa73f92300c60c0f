"""torch.cuda: the current device, and what it answers about itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.devices import DEVICE_COUNT, cuda_index
from pytest_sm120.stand_ins.torch_stand_in.modes import Switch
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor


class DeviceProperties(NamedTuple):
    """What ``torch.cuda.get_device_properties`` answers, from the table of arches."""

    name: str
    major: int
    minor: int
    multi_processor_count: int
    #: In bytes.
    total_memory: int
    warp_size: int
    max_threads_per_block: int
    regs_per_multiprocessor: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    max_threads_per_multi_processor: int
    L2_cache_size: int
    is_integrated: int
    #: Without opting in: 48 KiB on every arch of the table.
    shared_memory_per_block: int = 48 * 1024

    @property
    def gcnArchName(self) -> str:  # noqa: N802  # torch's spelling
        """The card's name, as a CUDA build of torch answers."""
        return self.name


def get_device_properties(execution: Execution, device: Any = None) -> DeviceProperties:
    """Return the properties of the chosen arch's card."""
    cuda_index(execution, device)
    arch = execution.arch
    return DeviceProperties(
        name=arch.card,
        major=arch.capability[0],
        minor=arch.capability[1],
        multi_processor_count=arch.sm_count,
        total_memory=arch.memory_bytes,
        warp_size=arch.warp_size,
        max_threads_per_block=arch.max_threads_per_block,
        regs_per_multiprocessor=arch.registers_per_sm,
        shared_memory_per_block_optin=arch.shared_memory_per_block_bytes,
        shared_memory_per_multiprocessor=arch.shared_memory_per_sm_bytes,
        max_threads_per_multi_processor=arch.max_threads_per_sm,
        L2_cache_size=arch.l2_cache_bytes,
        is_integrated=int(arch.is_integrated),
    )


def get_device_capability(execution: Execution, device: Any = None) -> tuple[int, int]:
    """Return the capability of the chosen arch."""
    cuda_index(execution, device)
    return execution.arch.capability


def get_device_name(execution: Execution, device: Any = None) -> str:
    """Return the name of the chosen arch's card."""
    cuda_index(execution, device)
    return execution.arch.card


def mem_get_info(execution: Execution, device: Any = None) -> tuple[int, int]:
    """Return free and total memory in bytes; all of the card's is free."""
    cuda_index(execution, device)
    return execution.arch.memory_bytes, execution.arch.memory_bytes


def get_arch_list(execution: Execution) -> list[str]:
    """Return the arches that torch would have been built for: the chosen one."""
    return [execution.arch.name]


def device_count(execution: Execution) -> int:
    """Return the declared number of cards."""
    return DEVICE_COUNT


def always_true(execution: Execution, *args: Any) -> bool:
    """Return True: there is a card, initialized, with bfloat16."""
    return True


def current_device(execution: Execution) -> int:
    """Return the index of the current device."""
    return execution.device_index


def set_device(execution: Execution, device: Any) -> None:
    """Make a device the current one."""
    execution.change(device=cuda_index(execution, device))


def device(execution: Execution, device: Any) -> Switch:
    """Return what ``torch.cuda.device`` does: a block with another current device."""
    if isinstance(device, int) and device < 0:
        return Switch(execution)
    return Switch(execution, device=cuda_index(execution, device))


def device_of(execution: Execution, obj: Any) -> Switch:
    """Return what ``torch.cuda.device_of`` does: a block on the tensor's device."""
    if isinstance(obj, Tensor) and obj.is_cuda:
        return Switch(execution, device=obj.device.index)
    return Switch(execution)


def do_nothing(execution: Execution, *args: Any, **kwargs: Any) -> None:
    """Do nothing: there is nothing to wait for, to free or to seed."""


def is_current_stream_capturing(execution: Execution) -> bool:
    """Return whether the current stream adds to a CUDA graph."""
    state = execution.state_now()
    return state.graph_on(state.device) is not None
