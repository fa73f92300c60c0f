"""The class torch.Tensor: what a tensor is asked about itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

from pytest_sm120.stand_ins.torch_stand_in.memory import View, make_tensor
from pytest_sm120.stand_ins.torch_stand_in.size import Size, wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.values import (
    describe,
    item_of,
    nested,
    only_item_of,
    read_values,
    unknown_operation,
)
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DType
from pytest_sm120.tensors.storages import address_of


class UntypedStorage:
    """The storage of a tensor, as ``Tensor.untyped_storage()``."""

    def __init__(self, tensor: View) -> None:
        self._storage = tensor._storage

    def data_ptr(self) -> int:
        """Return an address that no other storage has."""
        return address_of(self._storage.serial)

    def nbytes(self) -> int:
        """Return the size in bytes."""
        return self._storage.nbytes

    size = nbytes
    __len__ = nbytes

    @property
    def device(self) -> Device:
        """Where it lies."""
        return self._storage.device


class TensorType(type):
    """The class of the class Tensor: methods.py teaches it to find what computes."""


class Tensor(View, metaclass=TensorType):
    """A tensor without memory: which elements of which storage, and what is known of them."""

    #: The gradient; nothing is ever differentiated here.
    grad: Any = None
    __hash__ = object.__hash__
    __array_priority__ = 1000

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        """Refuse: a class cannot know which test it belongs to."""
        raise unknown_operation(f"torch.{cls.__name__}(...) as a constructor")

    @staticmethod
    def _make_subclass(cls: Any, data: Tensor, require_grad: bool = False) -> Any:
        return make_like(cls, data, bool(require_grad))

    def as_subclass(self, cls: Any) -> Any:
        """Return a view of this tensor as an object of a subclass."""
        return make_like(cls, self, self._requires_grad)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Find a method; methods.py has the function."""

    def __repr__(self) -> str:
        return f"tensor({describe(self)})"

    @property
    def shape(self) -> Size:
        """The sizes."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The number format."""
        return self._dtype

    @property
    def device(self) -> Device:
        """Where its storage lies."""
        return self._storage.device

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return len(self._shape)

    ndimension = dim

    def size(self, dim: Any = None) -> Any:
        """Return the sizes, or the size of one dimension."""
        return self._shape if dim is None else self._shape[wrap_dimension_of(self, dim)]

    def stride(self, dim: Any = None) -> Any:
        """Return the strides in elements, or the stride of one dimension."""
        return self._strides if dim is None else self._strides[wrap_dimension_of(self, dim)]

    def numel(self) -> int:
        """Return the number of elements."""
        return prod(self._shape)

    nelement = numel

    def storage_offset(self) -> int:
        """Return the first element's position in the storage, in elements."""
        return self._offset

    def element_size(self) -> int:
        """Return the bytes of one element."""
        return self._dtype.itemsize

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return prod(self._shape) * self._dtype.itemsize

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 for a tensor without elements."""
        if self._storage.nbytes == 0:
            return 0
        return UntypedStorage(self).data_ptr() + self._offset * self._dtype.itemsize

    def untyped_storage(self) -> UntypedStorage:
        """Return the storage, to compare addresses and sizes."""
        return UntypedStorage(self)

    @property
    def is_cuda(self) -> bool:
        """Whether it lies on a CUDA device."""
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        """Whether it lies in host memory."""
        return self.device.type == "cpu"

    is_meta = property(lambda self: self.device.type == "meta")

    def get_device(self) -> int:
        """Return the index of the CUDA device, -1 for the CPU."""
        return -1 if self.device.index is None else self.device.index

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a real floating-point format."""
        return self._dtype.is_floating_point

    def is_complex(self) -> bool:
        """Return whether the dtype is a complex format."""
        return self._dtype.is_complex

    def is_signed(self) -> bool:
        """Return whether the dtype has negative values."""
        return self._dtype.is_signed

    def is_inference(self) -> bool:
        """Return whether it was allocated in inference mode."""
        return self._storage.inference

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient would be computed for it."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set whether a gradient would be computed, and return the tensor itself."""
        if requires_grad and self._dtype.kind not in ("float", "complex"):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self._requires_grad = bool(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by the user rather than computed from what requires a gradient."""
        return self._leaf or not self._requires_grad

    @property
    def grad_fn(self) -> None:
        """None: nothing is differentiated here."""

    @property
    def data(self) -> Any:
        """The same memory without its history."""
        return make_like(Tensor, self, False)

    @data.setter
    def data(self, value: Tensor) -> None:
        state = ("_storage", "_offset", "_shape", "_strides", "_dtype")
        self.__dict__.update({name: value.__dict__[name] for name in state})

    def tolist(self) -> Any:
        """Return the contents as nested lists."""
        values = read_values(self, "Tensor.tolist()")
        return nested(values, self._shape)

    def item(self) -> Any:
        """Return the value of the only element."""
        return item_of(self, "Tensor.item()")

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            kind = "no values" if self.numel() == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {kind} is ambiguous")
        return bool(item_of(self, "bool(tensor)"))

    def __int__(self) -> int:
        return int(only_item_of(self, "int(tensor)").real)

    def __float__(self) -> float:
        return float(only_item_of(self, "float(tensor)").real)

    def __complex__(self) -> complex:
        return complex(only_item_of(self, "complex(tensor)"))

    def __index__(self) -> int:
        if self.numel() != 1 or self._dtype.kind not in ("int", "uint", "bool"):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(item_of(self, "a tensor used as an index or a size").real)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and not self._shape else repr(self)


def wrap_dimension_of(tensor: View, dimension: object) -> int:
    """Return the dimension counted from the front; IndexError for a tensor without dimensions."""
    if not tensor._shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return wrap_dimension(dimension, len(tensor._shape))


def make_like(kind: Any, tensor: View, requires_grad: bool) -> Any:
    """Return an object of this class with the same memory and geometry as the tensor."""
    made = make_tensor(
        kind,
        tensor._execution,
        tensor._storage,
        tensor._shape,
        tensor._strides,
        tensor._dtype,
        tensor._offset,
    )
    made._requires_grad = requires_grad
    return made


def make_view(
    tensor: View, shape: Any, strides: Any, offset: int | None = None, dtype: DType | None = None
) -> Tensor:
    """Return a tensor that names other elements of the same storage."""
    start = tensor._offset if offset is None else offset
    view: Tensor = make_tensor(
        Tensor,
        tensor._execution,
        tensor._storage,
        shape,
        strides,
        dtype or tensor._dtype,
        start,
    )
    enabled = tensor._execution.grad_enabled and not tensor._execution.inference
    view._requires_grad = tensor._requires_grad and enabled
    view._leaf = not view._requires_grad
    return view
