from __future__ import annotations

from typing import Any

import pytest

from pytest_sm120.errors import UnknownValue, UsageError
from pytest_sm120.stand_ins.torch_stand_in import contents, input_tensor, input_values


class Array:
    """Has what numpy's arrays have."""

    dtype = "int16"
    shape = (2, 2)

    def tolist(self):
        return [[1, 2], [3, 4]]


def test_input_tensor_is_not_recorded(execution):
    tensor = input_tensor(execution, (2, 3), "uint8", "cuda:1")
    assert (tensor.shape, str(tensor.device), tensor.dtype.name) == ((2, 3), "cuda:1", "uint8")
    assert execution.recording.records() == []


def test_strided_input_reaches_to_the_end_of_its_last_step(execution):
    pages = input_tensor(execution, (4, 64, 584), "uint8", strides=(37440, 584, 1))
    assert pages.untyped_storage().nbytes() == 4 * 37440


@pytest.mark.parametrize(
    ("values", "dtype", "shape"),
    [
        (3, "int64", ()),
        ([1, 2], "int64", (2,)),
        ([1, 2.5], "float32", (2,)),
        ((True, False), "bool", (2,)),
        ([[1], [2]], "int64", (2, 1)),
        ([], "float32", (0,)),
        ([1j], "complex64", (1,)),
        (Array(), "int16", (2, 2)),
    ],
)
def test_dtype_and_shape_of_values_are_found(execution, values, dtype, shape):
    tensor = input_values(execution, values)
    assert (tensor.dtype.name, tuple(tensor.shape)) == (dtype, shape)


def test_contents_follow_through_views_and_writes(torch, execution):
    tensor: Any = input_values(execution, [[300, -1], [301, 7]], "int32")
    assert contents(tensor.t()) == [[300, 301], [-1, 7]]
    tensor[0] = 5
    tensor[:, 1].fill_(2)
    assert contents(tensor) == [[5, 2], [301, 2]]
    assert tensor.max().item() == 301


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([[1], [1, 2]],),
            "sm120.values cannot read these values: expected sequence of length 1 at dim 1 "
            "(got 2). Accepted are numbers, nested lists of equal lengths, and numpy arrays of "
            "numbers. Write the values as nested lists, e.g. [[0, 1], [2, -1]].",
        ),
        (
            (["a"],),
            "sm120.values cannot read these values: new(): invalid data type 'str'. Accepted are "
            "numbers, nested lists of equal lengths, and numpy arrays of numbers. Write the "
            "values as nested lists, e.g. [[0, 1], [2, -1]].",
        ),
        (
            ([256], "uint8"),
            "sm120.values got 256, which uint8 cannot hold. uint8 holds whole numbers from 0 to "
            "255. Give a value in that range, or another dtype=.",
        ),
        (
            ([0.5], "int32"),
            "sm120.values got 0.5, which int32 cannot hold. int32 holds whole numbers from "
            "-2147483648 to 2147483647. Give a value in that range, or another dtype=.",
        ),
        (
            ([1j], "float32"),
            "sm120.values got 1j, which float32 cannot hold. float32 holds "
            "-3.4028234663852886e+38 to 3.4028234663852886e+38. Give a value in that range, or "
            "another dtype=.",
        ),
        (
            ([500.0], "float8_e4m3fn"),
            "sm120.values got 500.0, which float8_e4m3fn cannot hold. float8_e4m3fn holds -448.0 "
            "to 448.0. Give a value in that range, or another dtype=.",
        ),
        (
            ([2], "bool"),
            "sm120.values got 2, which bool cannot hold. bool holds True and False. Give a value "
            "in that range, or another dtype=.",
        ),
        (
            ([0] * 65537,),
            "sm120.values got 65537 numbers. The record tier follows the contents of at most "
            "65536 elements. Give a smaller example, or use sm120.tensor when the contents do not "
            "matter.",
        ),
    ],
)
def test_values_that_no_tensor_can_hold_are_refused(execution, arguments, message):
    with pytest.raises(UsageError) as caught:
        input_values(execution, *arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ((2, -1),),
            "(2, -1) is no shape of a tensor. A shape is a sequence of whole numbers that are not "
            "negative. Write it as a tuple, e.g. shape=(4, 128).",
        ),
        (
            ((2, 1.5),),
            "(2, 1.5) is no shape of a tensor. A shape is a sequence of whole numbers that are "
            "not negative. Write it as a tuple, e.g. shape=(4, 128).",
        ),
        (
            ((2,), "uint8", "cuda:0", (1, 1)),
            "The strides (1, 1) do not fit the shape (2,). There is one stride, counted in "
            "elements, for each dimension. Give 1 strides, or none for a contiguous tensor.",
        ),
        (
            ((2,), "uint8", "cuda:9"),
            "'cuda:9' is not a device that a tensor can have here: CUDA error: invalid device "
            "ordinal Known are cpu, meta, cuda and cuda:0 to cuda:7. Name the device as a string, "
            'e.g. device="cuda:0".',
        ),
    ],
)
def test_geometry_that_no_tensor_can_have_is_refused(execution, arguments, message):
    with pytest.raises(UsageError) as caught:
        input_tensor(execution, *arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (lambda t: t[0].item(), "Tensor.item()"),
        (lambda t: t.tolist(), "Tensor.tolist()"),
        (lambda t: bool(t[0] > 3), "bool(tensor)"),
        (lambda t: int(t[0]), "int(tensor)"),
        (lambda t: float(t[0]), "float(tensor)"),
        (lambda t: [0, 1][t[0]], "a tensor used as an index or a size"),
        (contents, "sm120.numpy(tensor)"),
    ],
)
def test_question_about_unknown_contents_is_an_error(execution, question, asked):
    tensor = input_tensor(execution, (2,), "int32")
    with pytest.raises(UnknownValue) as caught:
        question(tensor)
    assert caught.value.cause.startswith("test_inputs.py:")
    assert f": {asked} needs the contents of a tensor (" in caught.value.cause
    assert caught.value.limit == (
        "The record tier runs no kernel: it knows what a test gave with sm120.values, and what "
        "host code made of that, for tensors of at most 65536 elements, or 1048576 where all are "
        "equal."
    )
    assert caught.value.remedy == (
        "Give the input its contents with sm120.values(...), replace the function that asks with "
        'provide=, or run the test with tier=["interpret"].'
    )


def test_contents_of_something_else_are_refused():
    with pytest.raises(UsageError) as caught:
        contents(3)
    assert str(caught.value) == (
        "The contents of 3 were asked for. Only a tensor of this test has contents. Pass a tensor "
        "that sm120.tensor, sm120.values or the code under test made."
    )
