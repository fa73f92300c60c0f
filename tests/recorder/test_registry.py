"""A dict that reports what is stored in it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_sm120.recorder.holders import Registry
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.records import Opaque
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.ghosts import Ghosts
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DTYPES
from tests.recorder.samples import allocate


@pytest.fixture
def recording() -> Recording:
    return Recording()


@pytest.fixture
def registry(recording: Recording) -> Registry:
    made = Registry(recording.add_store)
    recording.follow(made)
    return made


def set_item(registry: Registry, key: object, value: object) -> None:
    registry[key] = value


def set_by_or(registry: Registry, key: object, value: object) -> None:
    same = registry
    registry |= {key: value}
    assert registry is same


WAYS = {
    "item": set_item,
    "setdefault": lambda registry, key, value: registry.setdefault(key, value),
    "update by dict": lambda registry, key, value: registry.update({key: value}),
    "update by pairs": lambda registry, key, value: registry.update([(key, value)]),
    "update by name": lambda registry, key, value: registry.update(**{key: value}),
    "or": set_by_or,
}


@pytest.mark.parametrize("way", WAYS)
def test_store_is_reported_with_the_line_that_did_it(
    recording: Recording, registry: Registry, way: str
) -> None:
    x = allocate(recording)
    WAYS[way](registry, "key", x)
    assert registry == {"key": x}
    [store] = recording.stores("key")
    assert store.view == x.__sm120_view__()
    assert store.site.startswith("test_registry.py:")
    assert recording.allocations()[0].registered_as == "key"


def test_setdefault_keeps_and_returns_what_is_there(
    recording: Recording, registry: Registry
) -> None:
    x, y = allocate(recording), allocate(recording)
    assert registry.setdefault("key", x) is x
    assert registry.setdefault("key", y) is x
    assert registry.setdefault("none") is None
    assert len(recording.stores()) == 1


@pytest.mark.parametrize(
    ("key", "plain"),
    [
        (Device("cuda:0"), "cuda:0"),
        (DTYPES["uint8"], "uint8"),
        (("ws", Device("cuda:0"), (DTYPES["int8"], 3)), ("ws", "cuda:0", ("int8", 3))),
        (Ghosts(Execution()).named("lib.key"), Opaque("lib.key")),
        ((Ghosts(Execution()).named("lib.key"), 1), (Opaque("lib.key"), 1)),
        (3, 3),
    ],
)
def test_key_is_recorded_as_plain_data(
    recording: Recording, registry: Registry, key: object, plain: object
) -> None:
    registry[key] = allocate(recording)
    assert recording.allocations()[0].registered_as == plain
    assert recording.stores(key) == recording.stores(plain) != []


@pytest.mark.parametrize(
    ("wrap", "path"),
    [
        (lambda x: [0, x], "a[1]"),
        (lambda x: (x,), "a[0]"),
        (lambda x: {"k": x}, "a['k']"),
        (lambda x: {"k": [x]}, "a['k'][0]"),
        (lambda x: SimpleNamespace(buffer=x), "a.buffer"),
        (lambda x: SimpleNamespace(inner=SimpleNamespace(table={3: x})), "a.inner.table[3]"),
        (lambda x: {Device("cuda:1"): x}, "a['cuda:1']"),
    ],
)
def test_tensor_inside_what_is_stored_is_reported_with_its_path(
    recording: Recording, registry: Registry, wrap: Any, path: str
) -> None:
    registry["a"] = wrap(allocate(recording))
    assert recording.allocations()[0].registered_as == path
    assert [store.key for store in recording.stores()] == [path]


def test_tensor_put_later_into_a_stored_container_is_found(
    recording: Recording, registry: Registry
) -> None:
    registry["inner"] = {}
    registry["inner"]["key"] = allocate(recording)
    assert recording.allocations()[0].registered_as == "inner['key']"


def test_tensor_that_is_replaced_is_no_longer_held(
    recording: Recording, registry: Registry
) -> None:
    x, y = allocate(recording), allocate(recording)
    registry["key"] = x
    registry["key"] = y
    assert list(registry.held_tensors()) == [("key", y.__sm120_view__())]
    assert [record.registered_as for record in recording.allocations()] == ["key", "key"]
