"""What each modelled module of torch holds: constants for all tests, functions bound to one."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in import (
    creation,
    cuda,
    custom_ops,
    format_limits,
    modes,
    modules,
    parameters,
    promotion,
    ranges,
)
from pytest_sm120.stand_ins.torch_stand_in.memory_formats import (
    MEMORY_FORMATS,
    STRIDED,
    Layout,
    MemoryFormat,
)
from pytest_sm120.stand_ins.torch_stand_in.methods import (
    FUNCTIONS,
    computing_functions,
    functional,
)
from pytest_sm120.stand_ins.torch_stand_in.questions import QUESTIONS
from pytest_sm120.stand_ins.torch_stand_in.size import Size
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.torch_version import VERSION, TorchVersion
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import ALIASES, DTYPES, DType


class OutOfMemoryError(RuntimeError):
    """As ``torch.OutOfMemoryError``; never raised here."""


class AcceleratorError(RuntimeError):
    """As ``torch.AcceleratorError``; never raised here."""


_DTYPES = {**DTYPES, **{alias: DTYPES[name] for alias, name in ALIASES.items()}}

_COMPILER = {
    name: custom_ops.identity_decorator
    for name in ("disable", "allow_in_graph", "assume_constant_result")
} | {
    name: custom_ops.always_false
    for name in ("is_compiling", "is_dynamo_compiling", "is_exporting")
}

#: Constants by module, the same for every test.
CONSTANTS: dict[str, dict[str, Any]] = {
    "torch": {
        **FUNCTIONS,
        **QUESTIONS,
        **_DTYPES,
        **MEMORY_FORMATS,
        **parameters.LEGACY_TYPES,
        "__version__": VERSION,
        "Tensor": Tensor,
        "Size": Size,
        "dtype": DType,
        "device": Device,
        "memory_format": MemoryFormat,
        "layout": Layout,
        "strided": STRIDED,
        "OutOfMemoryError": OutOfMemoryError,
        "AcceleratorError": AcceleratorError,
        "compile": custom_ops.identity_decorator,
        "promote_types": promotion.promote_types,
        "can_cast": promotion.can_cast,
        "inf": math.inf,
        "nan": math.nan,
        "pi": math.pi,
        "e": math.e,
    },
    "torch.nn": {
        "Module": modules.Module,
        "ModuleList": modules.ModuleList,
        "Sequential": modules.Sequential,
        "Identity": modules.Identity,
        "Parameter": parameters.Parameter,
        "Buffer": parameters.Buffer,
    },
    "torch.nn.functional": {},
    "torch.nn.parameter": {"Parameter": parameters.Parameter, "Buffer": parameters.Buffer},
    "torch.version": {
        "__version__": VERSION,
        "cuda": "13.0",
        "hip": None,
        "xpu": None,
        "rocm": None,
        "debug": False,
    },
    "torch.torch_version": {"__version__": VERSION, "TorchVersion": TorchVersion},
    "torch.library": {
        "register_fake": custom_ops.register_fake,
        "wrap_triton": custom_ops.wrap_triton,
    },
    "torch.compiler": _COMPILER,
    "torch.autograd": {"Function": custom_ops.Function},
    "torch.jit": {
        "script": custom_ops.identity_decorator,
        "ignore": custom_ops.identity_decorator,
        "unused": custom_ops.identity_decorator,
        "export": custom_ops.identity_decorator,
        "is_scripting": custom_ops.always_false,
        "is_tracing": custom_ops.always_false,
    },
    "torch.cuda": {
        "OutOfMemoryError": OutOfMemoryError,
    },
    "torch.accelerator": {},
    "torch._C": {},
}


#: Constants by module that are read when somebody asks for what is not among the others.
LATER: dict[str, Callable[[], dict[str, Any]]] = {
    "torch": computing_functions,
    "torch.nn.functional": functional,
}

#: Functions by module that get the test's execution as their first argument.
BOUND: dict[str, dict[str, Callable[..., Any]]] = {
    "torch": {
        **{name: partial(creation.create, name) for name in creation.FILLS},
        "full": creation.full,
        "arange": ranges.arange,
        "linspace": ranges.linspace,
        "randint": ranges.randint,
        "tensor": creation.tensor,
        "as_tensor": creation.as_tensor,
        "from_numpy": creation.from_numpy,
        "asarray": creation.asarray,
        "empty_strided": creation.empty_strided,
        "inference_mode": modes.inference_mode,
        "no_grad": modes.no_grad,
        "enable_grad": modes.enable_grad,
        "set_grad_enabled": modes.GradSwitch,
        "is_grad_enabled": modes.is_grad_enabled,
        "is_inference_mode_enabled": modes.is_inference_mode_enabled,
        "get_default_dtype": modes.get_default_dtype,
        "set_default_dtype": modes.set_default_dtype,
        "finfo": format_limits.finfo,
        "iinfo": format_limits.iinfo,
        "result_type": lambda execution, tensor1, tensor2: promotion.result_type(
            (tensor1, tensor2), execution.default_dtype
        ),
        "manual_seed": cuda.do_nothing,
    },
    "torch.cuda": {
        "is_available": cuda.always_true,
        "is_initialized": cuda.always_true,
        "is_bf16_supported": cuda.always_true,
        "init": cuda.do_nothing,
        "empty_cache": cuda.do_nothing,
        "manual_seed": cuda.do_nothing,
        "manual_seed_all": cuda.do_nothing,
        "device_count": cuda.device_count,
        "current_device": cuda.current_device,
        "set_device": cuda.set_device,
        "device": cuda.device,
        "device_of": cuda.device_of,
        "get_device_capability": cuda.get_device_capability,
        "get_device_properties": cuda.get_device_properties,
        "get_device_name": cuda.get_device_name,
        "get_arch_list": cuda.get_arch_list,
        "mem_get_info": cuda.mem_get_info,
        "is_current_stream_capturing": cuda.is_current_stream_capturing,
    },
    "torch.accelerator": {
        "is_available": cuda.always_true,
        "device_count": cuda.device_count,
        "current_device_index": cuda.current_device,
        "current_device_idx": cuda.current_device,
        "current_accelerator": lambda execution, check_available=False: Device("cuda"),
        "set_device_index": cuda.set_device,
        "set_device_idx": cuda.set_device,
        "device_index": cuda.device,
        "empty_cache": cuda.do_nothing,
    },
}
