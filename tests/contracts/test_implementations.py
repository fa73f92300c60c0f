"""Which attributes a dispatcher reads of each implementation, and which of them are there."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from pytest_sm120 import Implementations
from pytest_sm120.contracts import check
from pytest_sm120.errors import ContractBroken, UsageError
from pytest_sm120.stand_ins.ghost_classes import make_base
from tests.contracts.fake_targets import FakeBench


def missing(dispatcher, instance, called="impl"):
    """Return the names of the attributes that are told as missing."""
    contract = Implementations(dispatcher, called, {"it": instance})
    try:
        check(contract, bench=FakeBench())
    except ContractBroken as error:
        return re.findall(rf"{called}\.(\w+)(?: \(|,)", str(error))
    return []


def reads_one(impl):
    return impl.a


def follows_an_alias(impl):
    it = impl
    return it.a


def reads_when_sparse(impl, count):
    if impl.is_sparse and count > 0 and impl.a:
        return 1
    return 0


def reads_unless_dense(impl):
    return not impl.is_sparse or impl.a


def leaves_early(impl):
    if not impl.is_sparse:
        return 0
    return impl.a


def leaves_inside_with(impl, lock):
    with lock:
        if not impl.is_sparse:
            raise ValueError
    return impl.a


def goes_on_in_a_loop(impl, rows):
    for _ in rows:
        if not impl.is_sparse:
            continue
        rows.append(impl.a)
    return rows


def chooses(impl):
    return impl.a if impl.is_sparse else 0


def takes_the_other_branch(impl):
    if impl.is_sparse:
        return 1
    return impl.a


def asks_first(impl):
    return hasattr(impl, "a") and impl.a


def names_a_default(impl):
    return getattr(impl, "a", getattr(impl, "is_sparse", None))


def writes_first(impl):
    impl.a = 1
    return impl.a


def calls_a_method(impl, rows):
    return [impl.a(row) for row in rows]


def reads_in_a_handler(impl):
    try:
        return 0
    except ValueError:
        return impl.a


def reads_in_what_it_stores(impl, table):
    table[impl.a] = 0


SPARSE = SimpleNamespace(is_sparse=True)
DENSE = SimpleNamespace(is_sparse=False)


@pytest.mark.parametrize(
    "dispatcher",
    [
        reads_one,
        follows_an_alias,
        reads_when_sparse,
        reads_unless_dense,
        leaves_early,
        leaves_inside_with,
        goes_on_in_a_loop,
        chooses,
        calls_a_method,
        reads_in_a_handler,
        reads_in_what_it_stores,
    ],
)
def test_attribute_that_would_be_read_is_told(dispatcher):
    assert missing(dispatcher, SPARSE) == ["a"]


@pytest.mark.parametrize(
    "dispatcher",
    [
        reads_when_sparse,
        reads_unless_dense,
        leaves_early,
        leaves_inside_with,
        goes_on_in_a_loop,
        chooses,
        asks_first,
        names_a_default,
        writes_first,
    ],
)
def test_attribute_that_would_not_be_read_is_not_asked_for(dispatcher):
    assert missing(dispatcher, DENSE) == []


def test_branch_that_the_object_decides_is_the_one_that_is_read():
    assert missing(takes_the_other_branch, DENSE) == ["a"]
    assert missing(takes_the_other_branch, SPARSE) == []


def test_condition_that_is_not_known_leaves_both_branches_open():
    def both(impl, count):
        value = impl.a if count else impl.b
        if impl.is_sparse or count:
            return value
        return impl.c

    assert missing(both, SPARSE) == ["a", "b"]
    assert missing(both, DENSE) == ["a", "b", "c"]


def test_path_of_the_implementation_may_have_parts():
    def prefill(self):
        return self.impl.a + self.other.b

    assert missing(prefill, SPARSE, called="self.impl") == ["a"]


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


class Declared:
    a: int
    b = None

    @property
    def c(self):
        raise AssertionError("no code of the object may run")


class Dynamic:
    def __getattr__(self, name):
        if name == "a":
            return 1
        raise AttributeError(name)


class OnGhost(make_base("serving.attention.Impl", None)):  # type: ignore[misc]  # made at run time
    b = 1


@pytest.mark.parametrize(
    ("instance", "lacking"),
    [
        (Slotted(), ["b", "c"]),
        (Declared(), ["a"]),
        (Dynamic(), ["b", "c"]),
        (OnGhost(), ["a", "c"]),
    ],
)
def test_attribute_counts_where_the_object_or_a_class_of_its_own_has_it(instance, lacking):
    def reads_three(impl):
        return impl.a, impl.b, impl.c

    assert missing(reads_three, instance) == lacking


def test_report_names_every_place_and_who_has_it():
    def prefill(impl):
        return impl.a + impl.b + impl.a

    def decode(impl):
        return impl.b

    contract = Implementations(
        [prefill, decode], "impl", [SimpleNamespace(a=1, b=1), Declared(), OnGhost()]
    )
    with pytest.raises(ContractBroken) as caught:
        check(contract, bench=FakeBench())
    text = re.sub(r"implementations\.py:\d+", "implementations.py:N", str(caught.value))
    assert text == (
        "The contract for the implementations that prefill and decode may be given is broken in 2"
        " of 3 clauses.\n\n"
        "1. attributes of Declared: test_implementations.py:N: prefill reads impl.a, and Declared"
        " has no such attribute. SimpleNamespace has it. It raises AttributeError as soon as that"
        " implementation is chosen. Set it in Declared, whichever __init__ runs.\n\n"
        "2. attributes of OnGhost: test_implementations.py:N: prefill reads impl.a, and OnGhost has"
        " no such attribute. Its base Impl is not there to ask. SimpleNamespace has it. It raises"
        " AttributeError as soon as that implementation is chosen. Set it in OnGhost, whichever"
        " __init__ runs, or load what defines Impl with real=."
    )


def test_several_attributes_are_told_in_one_finding():
    def prefill(impl):
        first = impl.a
        return first + impl.b

    with pytest.raises(ContractBroken) as caught:
        check(Implementations(prefill, "impl", {"x": SPARSE}), bench=FakeBench())
    line = prefill.__code__.co_firstlineno
    assert (
        f"test_implementations.py:{line + 1}: prefill reads impl.a, and impl.b"
        f" (test_implementations.py:{line + 2}), and x has no such attribute."
    ) in str(caught.value)


def test_object_that_answers_everything_is_refused():
    with pytest.raises(UsageError) as caught:
        Implementations(reads_one, "impl", [MagicMock()])
    assert str(caught.value) == (
        "Implementations(instances=) holds MagicMock, which answers every attribute. A mock or a"
        " ghost has whatever it is asked for, which hides what is missing. Give an object of the"
        " implementation's own class."
    )


def test_name_that_is_none_is_refused():
    with pytest.raises(UsageError) as caught:
        Implementations(reads_one, "impl.", [SPARSE])
    assert str(caught.value) == (
        "Implementations(called='impl.') is no name. It is how the dispatcher's text refers to the"
        ' implementation. Write e.g. called="impl", or called="self.impl".'
    )


@pytest.mark.parametrize("dispatcher", [len, lambda impl: impl.a, Slotted])
def test_dispatcher_without_a_text_is_refused(dispatcher: Any):
    with pytest.raises(UsageError, match="whose text cannot be read. A dispatcher is a function"):
        check(Implementations(dispatcher, "impl", [SPARSE]), bench=FakeBench())
