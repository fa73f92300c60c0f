"""The recording stand-in for Triton: kernels whose launches are recorded instead of run."""

from pytest_sm120.stand_ins.triton_stand_in.modules import TRITON_CLASSES, build_triton

__all__ = ["TRITON_CLASSES", "build_triton"]
