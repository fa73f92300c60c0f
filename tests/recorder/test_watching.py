"""Objects whose attributes are watched."""

from __future__ import annotations

import abc
import enum
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_sm120.recorder.holders import WatchedObject
from pytest_sm120.recorder.recording import Recording
from tests.recorder.samples import allocate


class Plain:
    buffer: Any


class Slotted:
    __slots__ = ("buffer", "_Slotted__hidden")


class SlotsBelowADict(Plain):
    __slots__ = ("other",)


class OwnSetter:
    buffer: Any

    def __init__(self) -> None:
        self.__dict__["names"] = []

    def __setattr__(self, name: str, value: object) -> None:
        self.names.append(name)
        super().__setattr__(name, value)

    names: list[str]


class WithProperty:
    @property
    def buffer(self) -> object:
        return self._buffer

    @buffer.setter
    def buffer(self, value: object) -> None:
        self._buffer = value


class Registering(type):
    made: list[str] = []

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        if name in Registering.made:
            raise ValueError(f"{name} is made twice")
        Registering.made.append(name)


class WithMetaclass(metaclass=Registering):
    buffer: Any


class Abstract(abc.ABC):  # noqa: B024  # its metaclass is what matters
    buffer: Any


class RefusesSubclasses:
    buffer: Any

    def __init_subclass__(cls) -> None:
        raise TypeError("no")


@dataclass
class Data:
    buffer: Any = None


KINDS = [
    *(Plain, Slotted, SlotsBelowADict, OwnSetter, WithProperty, WithMetaclass, Abstract),
    *(RefusesSubclasses, Data),
]


@pytest.fixture
def recording() -> Recording:
    return Recording()


@pytest.fixture
def watch(recording: Recording) -> Iterator[Any]:
    watching: list[WatchedObject] = []

    def start(watched: object) -> WatchedObject:
        watching.append(WatchedObject(watched, recording.add_store))
        recording.follow(watching[-1])
        return watching[-1]

    yield start
    for made in reversed(watching):
        made.release()


@pytest.mark.parametrize("kind", KINDS)
def test_attribute_is_reported_with_the_line_that_set_it(
    recording: Recording, watch: Any, kind: Any
) -> None:
    watched = kind()
    watch(watched)
    x = allocate(recording)
    watched.buffer = x
    assert watched.buffer is x
    assert type(watched) is kind
    name = "_buffer" if kind is WithProperty else "buffer"
    stores = recording.stores()
    assert stores[0].key == name == recording.allocations()[0].registered_as
    assert stores[0].place.path == __file__


@pytest.mark.parametrize("kind", KINDS)
def test_class_is_as_before_when_the_object_is_released(
    recording: Recording, watch: Any, kind: Any
) -> None:
    before = dict(vars(kind))
    watching = watch(kind())
    assert vars(kind).get("__setattr__") is not before.get("__setattr__")
    watching.release()
    watching.release()
    assert dict(vars(kind)) == before


def test_own_setter_still_runs(recording: Recording, watch: Any) -> None:
    watched = OwnSetter()
    watch(watched)
    watched.buffer = 1
    assert watched.names == ["buffer"]


def test_setter_that_refuses_stores_nothing(recording: Recording, watch: Any) -> None:
    @dataclass(frozen=True)
    class Frozen:
        buffer: Any = None

    watched = Frozen()
    watch(watched)
    with pytest.raises(AttributeError):
        watched.buffer = allocate(recording)  # type: ignore[misc]  # the point
    assert recording.stores() == []


def test_other_object_of_the_class_is_not_reported(recording: Recording, watch: Any) -> None:
    watch(Plain())
    Plain().buffer = allocate(recording)
    assert recording.stores() == []


def test_two_objects_of_one_class_are_watched(recording: Recording, watch: Any) -> None:
    one, other = Plain(), Plain()
    watch(one)
    watch(other)
    one.buffer, other.buffer = allocate(recording), allocate(recording)
    assert [store.view.storage for store in recording.stores("buffer")] == [
        one.buffer.__sm120_view__().storage,
        other.buffer.__sm120_view__().storage,
    ]


def test_object_of_a_derived_class_is_watched_beside_its_base(
    recording: Recording, watch: Any
) -> None:
    base: Any = Plain()
    derived: Any = SlotsBelowADict()
    watch(base)
    watch(derived)
    derived.buffer = allocate(recording)
    derived.other = allocate(recording)
    assert [store.key for store in recording.stores()] == ["buffer", "other"]


def test_namespace_is_looked_into(recording: Recording, watch: Any) -> None:
    watched = SimpleNamespace()
    watch(watched)
    watched.buffer = allocate(recording)
    watched.table = {"k": [allocate(recording)]}
    assert [store.key for store in recording.stores()] == ["buffer", "table['k'][0]"]
    assert type(watched) is SimpleNamespace


def test_class_that_cannot_be_changed_is_looked_into(recording: Recording, watch: Any) -> None:
    class Closed(type):
        def __setattr__(cls, name: str, value: object) -> None:
            raise TypeError("closed")

    class Own(metaclass=Closed):
        buffer: Any

    watched = Own()
    watch(watched)
    watched.buffer = allocate(recording)
    assert recording.allocations()[0].registered_as == "buffer"


def test_enum_member_is_watched(recording: Recording, watch: Any) -> None:
    class Kind(enum.Enum):
        A = 1

    watch(Kind.A)
    Kind.A.buffer = allocate(recording)  # type: ignore[attr-defined]  # the point
    assert recording.allocations()[0].registered_as == "buffer"


def test_attribute_set_before_is_held(recording: Recording, watch: Any) -> None:
    watched: Any = Slotted()
    watched.buffer = allocate(recording)
    watching = watch(watched)
    assert [key for key, _ in watching.held_tensors()] == ["buffer"]
    assert recording.allocations()[0].registered_as == "buffer"
