"""What host code evaluates of Triton: constants, dtypes, cdiv, names."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_sm120.stand_ins.triton_stand_in.language import constexpr, dtype, plain_constant
from pytest_sm120.stand_ins.triton_stand_in.modules import cdiv, next_power_of_2
from tests.stand_ins.bench import Bench

NUMBERS = st.integers(min_value=-(2**20), max_value=2**20)


@given(st.integers(min_value=-(2**40), max_value=2**40), st.integers(min_value=1, max_value=2**20))
def test_cdiv_rounds_the_quotient_up(x: int, y: int) -> None:
    quotient, rest = divmod(x, y)
    assert cdiv(x, y) == quotient + (rest > 0)


@given(st.integers(min_value=1, max_value=2**40))
def test_next_power_of_2_is_the_smallest_that_is_not_below(n: int) -> None:
    power = 1
    while power < n:
        power *= 2
    assert next_power_of_2(n) == power


@pytest.mark.parametrize("n", [0, -1, -5])
def test_next_power_of_2_is_zero_below_one(n: int) -> None:
    assert next_power_of_2(n) == 0


BINARY = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift eq ne lt le gt ge".split()


@pytest.mark.parametrize("name", BINARY)
@given(left=st.integers(0, 60), right=st.integers(0, 60))
def test_arithmetic_on_constants_is_arithmetic_on_their_values(
    name: str, left: int, right: int
) -> None:
    operate = getattr(operator, name)
    assume(right != 0 or name not in ("truediv", "floordiv", "mod"))
    expected = operate(left, right)
    for result in (
        operate(constexpr(left), right),
        operate(left, constexpr(right)),
        operate(constexpr(left), constexpr(right)),
    ):
        assert type(result) is constexpr
        assert result.value == expected and type(result.value) is type(expected)


@given(NUMBERS)
def test_constant_turns_into_its_value(number: int) -> None:
    constant: Any = constexpr(constexpr(number))
    assert plain_constant(constant) == constant.__sm120_plain__() == number
    assert (int(constant), float(constant), bool(constant)) == (number, number, bool(number))
    assert hash(constant) == hash(number)
    assert ((-constant).value, (+constant).value, (~constant).value) == (-number, number, ~number)
    assert repr(constant) == f"constexpr[{number}]"


def test_constant_is_an_index_and_a_function() -> None:
    assert [5, 6][constexpr(1)] == 6
    assert constexpr(math.prod)([2, 3]) == 6


def test_dtypes_are_equal_by_name(bench: Bench) -> None:
    language = bench.load("import triton.language as tl\n").tl
    assert language.float16 == language.dtype("float16") == dtype("float16")
    assert language.float16 != language.bfloat16
    assert language.float16 != "float16"
    assert len({language.float16, dtype("float16")}) == 1
    assert repr(language.float16) == "triton.language.float16"
    assert language.float16.__sm120_plain__() == "float16"


def test_annotation_with_a_constant_is_evaluated(bench: Bench) -> None:
    module = bench.load(
        "import triton.language as tl\n"
        "def f(a: tl.constexpr, b: tl.constexpr | None, c: tl.tensor, d: tl.int64): pass\n"
    )
    assert module.f.__annotations__["a"] is module.tl.constexpr


def test_version_is_compared(bench: Bench) -> None:
    module = bench.load(
        """
        import triton
        from packaging import version
        new = version.parse(triton.__version__) >= version.parse("3.0.0")
        parts = tuple(int(part) for part in triton.__version__.split(".")[:2])
        """
    )
    assert module.new
    assert module.parts == (3, 9)


@pytest.fixture
def triton(bench: Bench) -> Any:
    return bench.load("import triton, triton.language\n").triton


def test_name_that_triton_does_not_have_is_not_there(triton: Any) -> None:
    assert not hasattr(triton, "not_a_real_name")
    with pytest.raises(AttributeError) as raised:
        _ = triton.language.not_a_real_name
    assert str(raised.value) == "module 'triton.language' has no attribute 'not_a_real_name'"
    assert not hasattr(triton, "__wrapped__")


def test_name_that_is_not_modelled_is_a_ghost(triton: Any) -> None:
    assert repr(triton.testing.do_bench) == "<ghost triton.testing.do_bench>"
    assert repr(triton.language.load) == "<ghost triton.language.load>"
    assert triton.runtime is triton.runtime


def test_missing_name_in_a_from_import_is_an_import_error(bench: Bench) -> None:
    module = bench.load(
        """
        try:
            from triton.language import make_nothing
        except ImportError as error:
            reason = str(error)
        """
    )
    assert "cannot import name 'make_nothing' from 'triton.language'" in module.reason


@pytest.mark.parametrize(
    "statement",
    [
        *("from triton.language.extra import libdevice", "import triton.runtime.driver"),
        *(
            "from triton.experimental import gluon",
            "from triton.experimental.gluon import language",
        ),
        *("from triton.runtime.jit import MockTensor", "from triton.tools import experimental"),
        "from triton.language.extra.cuda import libdevice",
    ],
)
def test_submodule_is_imported(bench: Bench, statement: str) -> None:
    bench.load(f"{statement}\n")


def test_parameters_of_autotune_can_be_inspected(triton: Any) -> None:
    import inspect

    assert "key" in inspect.signature(triton.autotune).parameters
