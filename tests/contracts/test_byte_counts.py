"""Byte counts are spelled with three digits in binary units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.contracts.byte_counts import bytes_in_words

UNITS = {"byte": 1, "bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1.00 KiB"),
        (599_040, "585 KiB"),
        (10_235, "10.0 KiB"),
        (102_298, "99.9 KiB"),
        (102_399, "100 KiB"),
        (2**20 - 1, "1.00 MiB"),
        (2**20, "1.00 MiB"),
        # 2,097,152 tokens in pages of 64, 37,440 bytes each.
        (2_097_152 // 64 * 37_440, "1.14 GiB"),
        (2**50, "1024 TiB"),
    ],
)
def test_bytes_in_words(count, words):
    assert bytes_in_words(count) == words


@given(st.integers(0, 2**50))
def test_words_are_within_half_a_digit_of_the_count(count):
    number, unit = bytes_in_words(count).split()
    digits = len(number.partition(".")[2])
    assert abs(float(number) * UNITS[unit] - count) <= 0.5 * 10**-digits * UNITS[unit] * 1.0001
