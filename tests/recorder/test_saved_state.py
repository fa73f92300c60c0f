"""Saving what holders hold, and putting it back."""

from __future__ import annotations

import copy
import textwrap
from collections import OrderedDict, deque
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pytest_sm120.recorder.holders import ModuleGlobals, Registry, WatchedObject
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.saved_state import save_state
from tests.recorder.samples import allocate, tensor


def make_module(source: str) -> Any:
    module = ModuleType("target")
    exec(textwrap.dedent(source), vars(module))
    return module


CHANGES = {
    "global": ("x = 1", "x = 2"),
    "new global": ("x = 1", "y = 2"),
    "deleted global": ("x = 1", "del x"),
    "dict": ("d = {1: 2, 3: 4}", "d.clear(); d[3] = 5; d[6] = 7"),
    "nested dict": ("d = {1: {2: [3]}}", "d[1][2].append(4); d[1][5] = 6"),
    "rebound dict": ("d = {1: 2}", "d[1] = 3; d = {}"),
    "list": ("a = [1, [2]]", "a[1].clear(); a.pop(0)"),
    "deque": ("from collections import deque\na = deque([1, 2])", "a.rotate(1); a.append(3)"),
    "set": ("a = {1, 2}", "a.remove(1); a.add(3)"),
    "ordered": (
        "from collections import OrderedDict\na = OrderedDict(b=1, c=2)",
        "a.move_to_end('b'); a['d'] = 1",
    ),
    "class": ("class A:\n    x = 1\n    y = {}", "A.x = 2; A.y[1] = 2; A.z = 3"),
    "class attribute deleted": ("class A:\n    x = 1", "del A.x"),
    "function": ("def f(): pass\nf.cache = {}", "f.cache[1] = 2; f.other = 3"),
    "function without attributes": ("def f(): pass", "f.cache = 1"),
    "object": (
        "class A: pass\na = A()\na.x = 1\na.inner = A()",
        "a.x = 2; a.y = 3; a.inner.z = 4",
    ),
    "slots": (
        "class A:\n    __slots__ = ('x', 'y', 'z')\na = A()\na.x = 1\na.y = [2]",
        "a.x = 2; a.y.append(3); a.z = 4",
    ),
    "deleted slot": ("class A:\n    __slots__ = ('x',)\na = A()\na.x = 1", "del a.x"),
    "cached function": (
        "import functools\n@functools.cache\ndef f(x): return [x]\nf(1)",
        "f(2)",
    ),
    "nothing": ("class A: pass\nx = [A(), (1, 2), None, len]", ""),
}


def seen(value: Any, depth: int = 0) -> Any:
    """A value as plain data, attributes included, with the identity of its containers."""
    if depth > 6 or isinstance(value, ModuleType):
        return None
    if isinstance(value, dict):
        shown = [item for item in value.items() if not str(item[0]).startswith("__")]
        return id(value), [(key, seen(inner, depth + 1)) for key, inner in shown]
    if isinstance(value, (list, tuple, deque)):
        return id(value), [seen(inner, depth + 1) for inner in value]
    if isinstance(value, set):
        return id(value), sorted(value)
    slots = {
        name: seen(getattr(value, name), depth + 1)
        for name in getattr(type(value), "__slots__", ())
        if hasattr(value, name)
    }
    attributes = [
        (name, seen(inner, depth + 1))
        for name, inner in getattr(value, "__dict__", {}).items()
        if not name.startswith("__")
    ]
    return id(value) if depth else 0, slots, attributes


@pytest.mark.parametrize("change", CHANGES)
def test_module_is_put_back(change: str) -> None:
    before, code = CHANGES[change]
    module = make_module(before)
    restore = save_state([ModuleGlobals(module)])
    expected = seen(vars(module))
    exec(code, vars(module))
    if code and change != "cached function":
        assert seen(vars(module)) != expected
    restore()
    assert seen(vars(module)) == expected


def test_function_with_a_cache_forgets_what_it_returned_since() -> None:
    module = make_module("import functools\n@functools.cache\ndef f(x): return [x]\n")
    kept = module.f(1)
    restore = save_state([ModuleGlobals(module)])
    restore()
    assert module.f(1) is kept
    module.f(2)
    restore()
    assert module.f.cache_info().currsize == 0


def test_kernel_keeps_what_was_worked_out_from_its_text() -> None:
    module = make_module("class Kernel:\n    __sm120_kernel__ = True\nkernel = Kernel()\n")
    restore = save_state([ModuleGlobals(module)])
    module.kernel.worked_out = 1
    restore()
    assert module.kernel.worked_out == 1


def test_registry_is_put_back_without_a_report() -> None:
    recording = Recording()
    registry = Registry(recording.add_store)
    recording.follow(registry)
    first = registry["first"] = allocate(recording)
    registry["inner"] = {}
    inner = registry["inner"]
    restore = save_state(recording.holders)
    registry["first"] = allocate(recording)
    registry["second"] = allocate(recording)
    registry["inner"]["third"] = allocate(recording)
    before = len(recording.records())
    restore()
    assert dict(registry) == {"first": first, "inner": {}}
    assert registry["inner"] is inner
    assert len(recording.records()) == before


@pytest.mark.parametrize("kind", [SimpleNamespace, type("Own", (), {})])
def test_watched_object_is_put_back_without_a_report(kind: Any) -> None:
    recording, watched = Recording(), kind()
    watching = WatchedObject(watched, recording.add_store)
    recording.follow(watching)
    watched.a = tensor()
    watched.cache = {}
    kept = dict(vars(watched))
    restore = save_state(recording.holders)
    watched.a = watched.b = tensor()
    watched.cache["x"] = tensor()
    before = len(recording.records())
    restore()
    watching.release()
    assert vars(watched) == kept and watched.cache == {}
    assert len(recording.records()) == before


def test_state_is_put_back_as_often_as_wanted() -> None:
    module = make_module("d = {}")
    restore = save_state([ModuleGlobals(module)])
    for value in range(3):
        module.d[value] = value
        restore()
        assert module.d == {}


def test_containers_that_hold_themselves_are_put_back() -> None:
    module = make_module("a = []\na.append(a)\nb = {}\nb[0] = b\n")
    restore = save_state([ModuleGlobals(module)])
    module.a.append(1)
    module.b[1] = 1
    restore()
    assert len(module.a) == len(module.b) == 1
    assert module.a[0] is module.a


KEYS = st.integers(0, 4)
LEAVES = st.integers(0, 3)


class SavedState(RuleBasedStateMachine):
    """Whatever is done to a registry's nested containers, restoring gives the saved items back."""

    @initialize()
    def start(self) -> None:
        self.recording = Recording()
        self.registry = Registry(self.recording.add_store)
        self.recording.follow(self.registry)
        self.save()

    @rule()
    def save(self) -> None:
        self.restore = save_state(self.recording.holders)
        self.saved = copy.deepcopy(dict(self.registry))
        self.order = list(self.registry)
        self.objects = {key: id(value) for key, value in self.registry.items()}

    @rule(key=KEYS, value=LEAVES)
    def set_leaf(self, key: int, value: int) -> None:
        self.registry[key] = value

    @rule(key=KEYS, kind=st.sampled_from([dict, list, OrderedDict, deque, set]))
    def set_container(self, key: int, kind: Any) -> None:
        self.registry[key] = kind()

    @rule(key=KEYS, inner=KEYS, value=LEAVES)
    def grow(self, key: int, inner: int, value: int) -> None:
        found = self.registry.get(key)
        if isinstance(found, dict):
            found[inner] = value
        elif isinstance(found, set):
            found.add(value)
        elif isinstance(found, (list, deque)):
            found.append(value)

    @rule(key=KEYS)
    def shrink(self, key: int) -> None:
        found = self.registry.get(key)
        if isinstance(found, (dict, list, deque, set)):
            found.clear()
        else:
            self.registry.pop(key, None)

    @rule()
    def put_back(self) -> None:
        self.restore()
        assert dict(self.registry) == self.saved
        assert list(self.registry) == self.order
        assert {key: id(value) for key, value in self.registry.items()} == self.objects

    @invariant()
    def nothing_is_recorded(self) -> None:
        if hasattr(self, "recording"):
            assert self.recording.records() == []


TestSavedState = SavedState.TestCase
TestSavedState.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
