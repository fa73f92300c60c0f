"""Functions that make tensors: torch.empty and its relatives, bound to one test's execution."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in.devices import read_device
from pytest_sm120.stand_ins.torch_stand_in.given_values import read_nested
from pytest_sm120.stand_ins.torch_stand_in.memory import allocate, known_values
from pytest_sm120.stand_ins.torch_stand_in.memory_formats import (
    PRESERVE,
    MemoryFormat,
    strides_in_format,
    strides_of_shape,
)
from pytest_sm120.stand_ins.torch_stand_in.refusals import refuse_dtype, refuse_overflow
from pytest_sm120.stand_ins.torch_stand_in.size import read_sizes, refuse_negative
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.stand_ins.torch_stand_in.type_names import scalar_type_name
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign, unknown_operation
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DTYPES, DType, find_dtype
from pytest_sm120.tensors.storages import Number

# Accepted, and without influence on what is recorded.
_IGNORED = {"layout", "pin_memory", "names", "generator"}
_OPTIONS = {"dtype", "device", "requires_grad"}


class Options:
    """The keyword arguments that every creation function has, checked as torch does."""

    def __init__(
        self, execution: Execution, name: str, given: dict[str, Any], like: Tensor | None = None
    ) -> None:
        if given.pop("out", None) is not None:
            raise unknown_operation(f"torch.{name}(..., out=...)")
        for key in given:
            if key not in _OPTIONS and key not in _IGNORED:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        default = execution.default_dtype if like is None else like.dtype
        self.execution = execution
        self.dtype = read_dtype(name, given.get("dtype")) or default
        self.dtype_given = given.get("dtype") is not None
        self.device = self._read_device(given.get("device"), like)
        self.requires_grad = bool(given.get("requires_grad"))

    def _read_device(self, given: object, like: Tensor | None) -> Device:
        if given is None and like is not None:
            return like.device
        return read_device(self.execution, given)

    def make(self, call: str, shape: Any, **how: Any) -> Tensor:
        """Return the new tensor."""
        refuse_negative(tuple(shape))
        made: Tensor = allocate(Tensor, self.execution, call, shape, self.dtype, self.device, **how)
        return made.requires_grad_() if self.requires_grad else made


# What torch takes Python's own types for, whatever the default dtype is.


def read_dtype(name: str, given: object) -> DType | None:
    """Return the dtype given as ``dtype=``; TypeError for a string, as in torch."""
    if given is None or isinstance(given, DType):
        return given
    if isinstance(given, type) and given in (bool, int, float, complex):
        return find_dtype(given)
    refuse_foreign(given, f"{name}(dtype={{}})")
    raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(given).__name__}")


#: What the functions that only differ in this set every element to.
FILLS: dict[str, Number | None] = {
    "empty": None,
    "zeros": 0,
    "ones": 1,
    "rand": None,
    "randn": None,
}


def create(name: str, execution: Execution, /, *size: Any, **options: Any) -> Tensor:
    """Return what ``torch.empty``, ``torch.zeros`` and others of their form do."""
    sizes = (options.pop("size"),) if "size" in options else size
    memory_format = options.pop("memory_format", None) if name == "empty" else None
    wanted = Options(execution, name, options)
    shape = read_sizes(name, sizes)
    refuse_negative(shape)
    if name == "rand" or (name == "randn" and 0 not in shape):
        refuse_dtype(name, wanted.dtype)
    return wanted.make(
        f"torch.{name}",
        shape,
        strides=strides_of_shape(shape, memory_format),
        fill=FILLS[name],
        uninitialized=name == "empty",
    )


def full(execution: Execution, size: Any, fill_value: Any, **options: Any) -> Tensor:
    """Return what ``torch.full`` does."""
    return _full(execution, "full", "torch.full", None, size, fill_value, options)


def _full(
    execution: Execution,
    name: str,
    call: str,
    like: Tensor | None,
    size: Any,
    fill_value: Any,
    options: dict[str, Any],
) -> Tensor:
    value = read_number(name, "fill_value", 2, fill_value)
    wanted = Options(execution, name, options, like)
    if like is None and not wanted.dtype_given:
        wanted.dtype = number_dtype(value, execution.default_dtype)
    refuse_overflow(value, wanted.dtype)
    return wanted.make(call, read_sizes(name, (size,)), fill=value)


def read_number(name: str, argument: str, position: int, value: Any) -> Number:
    """Return a number given as such or as a tensor with one known value."""
    if isinstance(value, Tensor):
        return value.item()  # type: ignore[no-any-return]  # a number of Python
    if not isinstance(value, (bool, int, float, complex)):
        refuse_foreign(value)
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Number, not "
            f"{type(value).__name__}"
        )
    return value


def number_dtype(value: Number, default: DType) -> DType:
    """Return the dtype that torch.full and torch.tensor give to a Python number."""
    if isinstance(value, bool):
        return DTYPES["bool"]
    if isinstance(value, int):
        return DTYPES["int64"]
    if isinstance(value, complex):
        return DTYPES["complex128" if default.name == "float64" else "complex64"]
    return default


def empty_strided(execution: Execution, size: Any, stride: Any, **options: Any) -> Tensor:
    """Return what ``torch.empty_strided`` does."""
    return _empty_strided(execution, "torch.empty_strided", None, size, stride, options)


def _empty_strided(
    execution: Execution, call: str, like: Tensor | None, size: Any, stride: Any, options: Any
) -> Tensor:
    name = call.rpartition(".")[2]
    shape, strides = read_sizes(name, (tuple(size),)), read_sizes(name, (tuple(stride),))
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(strides)})"
        )
    if min((*shape, *strides), default=0) < 0:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(shape)} and "
            f"strides={list(strides)}"
        )
    wanted = Options(execution, name, options, like)
    return wanted.make(call, shape, strides=strides, uninitialized=True)


def tensor(execution: Execution, data: Any, **options: Any) -> Tensor:
    """Return what ``torch.tensor`` does; its values are known."""
    return _from_data(execution, "torch.tensor", data, options)


def as_tensor(execution: Execution, data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return what ``torch.as_tensor`` does: a tensor itself when it already fits."""
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)  # type: ignore[no-any-return]  # a tensor again
    return _from_data(execution, "torch.as_tensor", data, {"dtype": dtype, "device": device})


def from_numpy(execution: Execution, ndarray: Any) -> Tensor:
    """Return what ``torch.from_numpy`` does, in memory of its own: an array has no storage here."""
    if isinstance(ndarray, (Tensor, list, tuple, bool, int, float, complex)):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return _from_data(execution, "torch.from_numpy", ndarray, {})


def asarray(
    execution: Execution, obj: Any, *, dtype: Any = None, device: Any = None, copy: Any = None
) -> Tensor:
    """Return what ``torch.asarray`` does: a tensor itself when it fits and no copy is asked for."""
    if isinstance(obj, Tensor):
        same = obj.to(device=device, dtype=dtype)
        if copy is False and same is not obj:
            raise ValueError(_explain_no_alias(obj, same))
        return same.clone() if copy and same is obj else same  # type: ignore[no-any-return]  # a tensor again
    if copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    return _from_data(execution, "torch.asarray", obj, {"dtype": dtype, "device": device})


def _explain_no_alias(given: Tensor, wanted: Tensor) -> str:
    if given.device != wanted.device:
        return f"can't alias tensor from device '{given.device}' to '{wanted.device}'."
    own, other = scalar_type_name(given.dtype), scalar_type_name(wanted.dtype)
    return f"can't alias tensor with dtype '{own}' into dtype '{other}'."


def _from_data(execution: Execution, call: str, data: Any, options: dict[str, Any]) -> Tensor:
    name = call.rpartition(".")[2]
    wanted = Options(execution, name, options)
    if isinstance(data, Tensor):
        if not wanted.dtype_given:
            wanted.dtype = data.dtype
        if options.get("device") is None:
            wanted.device = data.device
        return wanted.make(call, data.shape, known=known_values(data))
    given = read_nested(data)
    if not wanted.dtype_given:
        wanted.dtype = given.dtype(execution.default_dtype)
    return wanted.make(call, given.shape, known=given.known)


def like_empty(call: str, input: Tensor, **options: Any) -> Tensor:
    """Return what ``torch.empty_like`` does."""
    return _like(call, input, options, None)


def like_zeros(call: str, input: Tensor, **options: Any) -> Tensor:
    """Return what ``torch.zeros_like`` does."""
    return _like(call, input, options, 0)


def like_ones(call: str, input: Tensor, **options: Any) -> Tensor:
    """Return what ``torch.ones_like`` does."""
    return _like(call, input, options, 1)


def like_full(call: str, input: Tensor, fill_value: Any, **options: Any) -> Tensor:
    """Return what ``torch.full_like`` does."""
    return _like(call, input, options, read_number("full_like", "fill_value", 2, fill_value))


def _like(call: str, input: Tensor, options: dict[str, Any], fill: Number | None) -> Tensor:
    given = dict(options)
    memory_format: MemoryFormat = given.pop("memory_format", None) or PRESERVE
    wanted = Options(input._execution, call.rpartition(".")[2], given, input)
    strides = strides_in_format(input, memory_format)
    return wanted.make(call, input.shape, strides=strides, fill=fill, uninitialized=fill is None)


def new_empty(call: str, input: Tensor, *size: Any, **options: Any) -> Tensor:
    """Return what ``Tensor.new_empty`` does."""
    return _new(call, input, size, options, None)


def new_zeros(call: str, input: Tensor, *size: Any, **options: Any) -> Tensor:
    """Return what ``Tensor.new_zeros`` does."""
    return _new(call, input, size, options, 0)


def new_ones(call: str, input: Tensor, *size: Any, **options: Any) -> Tensor:
    """Return what ``Tensor.new_ones`` does."""
    return _new(call, input, size, options, 1)


def _new(
    call: str, input: Tensor, size: tuple[Any, ...], options: dict[str, Any], fill: Number | None
) -> Tensor:
    given = dict(options)
    sizes = (given.pop("size"),) if "size" in given else size
    name = call.rpartition(".")[2]
    wanted = Options(input._execution, name, given, input)
    return wanted.make(call, read_sizes(name, sizes), fill=fill, uninitialized=fill is None)


def new_full(call: str, input: Tensor, size: Any, fill_value: Any, **options: Any) -> Tensor:
    """Return what ``Tensor.new_full`` does."""
    return _full(input._execution, "new_full", call, input, size, fill_value, options)


def new_empty_strided(call: str, input: Tensor, size: Any, stride: Any, **options: Any) -> Tensor:
    """Return what ``Tensor.new_empty_strided`` does."""
    return _empty_strided(input._execution, call, input, size, stride, options)


def new_tensor(call: str, input: Tensor, data: Any, **options: Any) -> Tensor:
    """Return what ``Tensor.new_tensor`` does."""
    given = read_nested(data)
    wanted = Options(input._execution, "new_tensor", options, input)
    return wanted.make(call, given.shape, known=given.known)
