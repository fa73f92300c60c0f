"""Moves the parameters and buffers of a torch.nn.Module; apart, since few targets do."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.tensors.dtypes import DType


def move_module(module: Any, *args: Any, **kwargs: Any) -> Any:
    """Do what ``torch.nn.Module.to`` does with these arguments, and return the module."""
    dtype = kwargs.pop("dtype", None)
    where = [given for given in args if not isinstance(given, (DType, Tensor))]
    for given in args:
        if isinstance(given, Tensor):
            where, dtype = [given.device], given.dtype
        elif isinstance(given, DType):
            dtype = given
    if dtype is not None and dtype.kind not in ("float", "complex"):
        raise TypeError(
            "nn.Module.to only accepts floating point or complex dtypes, but got desired "
            f"dtype=torch.{dtype.name}"
        )
    for owner in module.modules():
        for parameter in owner._parameters.values():
            if parameter is not None:
                parameter.data = _moved(parameter.data, where, kwargs, dtype)
        for name, buffer in owner._buffers.items():
            if buffer is not None:
                owner._buffers[name] = _moved(buffer, where, kwargs, dtype)
    return module


def _moved(tensor: Tensor, where: list[Any], options: dict[str, Any], dtype: DType | None) -> Any:
    converts = dtype is not None and tensor.dtype.kind in ("float", "complex")
    return tensor.to(*where, **options, dtype=dtype if converts else None)
