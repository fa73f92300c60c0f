"""How operations are called that write at indices, pad, or part complex numbers."""

from __future__ import annotations

from hypothesis import strategies as st

from .drawing import NOTHING, Arguments, dimension, flag, indices, number, one_of, tensor
from .inputs import Draw, Input


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


_INDEX = "torch.tensor([1], device=device)"

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
    "pad": Arguments("[1, 1]", _padding),
    "view_as_real": NOTHING,
    "view_as_complex": NOTHING,
}
