"""torch.nn.Parameter and the legacy tensor classes, as classes to derive from and to test for."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, make_like
from pytest_sm120.stand_ins.torch_stand_in.type_names import LEGACY_CLASSES
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign, unknown_operation


class Parameter(Tensor):
    """A tensor that a module owns, as ``torch.nn.Parameter``."""

    def __new__(cls, data: Any = None, requires_grad: bool = True, **options: Any) -> Any:
        """Return the data's memory as a parameter."""
        if not isinstance(data, Tensor):
            refuse_foreign(data)
            raise unknown_operation(f"torch.nn.{cls.__name__}(...) without a tensor")
        if requires_grad and data.dtype.kind not in ("float", "complex"):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        return make_like(cls, data, requires_grad)


class Buffer(Tensor):
    """A tensor that a module keeps beside its parameters, as ``torch.nn.Buffer``."""

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """Return the data's memory as a buffer."""
        if not isinstance(data, Tensor):
            refuse_foreign(data)
            raise unknown_operation("torch.nn.Buffer(...) without a tensor")
        return make_like(cls, data, data.requires_grad)


class _LegacyKind(type):
    """Makes ``isinstance(tensor, torch.LongTensor)`` ask for the dtype, as in torch."""

    _dtype_name: str

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, Tensor):
            return False
        return instance.is_cpu and instance.dtype.name == cls._dtype_name


def _refuse_legacy(cls: Any, *args: Any, **kwargs: Any) -> Any:
    raise unknown_operation(f"torch.{cls.__name__}(...) as a constructor")


LEGACY_TYPES: dict[str, Any] = {
    name: _LegacyKind(name, (), {"_dtype_name": dtype, "__new__": _refuse_legacy})
    for name, dtype in LEGACY_CLASSES.items()
}
