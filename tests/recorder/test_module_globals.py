"""Buffers in the globals of a module, and what is reached from an object."""

from __future__ import annotations

import logging
import textwrap
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pytest_sm120.recorder.holders import ModuleGlobals
from pytest_sm120.recorder.reachable import find_tensors, walk
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.tensors.devices import Device
from tests.recorder.samples import FakeTensor, allocate, tensor


def make_module(source: str, **names: Any) -> Any:
    module = ModuleType("target")
    vars(module).update(names)
    exec(textwrap.dedent(source), vars(module))
    return module


PATHS = [
    ("_buffer = new()", "_buffer"),
    ("_cache = {('ws', device): new()}", "_cache[('ws', 'cuda:0')]"),
    ("_cache = {'a': {'b': [0, new()]}}", "_cache['a']['b'][1]"),
    ("_slots = [None, new()]", "_slots[1]"),
    ("class Pool:\n    buffer = new()", "Pool.buffer"),
    ("class Pool:\n    cache = {1: new()}", "Pool.cache[1]"),
    ("def get(): pass\nget.cache = {1: new()}", "get.cache[1]"),
    ("class Pool: pass\npool = Pool()\npool.buffer = new()", "pool.buffer"),
    ("class Pool:\n    __slots__ = ('buffer',)\npool = Pool()\npool.buffer = new()", "pool.buffer"),
    ("queue = deque([0, new()])", "queue[1]"),
    ("cache = OrderedDict(a=new())", "cache['a']"),
    ("cache = defaultdict(dict)\ncache[1][2] = new()", "cache[1][2]"),
    ("outer = Space(inner=Space(table=[new()]))", "outer.inner.table[0]"),
    ("import threading\nlocal = threading.local()\nlocal.buffer = new()", "local.buffer"),
]


@pytest.mark.parametrize(("source", "path"), PATHS)
def test_global_is_found_by_its_path(source: str, path: str) -> None:
    recording = Recording()
    module = make_module(
        source,
        new=lambda: allocate(recording),
        device=Device("cuda:0"),
        deque=deque,
        OrderedDict=OrderedDict,
        defaultdict=defaultdict,
        Space=SimpleNamespace,
    )
    recording.follow(ModuleGlobals(module))
    assert recording.allocations()[0].registered_as == path
    assert [store.key for store in recording.stores()] == [path]


@pytest.mark.parametrize(
    "source",
    [
        "__dunder = new()",
        "other.buffer = new()",
        "Foreign.buffer = new()",
        "foreign.buffer = new()",
        "logger.buffer = new()",
        "def f():\n    return new()\nx = f() and None",
    ],
)
def test_what_belongs_elsewhere_is_not_found(source: str) -> None:
    recording = Recording()
    foreign: Callable[[], None] = lambda: None  # noqa: E731  # a function of this module
    module = make_module(
        source,
        new=lambda: allocate(recording),
        other=ModuleType("other"),
        Foreign=type("Foreign", (), {"__module__": "elsewhere"}),
        foreign=foreign,
        logger=logging.getLogger("target"),
    )
    try:
        recording.follow(ModuleGlobals(module))
        assert recording.stores() == []
    finally:
        vars(module.logger).pop("buffer", None)


def held(value: object) -> list[object]:
    return [path for path, _ in find_tensors([("x", value)])]


def nested(depth: int) -> Any:
    value: Any = tensor()
    for _ in range(depth):
        value = [value]
    return value


def test_tensor_is_found_four_levels_deep_and_no_deeper() -> None:
    assert held(nested(4)) == ["x[0][0][0][0]"]
    assert held(nested(5)) == []


def test_object_that_holds_itself_is_looked_into_once() -> None:
    itself = SimpleNamespace(buffer=tensor())
    itself.itself = itself
    itself.listed = [itself, itself]
    assert held(itself) == ["x.buffer"]


def test_objects_that_hold_each_other_are_looked_into_once_each() -> None:
    # 200 to the power of 4 paths, if each were followed.
    many: list[Any] = [SimpleNamespace() for _ in range(200)]
    for each in many:
        each.all = many
    many[7].buffer = tensor()
    assert held(many) == ["x[7].buffer"]
    assert len(list(walk([("x", many)]))) == 202


def test_shortest_path_comes_first() -> None:
    kept = tensor()
    deep = {"a": {"b": kept}, "c": kept}
    assert held(deep) == ["x['c']", "x['a']['b']"]


class Odd:
    """An object with code of its own in every place where one might look."""

    def __init__(self) -> None:
        self.buffer = tensor()

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("==")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __iter__(self) -> Any:
        raise RuntimeError("iter")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    @property
    def computed(self) -> Any:
        raise RuntimeError("property")


class OddList(list[Any]):
    def __iter__(self) -> Any:
        raise RuntimeError("iter")

    def __len__(self) -> int:
        raise RuntimeError("len")


class OddDict(dict[Any, Any]):
    def items(self) -> Any:
        raise RuntimeError("items")

    def __getitem__(self, key: object) -> Any:
        raise RuntimeError("getitem")


class OddTuple(tuple[Any, ...]):
    __slots__ = ()

    def __iter__(self) -> Any:
        raise RuntimeError("iter")


class OwnDict:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # the point
        raise AttributeError("__dict__")


# Made in the test: pytest asks the values of its parameters for their names.
ODD = {
    "object": (lambda: Odd(), ["x.buffer"]),
    "list": (lambda: OddList([tensor()]), ["x[0]"]),
    "dict": (lambda: OddDict(a=tensor()), ["x['a']"]),
    "tuple": (lambda: OddTuple((tensor(),)), ["x[0]"]),
    "own dict": (lambda: OwnDict(), []),
    "bare": (lambda: object(), []),
    "number": (lambda: 3, []),
    "built-in": (lambda: len, []),
    "set": (lambda: {1, 2}, []),
    "generator": (lambda: (position for position in [1]), []),
}


@pytest.mark.parametrize("odd", ODD)
def test_code_of_the_object_is_not_run(odd: str) -> None:
    make, paths = ODD[odd]
    assert held(make()) == paths


def test_empty_slot_holds_nothing() -> None:
    class Own:
        __slots__ = ("empty", "filled")

    own = Own()
    own.filled = tensor()  # type: ignore[attr-defined]  # a slot
    assert held(own) == ["x.filled"]


def test_property_of_a_class_with_slots_is_not_run() -> None:
    class Own:
        __slots__ = ("buffer",)

        @property
        def computed(self) -> Any:
            raise RuntimeError("property")

        def method(self) -> None: ...

    own = Own()
    own.buffer = tensor()  # type: ignore[attr-defined]  # a slot
    assert [path for path, _ in walk([("x", own)])] == ["x", "x.buffer"]


def test_tensor_is_found_by_itself() -> None:
    assert isinstance(tensor(), FakeTensor)
    assert held(tensor()) == ["x"]
