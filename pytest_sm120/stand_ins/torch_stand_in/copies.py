"""Operations that return the tensor itself, a view or a copy, whichever is needed."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.devices import read_device
from pytest_sm120.stand_ins.torch_stand_in.memory import known_values
from pytest_sm120.stand_ins.torch_stand_in.memory_formats import (
    PRESERVE,
    RANKS,
    MemoryFormat,
    strides_in_format,
)
from pytest_sm120.stand_ins.torch_stand_in.operation import Computed, Operation, materialize
from pytest_sm120.stand_ins.torch_stand_in.size import read_sizes, wrap_dimension
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor, make_view
from pytest_sm120.stand_ins.torch_stand_in.type_names import LEGACY_CLASSES
from pytest_sm120.stand_ins.torch_stand_in.values import refuse_foreign, unknown_operation
from pytest_sm120.stand_ins.torch_stand_in.views import resolve_sizes
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DTYPES, DType
from pytest_sm120.tensors.layouts import (
    is_channels_last,
    is_contiguous,
    looks_channels_last,
    view_strides,
)


def contiguous(call: str, input: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """Return the tensor itself when its elements lie in the asked order, else a copy."""
    if has_format(input, memory_format):
        return input
    return copy(call, input, strides=strides_in_format(input, memory_format))


def has_format(input: Tensor, memory_format: MemoryFormat | None = None) -> bool:
    """Return whether the elements lie in the order of a memory format, row-major unless given."""
    if memory_format is None or memory_format.name == "contiguous_format":
        return is_contiguous(input._shape, input._strides)
    right_rank = input.ndim == RANKS[memory_format.name]
    return right_rank and is_channels_last(input._shape, input._strides)


def is_contiguous_in(call: str, input: Tensor, memory_format: MemoryFormat | None = None) -> bool:
    """Return whether the elements lie in the order of a memory format, row-major unless given."""
    return has_format(input, memory_format)


def copy(
    call: str,
    input: Tensor,
    *,
    strides: Any,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Tensor:
    """Return a new tensor with the same contents."""
    result = Computed(
        input,
        input._shape,
        dtype or input.dtype,
        known=known_values(input),
        strides=strides,
        device=device,
    )
    made: Tensor = materialize(call, result)
    return made


def clone(call: str, input: Tensor, *, memory_format: MemoryFormat = PRESERVE) -> Tensor:
    """Return a copy."""
    return copy(call, input, strides=strides_in_format(input, memory_format))


def to(call: str, input: Tensor, *args: Any, **options: Any) -> Tensor:
    """Return the tensor itself when it has the asked dtype and device already, else a copy."""
    dtype, device, must_copy, memory_format = _read_to(input, args, options)
    same = dtype is input.dtype and device == input.device
    if same and not must_copy and has_preserved_format(input, memory_format):
        return input
    strides = strides_in_format(input, memory_format)
    return copy(call, input, strides=strides, dtype=dtype, device=device)


def has_preserved_format(input: Tensor, memory_format: MemoryFormat) -> bool:
    """Return whether no other order of elements is asked for."""
    if memory_format is PRESERVE:
        return True
    # torch goes by what the strides look like, not by whether there are gaps.
    like_channels_last = looks_channels_last(input._shape, input._strides)
    return memory_format.name == ("channels_last" if like_channels_last else "contiguous_format")


def _read_to(
    input: Tensor, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[DType, Device, bool, MemoryFormat]:
    named = dict(options)
    rest = list(args)
    while rest and not isinstance(rest[0], bool):
        _read_target(input, rest.pop(0), named)
    for name, value in zip(("non_blocking", "copy"), rest, strict=False):
        named[name] = value
    other = named.pop("other", None)
    if isinstance(other, Tensor):
        named = {"dtype": other.dtype, "device": other.device, **named}
    unknown = named.keys() - {"dtype", "device", "copy", "non_blocking", "memory_format"}
    if unknown:
        given = "".join(f"{name}={type(named[name]).__name__}, " for name in sorted(unknown))
        raise TypeError(_no_such_to(given))
    dtype, device = named.get("dtype"), named.get("device")
    if dtype is not None and not isinstance(dtype, DType):
        refuse_foreign(dtype, "to(dtype={})")
        raise TypeError(_no_such_to(f"dtype={type(dtype).__name__}, "))
    target = input.device if device is None else read_device(input._execution, device)
    format_ = named.get("memory_format") or PRESERVE
    return dtype or input.dtype, target, bool(named.get("copy")), format_


def _read_target(input: Tensor, value: Any, named: dict[str, Any]) -> None:
    if isinstance(value, DType):
        named["dtype"] = value
    elif isinstance(value, Tensor):
        named["other"] = value
    elif isinstance(value, (str, int, Device)):
        named["device"] = value
    elif value is not None:
        refuse_foreign(value, "to({})")
        raise TypeError(_no_such_to(f"{type(value).__name__}"))


def _no_such_to(got: str) -> str:
    return f"to() received an invalid combination of arguments - got ({got}), but expected one of:"


def type_(call: str, input: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return the name of the tensor's legacy class, or the tensor as another dtype."""
    if isinstance(dtype, DType):
        return to(call, input, dtype)
    if dtype is not None:
        raise unknown_operation("Tensor.type with a class or a name")
    [name] = [name for name, known in LEGACY_CLASSES.items() if known == input.dtype.name]
    return f"torch.cuda.{name}" if input.is_cuda else f"torch.{name}"


def reshape(call: str, input: Tensor, *shape: Any) -> Tensor:
    """Return a view with another shape when there is one, else a copy."""
    if not shape:
        raise TypeError('reshape() missing 1 required positional arguments: "shape"')
    sizes = resolve_sizes(input, read_sizes("reshape", shape))
    strides = view_strides(tuple(input._shape), input._strides, sizes)
    if strides is not None:
        return make_view(input, sizes, strides)
    result = Computed(input, sizes, input.dtype, known=known_values(input))
    made: Tensor = materialize(call, result)
    return made


def reshape_as(call: str, input: Tensor, other: Tensor) -> Tensor:
    """Return the tensor in the other's shape."""
    return reshape(call, input, tuple(other._shape))


def flatten(call: str, input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return the tensor with a run of dimensions joined; a view when there is one."""
    first, last = wrap_dimension(start_dim, input.ndim), wrap_dimension(end_dim, input.ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not input._shape:
        return reshape(call, input, (1,))
    if first == last:
        return input
    joined = input._shape[first : last + 1].numel()
    return reshape(call, input, (*input._shape[:first], joined, *input._shape[last + 1 :]))


def ravel(call: str, input: Tensor) -> Tensor:
    """Return the tensor in one dimension; a view when there is one."""
    return reshape(call, contiguous(call, input), (-1,))


def _conversion(name: str, dtype: DType) -> Operation:
    def run(call: str, input: Tensor, memory_format: MemoryFormat = PRESERVE) -> Tensor:
        return to(call, input, dtype, memory_format=memory_format)

    return Operation(name, run, function=False)


def _move(name: str, target: str) -> Operation:
    def run(
        call: str,
        input: Tensor,
        device: Any = None,
        non_blocking: bool = False,
        memory_format: MemoryFormat = PRESERVE,
    ) -> Tensor:
        return to(call, input, device or target, memory_format=memory_format)

    return Operation(name, run, function=False)


_DTYPE_METHODS = {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32",
    "long": "int64", "half": "float16", "bfloat16": "bfloat16", "float": "float32",
    "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip

#: ``Tensor.float()`` and its siblings, ``Tensor.cuda()`` and ``Tensor.cpu()``.
CONVERSIONS = (
    *(_conversion(name, DTYPES[dtype]) for name, dtype in _DTYPE_METHODS.items()),
    _move("cuda", "cuda"),
    _move("cpu", "cpu"),
)
