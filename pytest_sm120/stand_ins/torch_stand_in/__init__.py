"""The recording stand-in for torch: tensors without memory, whose allocations are recorded."""

from __future__ import annotations

from pytest_sm120.stand_ins.torch_stand_in.build import TORCH_CLASSES, build_torch
from pytest_sm120.stand_ins.torch_stand_in.inputs import contents, input_tensor, input_values
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor

__all__ = ["TORCH_CLASSES", "Tensor", "build_torch", "contents", "input_tensor", "input_values"]
