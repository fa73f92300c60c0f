"""How operations are called that view, copy, write or make tensors."""

from __future__ import annotations

from math import prod

from hypothesis import strategies as st

from .drawing import (
    NOTHING,
    Arguments,
    always,
    broadcast,
    dimension,
    factors,
    flag,
    key,
    like,
    number,
    one_of,
    operand,
    sizes,
    strided,
    tensor,
)
from .inputs import Draw, Input, dtypes


def _dims(draw: Draw, given: Input) -> str:
    rank = len(given.shape)
    order = draw(st.permutations(range(rank)))
    if draw(st.integers(0, 9)) == 0:
        order = [*order, 0]
    return f"({', '.join(str(place) + ',' for place in order)})".replace(",,", ",")


def _two(draw: Draw, given: Input) -> str:
    return f"{dimension(draw, given)}, {dimension(draw, given)}"


def _flatten(draw: Draw, given: Input) -> str:
    rank = max(len(given.shape), 1)
    first = draw(st.integers(0, rank - 1))
    return one_of(draw, "", f"{first}, {draw(st.integers(first, rank - 1))}", _two(draw, given))


def _unflatten(draw: Draw, given: Input) -> str:
    return f"{dimension(draw, given)}, (-1, {draw(st.integers(1, 3))})"


def _narrow(draw: Draw, given: Input) -> str:
    return f"{dimension(draw, given)}, {draw(st.integers(-2, 3))}, {draw(st.integers(-1, 3))}"


def _select(draw: Draw, given: Input) -> str:
    return f"{dimension(draw, given)}, {draw(st.integers(-3, 3))}"


def _split(draw: Draw, given: Input) -> str:
    place = dimension(draw, given)
    if flag(draw) and given.shape and -len(given.shape) <= place < len(given.shape):
        size = given.shape[place]
        first = draw(st.integers(0, size))
        return f"[{first}, {size - first}], {place}"
    return f"{draw(st.integers(-1, 4))}, {place}"


def _expand(draw: Draw, given: Input) -> str:
    front = draw(st.lists(st.integers(0, 2), max_size=1))
    back = [draw(st.sampled_from([size, -1, 2 if size == 1 else size])) for size in given.shape]
    return f"{(*front, *back)}"


def _view(draw: Draw, given: Input) -> str:
    if draw(st.integers(0, 3)) == 0:
        return f"torch.{draw(dtypes())}"
    return str(factors(draw, given))


def _as_other(draw: Draw, given: Input) -> str:
    shape = given.shape[::-1] if flag(draw) else draw(st.sampled_from([(prod(given.shape),), ()]))
    return tensor(draw, shape)


def _unfold(draw: Draw, given: Input) -> str:
    return f"{dimension(draw, given)}, {draw(st.integers(0, 3))}, {draw(st.integers(0, 2))}"


def _to(draw: Draw, given: Input) -> str:
    dtype = f"torch.{draw(dtypes())}"
    other = tensor(draw, (1,))
    return one_of(
        draw,
        dtype,
        f"dtype={dtype}",
        f"{dtype}, copy=True",
        "device",
        f"device, {dtype}",
        f"device=device, dtype={dtype}, non_blocking=True",
        other,
        f"{dtype}, memory_format=torch.contiguous_format",
    )


def _memory_format(draw: Draw, given: Input) -> str:
    return one_of(
        draw,
        "",
        "",
        "memory_format=torch.contiguous_format",
        "memory_format=torch.channels_last",
        "memory_format=torch.preserve_format",
    )


def _strict_memory_format(draw: Draw, given: Input) -> str:
    return one_of(
        draw, "", "", "memory_format=torch.contiguous_format", "memory_format=torch.channels_last"
    )


def _options(draw: Draw, given: Input) -> str:
    return one_of(draw, "", f"dtype=torch.{draw(dtypes())}", "device=device")


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _new(draw: Draw, given: Input) -> str:
    return _joined(sizes(draw), _options(draw, given))


def _new_full(draw: Draw, given: Input) -> str:
    return _joined(sizes(draw), number(draw), _options(draw, given))


def _like(draw: Draw, given: Input) -> str:
    return _joined(_options(draw, given), _memory_format(draw, given))


def _factory(draw: Draw, given: Input) -> str:
    return "=" + _joined(sizes(draw), f"dtype=torch.{draw(dtypes())}", "device=device")


def _arange(draw: Draw, given: Input) -> str:
    bounds = one_of(draw, "5", "0", "1, 7", "1, 8, 3", "5, 0, -2", "0.5, 3", "0, 2, 0.5", "3, 1")
    dtype = one_of(draw, "", f"dtype=torch.{draw(dtypes())}")
    return "=" + _joined(bounds, dtype, "device=device")


_LISTS = ("3", "1.5", "True", "[]", "[1, 2]", "[[1, 2.5]]", "[[True], [False]]", "[[1, 2], [3]]")


def _values(draw: Draw, given: Input) -> str:
    dtype = one_of(draw, "", f"dtype=torch.{draw(dtypes())}")
    return "=" + _joined(one_of(draw, *_LISTS), dtype, "device=device")


def _same_or_values(draw: Draw, given: Input) -> str:
    return _values(draw, given) if flag(draw) else one_of(draw, "", f"dtype=torch.{given.dtype}")


def _strided_factory(draw: Draw, given: Input) -> str:
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(0, 3)) for _ in range(rank))
    strides = tuple(draw(st.integers(0, 4)) for _ in range(rank))
    return f"{shape}, {strides}, dtype=torch.{draw(dtypes())}, device=device"


def _fill(draw: Draw, given: Input) -> str:
    return one_of(draw, number(draw), f"torch.tensor({number(draw)}, device=device)")


def _set_item(draw: Draw, given: Input) -> str:
    value = one_of(draw, number(draw), f"torch.tensor({number(draw)}, device=device)", "t[0]")
    return f"{key(draw, given)}, {value}"


def _dimension_or_not(draw: Draw, given: Input) -> str:
    return one_of(draw, "", str(dimension(draw, given)))


def _one(draw: Draw, given: Input) -> str:
    return str(dimension(draw, given))


_PERMUTE = Arguments("(1, 0)", _dims)
_TWO = Arguments("0, 1", _two)
_LIKE = Arguments("", _like)
_NEW = Arguments("(4,)", _new)
_FACTORY = Arguments("=(2, 3)", _factory)
_VALUES = Arguments("=[1.0, 2.0]", _values)

ARGUMENTS: dict[str, Arguments] = {
    **dict.fromkeys(["permute"], _PERMUTE),
    **dict.fromkeys(["transpose", "movedim", "moveaxis", "swapaxes", "swapdims"], _TWO),
    **dict.fromkeys(["t", "detach", "ravel", "pin_memory", "share_memory_", "cpu"], NOTHING),
    "unsqueeze": Arguments("0", _one),
    "squeeze": Arguments("0", _dimension_or_not),
    "unbind": Arguments("0", _dimension_or_not),
    "as_strided": Arguments("(2, 2), (1, 2)", lambda draw, given: strided(draw)),
    "narrow": Arguments("1, 0, 2", _narrow),
    "select": Arguments("0, 1", _select),
    "split": Arguments("2, 1", _split),
    "chunk": Arguments(
        "2, 1", lambda draw, given: f"{draw(st.integers(0, 4))}, {dimension(draw, given)}"
    ),
    "unflatten": Arguments("1, (3, 1)", _unflatten),
    "flatten": Arguments("", _flatten),
    "reshape": Arguments("(3, 2)", lambda draw, given: str(factors(draw, given))),
    "view": Arguments("(3, 2)", _view),
    **dict.fromkeys(
        ["view_as", "reshape_as"],
        Arguments("torch.zeros(3, 2, device=device)", _as_other),
    ),
    "expand": Arguments("(4, 2, 3)", _expand),
    "expand_as": Arguments(
        "torch.zeros(4, 2, 3, device=device)",
        lambda draw, given: f"torch.zeros({_expand(draw, given)}, device=device)",
    ),
    "unfold": Arguments("1, 2, 1", _unfold),
    "clone": Arguments("", _memory_format),
    "contiguous": Arguments("", _strict_memory_format),
    "is_contiguous": Arguments("", _strict_memory_format),
    "to": Arguments("torch.int32", _to),
    "type": Arguments("torch.int32", lambda draw, given: f"torch.{draw(dtypes())}"),
    **dict.fromkeys(["new_empty", "new_zeros", "new_ones"], _NEW),
    "new_full": Arguments("(4,), 2.0", _new_full),
    "new_tensor": Arguments("[1.0, 2.0]", lambda draw, given: _values(draw, given)[1:]),
    "new_empty_strided": Arguments("(2, 3), (1, 2)", _strided_factory),
    **dict.fromkeys(["empty_like", "zeros_like", "ones_like"], _LIKE),
    "full_like": Arguments("2.0", lambda draw, given: _joined(number(draw), _like(draw, given))),
    **dict.fromkeys(
        "bool byte char short int long half bfloat16 float double cfloat cdouble".split(), NOTHING
    ),
    "zero_": NOTHING,
    "fill_": Arguments("2.0", _fill),
    "copy_": Arguments(
        "torch.ones(3, device=device)",
        lambda draw, given: one_of(draw, like(draw, given), broadcast(draw, given)),
    ),
    "resize_": Arguments("(4,)", lambda draw, given: sizes(draw)),
    "set_": always("torch.ones(4, device=device)"),
    **dict.fromkeys(["empty", "zeros", "ones", "rand", "randn"], _FACTORY),
    "full": Arguments("=(2, 3), 2.0", lambda draw, given: _full(draw)),
    "arange": Arguments("=4", _arange),
    "tensor": _VALUES,
    "as_tensor": Arguments("", _same_or_values),
    "asarray": Arguments("", _same_or_values),
    "empty_strided": Arguments(
        "=(2, 3), (1, 2)", lambda draw, given: "=" + _strided_factory(draw, given)
    ),
    "__getitem__": Arguments("0", key),
    "__setitem__": Arguments("0, 2.0", _set_item),
    "size": Arguments("", _dimension_or_not),
    "stride": Arguments("", _dimension_or_not),
    "requires_grad_": Arguments("", lambda draw, given: one_of(draw, "", "False")),
    "result_type": Arguments("2.0", operand),
}


def _full(draw: Draw) -> str:
    dtype = one_of(draw, "", f"dtype=torch.{draw(dtypes())}")
    return "=" + _joined(sizes(draw), number(draw), dtype, "device=device")
