"""How operations are called that write at indices, pad, or part complex numbers."""

from __future__ import annotations

from hypothesis import strategies as st

from .drawing import NOTHING, Arguments, dimension, flag, indices, number, one_of, tensor
from .inputs import Draw, Input, dtypes


def _size_at(given: Input, place: int) -> int:
    rank = len(given.shape)
    return given.shape[place] if -rank <= place < rank else 1


def _dtype(draw: Draw, given: Input) -> str:
    return draw(st.sampled_from([given.dtype, given.dtype, given.dtype, "float32"]))


def _filled(draw: Draw, given: Input) -> str:
    place = dimension(draw, given)
    index = indices(draw, (draw(st.integers(0, 3)),), _size_at(given, place))
    value = one_of(draw, number(draw), f"torch.tensor({number(draw)}, device=device)")
    return f"{place}, {index}, {value}"


def _whole_lines(draw: Draw, given: Input) -> str:
    place = dimension(draw, given)
    count = draw(st.integers(0, 3))
    shape = list(given.shape)
    if -len(shape) <= place < len(shape):
        shape[place] = count
    index = indices(draw, (count,), _size_at(given, place))
    return f"{place}, {index}, {tensor(draw, tuple(shape), _dtype(draw, given))}"


def _scaled_lines(draw: Draw, given: Input) -> str:
    return _whole_lines(draw, given) + one_of(draw, "", ", alpha=2")


def _elements(draw: Draw, given: Input) -> str:
    place = dimension(draw, given)
    shape = tuple(draw(st.integers(0, size)) for size in given.shape)
    wider = tuple(size + draw(st.integers(0, 1)) for size in shape)
    index = indices(draw, shape, _size_at(given, place))
    return f"{place}, {index}, {tensor(draw, wider, _dtype(draw, given))}"


def _elements_or_number(draw: Draw, given: Input) -> str:
    if flag(draw):
        return _elements(draw, given)
    place = dimension(draw, given)
    shape = tuple(draw(st.integers(0, size)) for size in given.shape)
    return f"{place}, {indices(draw, shape, _size_at(given, place))}, {number(draw)}"


def _padding(draw: Draw, given: Input) -> str:
    pairs = draw(st.integers(0, len(given.shape) + (draw(st.integers(0, 9)) == 0)))
    amounts = [draw(st.integers(-1, 2)) for _ in range(2 * pairs)]
    value = one_of(draw, "", f", value={number(draw)}")
    return f"{amounts}{value}"


def _selected(draw: Draw, given: Input) -> str:
    mask = tensor(draw, given.shape, "bool")
    return one_of(draw, "t.eq(t)", "t.eq(1)", mask, tensor(draw, given.shape[-1:], "bool"), "t")


def _other(draw: Draw, given: Input) -> str:
    return one_of(draw, "t", "t.clone()", tensor(draw, given.shape, given.dtype), "t.flatten()")


def _diagonal(draw: Draw, given: Input) -> str:
    offset = draw(st.integers(-3, 3))
    return one_of(
        draw, "", f"{offset}", f"{offset}, {dimension(draw, given)}, {dimension(draw, given)}"
    )


def _pieces(draw: Draw, given: Input) -> str:
    indices = draw(st.lists(st.integers(-2, 7), max_size=3))
    pieces = one_of(
        draw,
        str(draw(st.integers(-1, 4))),
        str(indices),
        f"torch.tensor({indices}, dtype=torch.int64)",
    )
    return f"{pieces}, {dimension(draw, given)}"


def _buckets(draw: Draw, given: Input) -> str:
    shape = draw(st.sampled_from([(0,), (3,), (4,), (2, 2), ()]))
    options = one_of(draw, "", ", right=True", ", out_int32=True")
    return f"{tensor(draw, shape, given.dtype)}{options}"


_INDEX = "torch.tensor([1], device=device)"


def _put(draw: Draw, given: Input) -> str:
    size = given.shape[0] if given.shape else 1
    length = draw(st.integers(1, 3))
    index = indices(draw, (length,), size)
    value = tensor(draw, draw(st.sampled_from([(), (1,), given.shape[1:]])), _dtype(draw, given))
    return f"({index},), {value}"


def _linspace(draw: Draw, given: Input) -> str:
    bounds = one_of(draw, "0, 1, 5", "0, 10, 4", "5, 0, 3", "1, 2, 1", "0.5, 3, 0", "0, 1, -1")
    return f"={bounds}, dtype=torch.{draw(dtypes())}, device=device"


def _randint(draw: Draw, given: Input) -> str:
    bounds = one_of(draw, "3", "0, 5", "-1, 3", "0, 300", "3, 3", "0, 2")
    dtype = one_of(draw, "", f", dtype=torch.{draw(dtypes())}")
    return f"={bounds}, {given.shape}{dtype}, device=device"


_FLAGS = ("=torch.tensor(True)", "=torch.tensor(0.0)", "=torch.tensor([0]), 'words'")
_UNIQUE = ("", "return_counts=True", "return_inverse=True", "sorted=False")

ARGUMENTS: dict[str, Arguments] = {
    "index_fill": Arguments(f"0, {_INDEX}, 2.0", _filled),
    "index_copy": Arguments(f"0, {_INDEX}, torch.ones(1, 3, device=device)", _whole_lines),
    "index_add": Arguments(f"0, {_INDEX}, torch.ones(1, 3, device=device)", _scaled_lines),
    "scatter": Arguments(
        "0, torch.zeros(1, 3, dtype=torch.int64, device=device), 2.0", _elements_or_number
    ),
    "scatter_add": Arguments(
        "0, torch.zeros(1, 3, dtype=torch.int64, device=device), torch.ones(1, 3, device=device)",
        _elements,
    ),
    "masked_select": Arguments("t > 1", _selected),
    "equal": Arguments("t", _other),
    "nonzero": Arguments("", lambda draw, given: one_of(draw, "", "", "as_tuple=True")),
    "unique": Arguments("", lambda draw, given: one_of(draw, *_UNIQUE)),
    "_assert_async": Arguments("=t[1, 0]", lambda draw, given: one_of(draw, "=t", *_FLAGS)),
    "diagonal": Arguments("", _diagonal),
    "tensor_split": Arguments("2, 1", _pieces),
    "bucketize": Arguments("torch.arange(3.0, device=device)", _buckets),
    "index_put": Arguments(f"({_INDEX},), torch.zeros(3, device=device)", _put),
    "index_put_": Arguments(f"({_INDEX},), torch.zeros(3, device=device)", _put),
    "linspace": Arguments("=0, 1, 5", _linspace),
    "randint": Arguments("=0, 5, (2, 3)", _randint),
    "pad": Arguments("[1, 1]", _padding),
    "view_as_real": NOTHING,
    "view_as_complex": NOTHING,
}
