from __future__ import annotations

import copy
import math
import pickle
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.errors import UsageError
from pytest_sm120.tensors.devices import Device, without_default_index
from pytest_sm120.tensors.dtypes import DTYPES, find_dtype
from pytest_sm120.tensors.number_formats import FLOATS, convert_number, integer_limits, round_float
from pytest_sm120.tensors.storages import LARGEST_FOLLOWED, Elements, Storage, Uniform


@pytest.mark.parametrize(
    ("arguments", "text", "shown"),
    [
        (("cuda:1",), "cuda:1", "device(type='cuda', index=1)"),
        (("cuda", 0), "cuda:0", "device(type='cuda', index=0)"),
        ((2,), "cuda:2", "device(type='cuda', index=2)"),
        (("cpu",), "cpu", "device(type='cpu')"),
        ((Device("cuda:3"),), "cuda:3", "device(type='cuda', index=3)"),
    ],
)
def test_device_is_built_from_every_spelling(arguments, text, shown):
    device = Device(*arguments)
    assert (str(device), repr(device)) == (text, shown)
    assert device == copy.copy(device) == pickle.loads(pickle.dumps(device))
    assert device != text and len({device, Device(*arguments)}) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cuda:x",), "Invalid device string: 'cuda:x'"),
        (("cuda:01",), "Invalid device string: 'cuda:01'"),
        (("gpu",), "Expected one of cpu, cuda, ipu"),
        (("cuda:0", 1), r"type \(string\) must not include an index"),
    ],
)
def test_wrong_device_is_refused_in_the_words_of_torch(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        Device(*arguments)


def test_default_index_is_filled_in_for_cards_only():
    assert [str(without_default_index(Device(name))) for name in ("cuda", "cpu:0", "meta")] == [
        "cuda:0",
        "cpu",
        "meta",
    ]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("uint8", "uint8"),
        ("torch.half", "float16"),
        (float, "float64"),
        (bool, "bool"),
        (DTYPES["int8"], "int8"),
        (struct.Struct("i"), None),
        ("uint7", None),
    ],
)
def test_dtype_is_found_by_its_names(spelling, name):
    if name is not None:
        assert find_dtype(spelling).name == name
        return
    with pytest.raises(UsageError) as caught:
        find_dtype(spelling)
    assert caught.value.remedy == "Name the dtype as a string without torch, e.g. dtype='uint8'."


def test_dtype_answers_what_kind_it_is():
    assert DTYPES["float8_e8m0fnu"].is_signed and DTYPES["bfloat16"].is_floating_point
    assert DTYPES["complex64"].is_complex and not DTYPES["uint8"].is_signed
    assert repr(DTYPES["int32"]) == "torch.int32"


@given(st.floats(width=64))
def test_float16_is_rounded_as_the_standard_library_does(value):
    try:
        expected = struct.unpack("e", struct.pack("e", value))[0]
    except OverflowError:
        expected = math.copysign(math.inf, value)
    found = round_float(value, DTYPES["float16"])
    assert found == expected or (math.isnan(found) and math.isnan(expected))
    assert math.copysign(1, found) == math.copysign(1, expected) or math.isnan(value)


@given(st.sampled_from([n for n in FLOATS if n != "float8_e8m0fnu"]), st.floats(allow_nan=False))
def test_rounding_twice_changes_nothing(name, value):
    once = round_float(value, DTYPES[name])
    twice = round_float(once, DTYPES[name])
    assert once == twice or (math.isnan(once) and math.isnan(twice))


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [
        (448.0, "float8_e4m3fn", 448.0),
        (464.0, "float8_e4m3fn", 448.0),
        (1e9, "float8_e5m2", math.inf),
    ],
)
def test_edge_of_a_format_is_kept(value, name, expected):
    assert round_float(value, DTYPES[name]) == expected


def test_number_beyond_e4m3fn_is_the_largest_one():
    assert round_float(465.0, DTYPES["float8_e4m3fn"]) == 448.0
    assert round_float(-math.inf, DTYPES["float8_e4m3fn"]) == -448.0


def test_number_beyond_another_format_without_infinity_is_not_a_number():
    assert math.isnan(round_float(math.inf, DTYPES["float8_e4m3fnuz"]))


@pytest.mark.parametrize("name", ["float8_e8m0fnu", "float4_e2m1fn_x2"])
def test_format_that_is_not_followed_says_so(name):
    with pytest.raises(ArithmeticError, match=f"rounding to {name} is not followed"):
        round_float(1.0, DTYPES[name])


@given(st.integers(), st.sampled_from(["uint8", "int8", "int32", "uint64"]))
def test_integer_wraps_around(value, name):
    limits = integer_limits(DTYPES[name])
    found = int(convert_number(value, DTYPES[name]).real)
    assert limits.min <= found <= limits.max and (found - value) % 2**limits.bits == 0


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [(2, "bool", True), (2.9, "int8", 2), (1 + 2j, "complex64", 1 + 2j), (3 + 0j, "int8", 3)],
)
def test_number_is_converted_to_other_kinds(value, name, expected):
    assert convert_number(value, DTYPES[name]) == expected


def make_storage(contents=None, nbytes=8):
    return Storage(nbytes, Device("cpu"), contents)


def test_unknown_storage_answers_nothing():
    assert make_storage().read([0], DTYPES["int8"]) is None


def test_uniform_zero_is_zero_in_other_dtypes_but_not_in_the_scale_format():
    storage = make_storage(Uniform(0, DTYPES["int8"]))
    assert storage.read([0, 1], DTYPES["float32"]) == [0.0, 0.0]
    assert storage.read([0], DTYPES["float8_e8m0fnu"]) == [2.0**-127]


@pytest.mark.parametrize(
    ("value", "dtype", "seen"),
    [
        (1, "int8", [0, 0, -128, 63]),
        (-0.0, "int8", [0, 0, 0, -128]),
        (1, "int64", [0x3F8000003F800000]),
        (math.nan, "int8", None),
        (1, "float4_e2m1fn_x2", None),
    ],
)
def test_uniform_value_is_seen_through_its_bytes_in_other_dtypes(value, dtype, seen):
    storage = make_storage(Uniform(value, DTYPES["float32"]))
    places = list(range(len(seen or [0])))
    assert storage.read(places, DTYPES[dtype]) == seen


def test_written_elements_are_seen_through_their_bytes_in_other_dtypes():
    storage = make_storage(Uniform(0, DTYPES["int8"]))
    storage.write([1, 7], [5, 6], DTYPES["int8"])
    assert storage.contents == Elements([0, 5, 0, 0, 0, 0, 0, 6], DTYPES["int8"])
    assert storage.read([7], DTYPES["int8"]) == [6]
    assert storage.read([0, 3], DTYPES["int16"]) == [5 * 256, 6 * 256]
    assert storage.read([], DTYPES["int16"]) == []


def test_write_as_another_dtype_keeps_the_other_bytes():
    storage = make_storage(Elements([1, 2, 3, 4, 5, 6, 7, 8], DTYPES["uint8"]))
    storage.write([1], [256], DTYPES["int16"])
    assert storage.read(list(range(8)), DTYPES["uint8"]) == [1, 2, 0, 1, 5, 6, 7, 8]


def test_write_as_a_dtype_that_leaves_bytes_over_becomes_unknown():
    storage = make_storage(Uniform(1, DTYPES["uint8"]), 7)
    storage.write([0], [1], DTYPES["int16"])
    assert storage.contents is None


def test_elements_whose_bytes_are_not_known_are_not_seen_in_other_dtypes():
    storage = make_storage(Elements([math.nan, 1.0], DTYPES["float32"]))
    assert storage.read([0, 1], DTYPES["int32"]) is None
    assert storage.read([1], DTYPES["int32"]) == [0x3F800000]


@pytest.mark.parametrize(
    "storage",
    [
        make_storage(),
        make_storage(Uniform(math.nan, DTYPES["float16"])),
        make_storage(Uniform(0, DTYPES["int8"]), LARGEST_FOLLOWED + 1),
    ],
)
def test_what_cannot_be_followed_becomes_unknown(storage):
    storage.write([0], [1], DTYPES["int8"])
    assert storage.contents is None
    storage.forget()
    assert storage.contents is None
