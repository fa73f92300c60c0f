"""Queries on a recording and on its steps."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from pytest_sm120.errors import UsageError
from pytest_sm120.recorder.holders import WatchedObject
from pytest_sm120.recorder.recording import (
    Queries,
    Recording,
    names_match,
    plain_argument,
    plain_arguments,
)
from pytest_sm120.recorder.records import Allocation, Fill, Place, Store, TensorView
from pytest_sm120.tensors.devices import Device
from pytest_sm120.tensors.dtypes import DTYPES
from tests.recorder.samples import allocate, call, fill, launch, tensor

PLACE = Place("/repo/target.py", 3, "run")
VIEW = TensorView((2,), (1,), "uint8", "cuda:0", 7, (0, 2), 2)


@pytest.fixture
def recording() -> Recording:
    return Recording()


def test_records_come_in_call_order_with_their_position(recording: Recording) -> None:
    x = allocate(recording)
    launch(recording, "k")
    fill(recording, x)
    call(recording, "lib.f")
    recording.add_store("key", x.__sm120_view__())
    kinds = [type(record).__name__ for record in recording.records()]
    assert kinds == ["Allocation", "Launch", "Fill", "Call", "Store"]
    assert [record.order for record in recording.records()] == [0, 1, 2, 3, 4]


def test_allocations_are_filtered(recording: Recording) -> None:
    allocate(recording, "torch.zeros", "uint8", "cuda:0")
    allocate(recording, "torch.empty", "uint8", "cuda:1")
    allocate(recording, "Tensor.new_empty", "float32", "cpu")

    def calls(**filters: object) -> list[str]:
        return [record.call for record in recording.allocations(**filters)]  # type: ignore[arg-type]  # passed on

    assert len(calls()) == 3
    assert calls(call="torch.zeros") == calls(call="zeros") == ["torch.zeros"]
    assert calls(call="new_empty") == ["Tensor.new_empty"]
    assert calls(call="empty") == ["torch.empty"]
    assert calls(dtype="uint8") == calls(dtype="torch.uint8") == ["torch.zeros", "torch.empty"]
    assert calls(dtype=DTYPES["float32"]) == ["Tensor.new_empty"]
    assert calls(device="cuda:1") == calls(device=Device("cuda:1")) == ["torch.empty"]
    assert calls(dtype="uint8", device="cpu") == []


def test_dtype_that_does_not_exist_is_refused(recording: Recording) -> None:
    with pytest.raises(UsageError, match="'unit8' is not a dtype that torch has"):
        recording.allocations(dtype="unit8")


def test_launches_fills_and_calls_are_filtered(recording: Recording) -> None:
    x = allocate(recording)
    launch(recording, "one")
    launch(recording, "two")
    fill(recording, x, "zero_")
    fill(recording, x, "copy_", None)
    call(recording, "lib.deep.f")
    call(recording, "lib.deep.other_f")
    assert [record.kernel for record in recording.launches()] == ["one", "two"]
    assert [record.kernel for record in recording.launches("two")] == ["two"]
    assert [record.op for record in recording.fills()] == ["zero_", "copy_"]
    assert [record.op for record in recording.fills("copy_")] == ["copy_"]
    assert len(recording.calls()) == 2
    assert [record.name for record in recording.calls("f")] == ["lib.deep.f"]
    assert [record.name for record in recording.calls("deep.f")] == ["lib.deep.f"]
    assert recording.calls("eep.f") == []


def test_stores_are_filtered_by_key(recording: Recording) -> None:
    x, y = allocate(recording), allocate(recording)
    recording.add_store(("ws", "cuda:0"), x.__sm120_view__())
    recording.add_store("other", y.__sm120_view__())
    assert [store.view for store in recording.stores("other")] == [y.__sm120_view__()]
    key = ("ws", Device("cuda:0"))
    assert [store.view for store in recording.stores(key)] == [x.__sm120_view__()]
    assert len(recording.stores()) == 2


@pytest.mark.parametrize(
    ("name", "wanted", "matches"),
    [("a.b.c", "c", True), ("a.b.c", "b.c", True), ("a.b.c", "a.b.c", True), ("a.bc", "c", False)],
)
def test_name_matches_its_end(name: str, wanted: str, matches: bool) -> None:
    assert names_match(name, wanted) is matches


def test_first_key_wins(recording: Recording) -> None:
    x = allocate(recording)
    recording.add_store("first", x.__sm120_view__())
    recording.add_store("second", x.__sm120_view__())
    assert recording.allocations()[0].registered_as == "first"
    assert [store.key for store in recording.stores()] == ["first", "second"]


def test_allocation_that_nobody_keeps_has_no_key(recording: Recording) -> None:
    allocate(recording)
    assert recording.allocations()[0].registered_as is None


def test_store_that_is_found_carries_the_line_of_the_allocation(recording: Recording) -> None:
    kept = SimpleNamespace()
    recording.follow(WatchedObject(kept, recording.add_store))
    x = allocate(recording)
    launch(recording)
    kept.buffer = x
    allocation, launched, store = recording.records()
    assert isinstance(store, Store) and isinstance(allocation, Allocation)
    assert (store.key, store.order, store.place) == ("buffer", 2, allocation.place)
    assert allocation.registered_as == "buffer"
    assert recording.records() == [allocation, launched, store]


def test_input_of_the_test_is_no_found_store(recording: Recording) -> None:
    kept = SimpleNamespace(given=tensor())
    recording.follow(WatchedObject(kept, recording.add_store))
    assert recording.stores() == []
    assert [key for key, _ in recording.held_tensors()] == ["given"]
    assert len(recording.holders) == 1


def test_step_holds_what_happened_inside_it(recording: Recording) -> None:
    launch(recording, "before")
    with recording.step("grow") as step:
        launch(recording, "inside")
        assert [record.kernel for record in step.launches()] == ["inside"]
        launch(recording, "more")
    launch(recording, "after")
    assert step.name == "grow"
    assert [record.kernel for record in step.launches()] == ["inside", "more"]
    assert [record.order for record in step.records()] == [1, 2]


def test_steps_are_nested(recording: Recording) -> None:
    with recording.step("outer") as outer:
        launch(recording, "a")
        with recording.step("inner") as inner:
            launch(recording, "b")
        launch(recording, "c")
    assert [record.kernel for record in outer.launches()] == ["a", "b", "c"]
    assert [record.kernel for record in inner.launches()] == ["b"]


def test_step_ends_when_the_block_raises(recording: Recording) -> None:
    with pytest.raises(KeyError), recording.step("broken") as step:
        launch(recording, "inside")
        raise KeyError
    launch(recording, "after")
    assert len(step.records()) == 1


def test_store_found_after_a_step_does_not_belong_to_it(recording: Recording) -> None:
    kept = SimpleNamespace()
    recording.follow(WatchedObject(kept, recording.add_store))
    with recording.step("first") as first:
        kept.a = allocate(recording)
    with recording.step("second") as second:
        kept.b = allocate(recording)
    assert [store.key for store in first.stores()] == ["a"]
    assert [store.key for store in second.stores()] == ["b"]
    assert second.allocations()[0].registered_as == "b"


def test_records_of_several_threads_are_all_kept(recording: Recording) -> None:
    kept = SimpleNamespace(buffers=[])
    recording.follow(WatchedObject(kept, recording.add_store))

    def work() -> None:
        for _ in range(50):
            kept.buffers.append(allocate(recording))
            recording.stores()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(recording.allocations()) == len(recording.stores()) == 200
    assert [record.order for record in recording.records()] == list(range(400))


def test_arguments_become_plain_data() -> None:
    x = tensor()
    given = {"x": x, "list": [x, (DTYPES["uint8"], Device("cuda:1"))], "n": 3, "none": None}
    assert plain_arguments(given) == {
        "x": x.__sm120_view__(),
        "list": [x.__sm120_view__(), ("uint8", "cuda:1")],
        "n": 3,
        "none": None,
    }


def test_subclass_of_tuple_stays_as_it_is() -> None:
    class Size(tuple[int, ...]):
        pass

    assert plain_argument(Size((1, 2))) == (1, 2)


def test_queries_alone_hold_no_records() -> None:
    with pytest.raises(NotImplementedError):
        Queries().records()


def test_records_are_compared_by_kind_and_value() -> None:
    zero, same = Fill(PLACE, 0, "zero_", VIEW, 0), Fill(PLACE, 0, "zero_", VIEW, 0)
    assert zero == same and hash(zero) == hash(same)
    assert zero != Fill(PLACE, 0, "fill_", VIEW, 0)
    assert zero != Store(PLACE, 0, "zero_", VIEW)
    assert zero != "zero_"


def test_recording_shows_how_much_it_holds(recording: Recording) -> None:
    assert repr(recording) == "<recording: empty>"
    allocate(recording)
    launch(recording)
    launch(recording)
    assert repr(recording) == "<recording: 1 of allocation, 2 of launch>"
    with recording.step("grow") as step:
        launch(recording)
    assert repr(step) == "<step: 1 of launch>"


def test_record_shows_its_fields() -> None:
    store = Store(PLACE, 5, "ws", VIEW)
    assert repr(store) == (
        "Store(place=Place(path='/repo/target.py', line=3, function='run'), order=5, key='ws', "
        f"view={VIEW!r})"
    )
