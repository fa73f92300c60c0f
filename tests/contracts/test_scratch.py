"""A Scratch that cannot be understood is refused where it is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_sm120.contracts import Scratch
from pytest_sm120.errors import UsageError
from tests.contracts.fake_targets import CONTRACT, Options

UNKNOWN_INIT = (
    ' is not an initial value. Known are "zeros", "empty" and ("full", value) with a number.'
    ' For an index buffer whose neutral value is -1 write init=("full", -1).'
)
NO_SHAPE = (
    " A shape is a tuple of whole numbers that are not negative. Return a tuple, with a comma also"
    " when it has one dimension: (pages * 4,)."
)
NO_KEY = (
    ' is neither a text nor a function. A key is a template such as "split:{device}", or a function'
    ' of the device. For other keys write a function, e.g. key=lambda device: ("ws", device).'
)
NO_KEYS: dict[str, str] = {}
REFUSED: dict[str, tuple[Options, str]] = {
    "init text": ({"init": "ones"}, "Scratch(init='ones')" + UNKNOWN_INIT),
    "init without value": ({"init": ("full",)}, "Scratch(init=('full',))" + UNKNOWN_INIT),
    "init with text": ({"init": ("full", "x")}, "Scratch(init=('full', 'x'))" + UNKNOWN_INIT),
    "init number": ({"init": 0}, "Scratch(init=0)" + UNKNOWN_INIT),
    "key tuple": ({"key": ("ws", 0)}, "Scratch(key=('ws', 0))" + NO_KEY),
    "key empty": ({"key": ""}, "Scratch(key='')" + NO_KEY),
    "shape number": ({"shape": 4}, "Scratch(shape=4) is not a shape." + NO_SHAPE),
    "shape negative": ({"shape": (4, -1)}, "Scratch(shape=(4, -1)) is not a shape." + NO_SHAPE),
    "shape bool": ({"shape": (True,)}, "Scratch(shape=(True,)) is not a shape." + NO_SHAPE),
    "latent": (
        {"latent": "ignore"},
        "Scratch(latent='ignore') is not a way to treat a latent hazard. Known are \"fail\" and"
        ' "warn". Leave it out to fail, or write latent="warn".',
    ),
    "consumer": (
        {"consumer": "flashinfer 0.6"},
        "Scratch(consumer='flashinfer 0.6') does not name a distribution and its versions. A"
        " consumer is written as a requirement of pip. Write e.g."
        ' consumer="flashinfer-python<=0.6.18".',
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_scratch_is_refused_when_a_field_cannot_be_understood(name):
    fields, message = REFUSED[name]
    with pytest.raises(UsageError) as caught:
        replace(CONTRACT, **fields)
    assert str(caught.value) == message


def test_scratch_is_refused_when_torch_has_no_such_dtype():
    with pytest.raises(UsageError, match="'uint9' is not a dtype that torch has"):
        replace(CONTRACT, dtype="uint9")


@pytest.mark.parametrize("spelling", ["torch.uint8", "uint8"])
def test_dtype_name_is_plain(spelling):
    assert replace(CONTRACT, dtype=spelling).dtype_name == "uint8"


@pytest.mark.parametrize(
    ("init", "value"), [("zeros", 0), ("empty", 0), (("full", -1), -1), (("full", True), True)]
)
def test_value_is_what_init_names(init, value):
    assert replace(CONTRACT, init=init).value is value


def test_key_template_may_hold_other_braces():
    contract = Scratch(key="_ws['{device}'].{x}", init="empty", dtype="uint8")
    assert contract.key_on("cuda:1") == "_ws['cuda:1'].{x}"


def test_title_of_a_key_function_is_its_first_key():
    assert replace(CONTRACT, key=lambda device: ("ws", device)).title == "('ws', 'cuda:0')"


def test_title_of_a_template_is_the_template():
    assert CONTRACT.title == '"split:{device}"'


def test_key_function_that_raises_is_a_usage_error_with_its_cause():
    contract = replace(CONTRACT, key=lambda device: NO_KEYS[device])
    with pytest.raises(UsageError) as caught:
        contract.key_on("cuda:0")
    assert str(caught.value) == (
        "Scratch(key=) raised KeyError: 'cuda:0' for the device 'cuda:0'. A key function takes the"
        " device's name and returns the key. Write it as in"
        ' key=lambda device: ("workspace", device).'
    )
    assert isinstance(caught.value.__cause__, KeyError)


def test_shape_function_that_raises_is_a_usage_error_with_its_cause():
    def shape(size):
        raise ValueError

    with pytest.raises(UsageError) as caught:
        replace(CONTRACT, shape=shape).shape_at(4)
    assert str(caught.value) == (
        "Scratch(shape=) raised ValueError for the size 4. A shape function takes the size that"
        " drive is given. Write it as in shape=lambda pages: (pages * 4, 37440)."
    )
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("shape", [16, None, "16", (1.5, 2), (-1,)])
def test_shape_function_that_returns_no_shape_is_a_usage_error(shape):
    with pytest.raises(UsageError) as caught:
        replace(CONTRACT, shape=lambda size: shape).shape_at(4)
    cause = f"Scratch(shape=) returned {shape!r} for the size 4."
    assert str(caught.value) == cause + NO_SHAPE


def test_shape_may_be_a_tuple():
    assert replace(CONTRACT, shape=[4, 16]).shape_at(9) == (4, 16)
