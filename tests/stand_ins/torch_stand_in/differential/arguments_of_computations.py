"""How operations are called that compute new elements."""

from __future__ import annotations

from hypothesis import strategies as st

from .drawing import (
    NOTHING,
    Arguments,
    broadcast,
    dimension,
    flag,
    indices,
    number,
    one_of,
    operand,
    tensor,
)
from .inputs import Draw, Input, dtypes

UNARY = """
abs absolute neg negative sign floor ceil trunc relu bitwise_not square exp exp2 expm1 log log2
log1p sqrt rsqrt reciprocal sigmoid tanh sin cos erf isnan isinf isfinite logical_not
""".split()
BINARY = """
add sub subtract mul multiply div divide true_divide maximum minimum fmax fmin remainder fmod
floor_divide bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift atan2
logaddexp eq ne lt le gt ge greater less greater_equal less_equal not_equal logical_and logical_or
logical_xor pow
""".split()


def _scaled(draw: Draw, given: Input) -> str:
    scale = one_of(draw, "", "", ", alpha=2", ", alpha=0.5")
    return operand(draw, given) + scale


def _rounded(draw: Draw, given: Input) -> str:
    mode = one_of(draw, "", "", ', rounding_mode="floor"', ', rounding_mode="trunc"')
    return operand(draw, given) + mode


def _reduced(draw: Draw, given: Input) -> str:
    if flag(draw):
        return ""
    keep = one_of(draw, "", ", keepdim=True")
    return f"{dimension(draw, given)}{keep}"


def _reduced_over_several(draw: Draw, given: Input) -> str:
    several = f"({dimension(draw, given)}, {dimension(draw, given)})"
    dims = one_of(draw, str(dimension(draw, given)), several)
    return one_of(draw, "", f"{dims}", f"dim={dims}, keepdim={flag(draw)}")


def _summed(draw: Draw, given: Input) -> str:
    rest = one_of(draw, "", f"dtype=torch.{draw(dtypes())}")
    return ", ".join(part for part in (_reduced_over_several(draw, given), rest) if part)


def _logsumexp(draw: Draw, given: Input) -> str:
    return f"{dimension(draw, given)}, keepdim={flag(draw)}"


def _extreme(draw: Draw, given: Input) -> str:
    return one_of(draw, _reduced(draw, given), broadcast(draw, given))


def _running(draw: Draw, given: Input) -> str:
    return f"{dimension(draw, given)}" + one_of(draw, "", f", dtype=torch.{draw(dtypes())}")


def _bounds(draw: Draw, given: Input) -> str:
    low, high = one_of(draw, "0", "0.5", "None", "-1"), one_of(draw, "2", "1.5", "None")
    return one_of(draw, f"min={low}, max={high}", f"{low}, {high}", f"min={low}")


def _filled(draw: Draw, given: Input) -> str:
    mask = one_of(draw, "t.eq(t)", "t.eq(1)", tensor(draw, given.shape, "bool"))
    value = one_of(draw, number(draw), f"torch.tensor({number(draw)}, device=device)")
    return f"{mask}, {value}"


def _chosen(draw: Draw, given: Input) -> str:
    """Draw a condition and what is taken where it does not hold."""
    condition = tensor(draw, given.shape, draw(st.sampled_from(["bool", "bool", "uint8"])))
    return f"{condition}, {operand(draw, given)}"


def _where(draw: Draw, given: Input) -> str:
    condition = tensor(draw, given.shape, "bool")
    first, second = operand(draw, given), operand(draw, given)
    return f"={condition}, {first}, {second}"


def _joined(draw: Draw, given: Input) -> str:
    other = one_of(draw, "t", tensor(draw, given.shape))
    return f"=[t, {other}], {dimension(draw, given)}"


def _matrix(draw: Draw, given: Input) -> str:
    rank = len(given.shape)
    inner = given.shape[-1] if rank else 1
    dtype = draw(st.sampled_from([given.dtype, given.dtype, given.dtype, "float32"]))
    columns = draw(st.integers(1, 3))
    shape = draw(
        st.sampled_from([(*given.shape[:-2], inner, columns), (inner, columns), (inner,), (2, 2)])
    )
    return tensor(draw, shape, dtype)


def _einsum(draw: Draw, given: Input) -> str:
    letters = "abcd"[: len(given.shape)]
    if flag(draw):
        return _einsum_of_two(draw, given, letters)
    kept = "".join(draw(st.permutations(letters)))[: draw(st.integers(0, len(letters)))]
    return f"='{letters}->{kept}', t"


def _einsum_of_two(draw: Draw, given: Input, letters: str) -> str:
    sizes = dict(zip(letters, given.shape, strict=True)) | {"y": draw(st.integers(1, 3)), "z": 2}
    some = st.lists(st.sampled_from(sorted(sizes)), unique=True, max_size=4)
    second = "".join(draw(some))
    named = st.sampled_from(sorted({*letters, *second}) or [""])
    result = "".join(draw(st.lists(named, unique=True)))
    other = tensor(draw, tuple(sizes[letter] for letter in second), given.dtype)
    return f"='{letters},{second}->{result}', t, {other}"


def _linear(draw: Draw, given: Input) -> str:
    inner = given.shape[-1] if given.shape else 1
    dtype = draw(st.sampled_from([given.dtype, given.dtype, "float32"]))
    return tensor(draw, (2, inner), dtype)


def _repeats(draw: Draw, given: Input) -> str:
    rank = len(given.shape) + draw(st.integers(-1, 1))
    return str(tuple(draw(st.integers(0, 2)) for _ in range(max(rank, 0))))


def _interleaved(draw: Draw, given: Input) -> str:
    return one_of(draw, f"{draw(st.integers(0, 3))}", f"2, {dimension(draw, given)}")


def _size_at(given: Input, place: int) -> int:
    rank = len(given.shape)
    return given.shape[place] if -rank <= place < rank else 1


def _picked(draw: Draw, given: Input) -> str:
    place = dimension(draw, given)
    length = draw(st.integers(0, 3))
    return f"{place}, {indices(draw, (length,), _size_at(given, place))}"


def _gathered(draw: Draw, given: Input) -> str:
    place = dimension(draw, given)
    shape = tuple(draw(st.integers(0, size)) for size in given.shape)
    return f"{place}, {indices(draw, shape, _size_at(given, place))}"


def _sorted(draw: Draw, given: Input) -> str:
    return one_of(
        draw, "", f"{dimension(draw, given)}", f"dim={dimension(draw, given)}, descending=True"
    )


def _top(draw: Draw, given: Input) -> str:
    count = draw(st.integers(0, 3))
    return one_of(draw, f"{count}", f"{count}, {dimension(draw, given)}", f"{count}, -1, False")


def _searched(draw: Draw, given: Input) -> str:
    length = draw(st.integers(0, 4))
    bounds = tensor(draw, (length,), given.dtype)
    options = one_of(draw, "", ", right=True", ", out_int32=True")
    return f"={bounds}, t{options}"


def _flipped(draw: Draw, given: Input) -> str:
    return f"({dimension(draw, given)},)"


def _differences(draw: Draw, given: Input) -> str:
    return one_of(draw, "", f"dim={dimension(draw, given)}", f"n={draw(st.integers(0, 2))}")


def _one(draw: Draw, given: Input) -> str:
    return str(dimension(draw, given))


_SUM = Arguments("", _summed)
_OVER_SEVERAL = Arguments("1", _reduced_over_several)

ARGUMENTS: dict[str, Arguments] = {
    **dict.fromkeys(UNARY, NOTHING),
    **dict.fromkeys(BINARY, Arguments("t + 1", operand)),
    **dict.fromkeys(["add", "sub", "subtract"], Arguments("2.0", _scaled)),
    **dict.fromkeys(["div", "divide"], Arguments("2.0", _rounded)),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], Arguments("t", operand)),
    **dict.fromkeys(["sum", "mean"], _SUM),
    "prod": Arguments("", _reduced),
    **dict.fromkeys(["any", "all", "argmax", "argmin"], Arguments("", _reduced)),
    **dict.fromkeys(["amax", "amin"], _OVER_SEVERAL),
    **dict.fromkeys(["max", "min"], Arguments("", _extreme)),
    "logsumexp": Arguments("1", _logsumexp),
    **dict.fromkeys(["cumsum", "cumprod"], Arguments("1", _running)),
    **dict.fromkeys(["clamp", "clip"], Arguments("0, 1", _bounds)),
    **dict.fromkeys(["clamp_min", "clamp_max"], Arguments("1.0", operand)),
    "masked_fill": Arguments("t > 1, 0.0", _filled),
    "Tensor.where": Arguments("t > 1, t", _chosen),
    "torch.where": Arguments("=t > 1, t, 0.0", _where),
    **dict.fromkeys(["cat", "concat", "concatenate", "stack"], Arguments("=[t, t], 0", _joined)),
    **dict.fromkeys(["mm", "bmm", "matmul"], Arguments("t.mT", _matrix)),
    "bmm": Arguments("t.mT", _matrix),
    "einsum": Arguments("='ab->ba', t", _einsum),
    "linear": Arguments("torch.ones(4, 3, device=device)", _linear),
    "dropout": Arguments("training=False", lambda draw, given: "0.5, False"),
    "repeat": Arguments("(2, 1)", _repeats),
    "repeat_interleave": Arguments("2, 0", _interleaved),
    "index_select": Arguments("0, torch.tensor([1], device=device)", _picked),
    "gather": Arguments("0, torch.zeros(1, 3, dtype=torch.int64, device=device)", _gathered),
    **dict.fromkeys(["sort", "argsort"], Arguments("", _sorted)),
    "topk": Arguments("2", _top),
    "searchsorted": Arguments("=torch.arange(3.0, device=device), t", _searched),
    "flip": Arguments("(0,)", _flipped),
    "diff": Arguments("", _differences),
    **dict.fromkeys(["softmax", "log_softmax"], Arguments("1", _one)),
}
