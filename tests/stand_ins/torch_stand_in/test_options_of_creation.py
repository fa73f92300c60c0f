from __future__ import annotations

import math

import pytest

from pytest_sm120.errors import UnknownOperation


@pytest.mark.parametrize(
    ("given", "name"),
    [(bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")],
)
def test_types_of_python_are_taken_as_torch_takes_them(torch, given, name):
    assert torch.empty(3, dtype=given).dtype is getattr(torch, name)


def test_type_that_is_no_dtype_is_refused(torch):
    with pytest.raises(TypeError) as caught:
        torch.empty(3, dtype=str)
    assert str(caught.value) == "empty(): argument 'dtype' must be torch.dtype, not type"


def test_memory_format_orders_the_elements_of_an_empty_tensor(torch):
    made = torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)
    assert made.stride() == (60, 1, 15, 3)


@pytest.mark.parametrize(
    ("shape", "name", "message"),
    [
        ((2, 3), "channels_last", "required rank 4 tensor to use channels_last format"),
        ((2, 3), "preserve_format", "unsupported memory format Preserve"),
    ],
)
def test_memory_format_that_does_not_fit_is_refused(torch, shape, name, message):
    with pytest.raises(RuntimeError) as caught:
        torch.empty(shape, memory_format=getattr(torch, name))
    assert str(caught.value) == message


def test_zeros_takes_no_memory_format(torch):
    with pytest.raises(TypeError) as caught:
        torch.zeros(2, memory_format=torch.contiguous_format)
    assert str(caught.value) == "zeros() got an unexpected keyword argument 'memory_format'"


@pytest.mark.parametrize("name", ["empty", "zeros", "full"])
def test_out_is_no_mistake_of_the_target_but_not_modelled(torch, name):
    more = (0,) if name == "full" else ()
    with pytest.raises(UnknownOperation) as caught:
        getattr(torch, name)((2,), *more, out=torch.empty(2))
    assert str(caught.value).partition(": ")[2] == (
        f"torch.{name}(..., out=...) is not modelled. The record tier models what host code around"
        " kernels uses; torch has more. Replace the function that calls it with provide=, or run"
        ' the test with tier=["interpret"].'
    )


def test_out_of_none_is_no_out(torch):
    assert torch.full((2,), 1, out=None).tolist() == [1, 1]


# Each answer is that of torch 2.13 on the CPU.
FITTING = [
    (-1, "uint8", 255),
    (-255, "uint8", 1),
    (-1, "uint64", 2**64 - 1),
    (-128, "int8", -128),
    (0.5, "int32", 0),
    (5, "bool", True),
    (math.inf, "float32", math.inf),
]
TOO_LARGE = [
    (256, "uint8", "uint8_t"),
    (-256, "uint8", "uint8_t"),
    (-0.5, "uint8", "uint8_t"),
    (255, "int8", "int8_t"),
    (127.9, "int8", "int8_t"),
    (-129, "int8", "int8_t"),
    (2**31, "int32", "int"),
    (math.nan, "int32", "int"),
    (math.inf, "int32", "int"),
    (2**63, "int64", "int64_t"),
    (70000, "uint16", "uint16_t"),
    (1e39, "float32", "float"),
]


@pytest.mark.parametrize(("value", "dtype", "stored"), FITTING)
def test_number_that_fits_is_stored_as_torch_stores_it(torch, value, dtype, stored):
    kind = getattr(torch, dtype)
    assert torch.full((1,), value, dtype=kind).tolist() == [stored]
    assert torch.empty(1, dtype=kind).fill_(value).tolist() == [stored]


@pytest.mark.parametrize(("value", "dtype", "name"), TOO_LARGE)
def test_number_that_overflows_is_refused(torch, value, dtype, name):
    kind = getattr(torch, dtype)
    for call in (
        lambda: torch.full((1,), value, dtype=kind),
        lambda: torch.empty(1, dtype=kind).fill_(value),
    ):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert str(caught.value) == f"value cannot be converted to type {name} without overflow"


@pytest.mark.parametrize(
    "name", ["is_xla", "is_sparse_csr", "is_vulkan", "is_mtia", "is_maia", "is_ipu"]
)
def test_tensor_is_none_of_the_kinds_that_are_not_modelled(torch, name):
    assert getattr(torch.empty(2), name) is False


def test_layout_of_a_tensor_is_strided(torch):
    assert torch.empty(2).layout is torch.strided


@pytest.mark.parametrize("name", ["real", "H", "mH", "retains_grad", "output_nr"])
def test_attribute_that_is_not_modelled_is_refused_where_it_is_read(torch, name):
    with pytest.raises(UnknownOperation) as caught:
        getattr(torch.empty(2, 2), name)
    assert str(caught.value).partition(": ")[2] == (
        f"Tensor.{name} is not modelled. The record tier models what host code around kernels"
        " uses; torch has more. Replace the function that calls it with provide=, or run the test"
        ' with tier=["interpret"].'
    )
