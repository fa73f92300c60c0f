from __future__ import annotations

import math
import os

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from pytest_sm120.errors import UnknownValue
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in import build_torch

from .differential.comparing import compare_contents
from .expressions import WIDE_DTYPES, computations, shapes, views

torch = pytest.importorskip(
    "torch",
    reason="torch is not installed; the comparison with it runs after pip install torch==2.13.0",
)
pytestmark = pytest.mark.filterwarnings("ignore")
EXAMPLES = settings(
    max_examples=int(os.environ.get("SM120_DIFFERENTIAL_EXAMPLES", "200")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def no_ghost(name):
    raise AssertionError(f"the comparison asks for {name}, which the stand-in does not model")


def evaluate(world, expression, tensor):
    try:
        result = eval(expression, {"torch": world, "t": tensor})
    except UnknownValue:
        raise
    except Exception as error:
        return None, error
    return result, None


def make_pair(shape, dtype):
    stand_in = build_torch(Execution(), no_ghost)["torch"]
    pair = []
    for world in (torch, stand_in):
        count = math.prod(shape)
        numbers = world.arange(count, dtype=world.int64)
        pair.append(numbers.reshape(shape).to(getattr(world, dtype)))
    return stand_in, pair


def assert_same(real, ours, base):
    """Compare two results; return a tensor of each to go on with."""
    if isinstance(real, (tuple, list)) and not isinstance(real, torch.Size):
        assert len(real) == len(ours)
        pairs = [assert_same(a, b, base) for a, b in zip(real, ours, strict=True)]
        return pairs[-1] if pairs else None
    if not isinstance(real, torch.Tensor):
        assert str(real) == str(ours)
        return None
    facts = ("dtype", "shape", "ndim")
    assert [str(getattr(real, name)) for name in facts] == [
        str(getattr(ours, name)) for name in facts
    ]
    if real.stride() != ours.stride():
        # Without elements, strides address nothing; a view of such a tensor may differ further.
        assert real.numel() == 0
        return None
    assert real.storage_offset() == ours.storage_offset()
    assert real.is_contiguous() == ours.is_contiguous()
    shared = real.untyped_storage().data_ptr() == base[0].untyped_storage().data_ptr()
    if real.numel():
        ours_shared = ours.untyped_storage().data_ptr() == base[1].untyped_storage().data_ptr()
        assert shared == ours_shared
    return real, ours


def follow(data, strategy, length):
    shape, dtype = data.draw(shapes()), data.draw(st.sampled_from(WIDE_DTYPES))
    stand_in, (real, ours) = make_pair(shape, dtype)
    note(f"shape {shape}, dtype {dtype}")
    for steps in range(1, data.draw(st.integers(1, length)) + 1):
        if real.numel() > 500:
            return
        expression = data.draw(strategy(tuple(real.shape)))
        note(expression)
        real_result, real_error = evaluate(torch, expression, real)
        try:
            our_result, our_error = evaluate(stand_in, expression, ours)
        except UnknownValue:
            return
        if is_particular_to_cpu(real_error):
            return
        if real.numel() == 0 and NotImplementedError in (type(real_error), type(our_error)):
            # Whether a kernel with nothing to do looks at the dtype differs between kernels.
            return
        compare_errors(real_error, our_error)
        if real_error is not None:
            return
        pair = assert_same(real_result, our_result, (real, ours))
        compare_contents(real, ours, steps)
        if pair is None:
            return
        if "empty" not in expression:
            compare_contents(pair[0], pair[1], steps)
        real, ours = pair


def is_particular_to_cpu(error):
    """Return whether only torch's CPU kernels refuse this; no card does."""
    words = ("ZeroDivisionError", "flip_cpu", "mul_cpu_reduced_float", "out of DATA bounds")
    return error is not None and any(word in str(error) for word in words)


def compare_errors(real_error, our_error):
    if real_error is None and our_error is not None:
        raise our_error
    assert type(real_error) is type(our_error), (real_error, our_error)


@EXAMPLES
@given(st.data())
def test_chain_of_views_is_as_in_torch(data):
    follow(data, views, 6)


@EXAMPLES
@given(st.data())
def test_chain_of_computations_is_as_in_torch(data):
    follow(data, computations, 3)


@EXAMPLES
@given(st.data())
def test_computations_on_views_are_as_in_torch(data):
    follow(data, lambda shape: views(shape) | computations(shape), 6)


@pytest.mark.parametrize("first", WIDE_DTYPES)
@pytest.mark.parametrize("second", WIDE_DTYPES)
def test_promoted_dtype_is_as_in_torch(first, second):
    stand_in = build_torch(Execution(), no_ghost)["torch"]
    code = f"torch.promote_types(torch.{first}, torch.{second})"
    real, real_error = evaluate(torch, code, None)
    ours, our_error = evaluate(stand_in, code, None)
    assert (str(real), type(real_error)) == (str(ours), type(our_error))


@pytest.mark.parametrize("dtype", WIDE_DTYPES)
@pytest.mark.parametrize("asked", ["finfo", "iinfo"])
@pytest.mark.parametrize("field", ["max", "min", "bits", "dtype", "eps", "tiny", "resolution"])
def test_limits_of_a_dtype_are_as_in_torch(asked, dtype, field):
    stand_in = build_torch(Execution(), no_ghost)["torch"]
    code = f"torch.{asked}(torch.{dtype}).{field}"
    real, real_error = evaluate(torch, code, None)
    ours, our_error = evaluate(stand_in, code, None)
    assert (real, type(real_error)) == (ours, type(our_error))
