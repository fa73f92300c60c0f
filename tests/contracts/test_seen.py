"""The buffer is found where the target keeps it, and what sets or takes it is followed."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType, SimpleNamespace

import pytest

from pytest_sm120.contracts import check
from pytest_sm120.recorder.holders import ModuleGlobals, WatchedObject
from tests.contracts import fake_targets
from tests.contracts.fake_targets import Driven, FakeBench, FakeTensor, Options, SplitScratch
from tests.contracts.test_clauses import names_of_broken

# The targets here are not about inference mode.
CONTRACT = replace(fake_targets.CONTRACT, allow_inference=True)
CLEARED = replace(CONTRACT, cleared_each_call=True)
ONE: Options = {"sizes": [4], "devices": ["cuda:0"]}


class Keeper:
    """A target of one line: allocates 4 rows of 16 bytes once, and lets a function use them."""

    def __init__(self, use, keep=None, call="torch.empty", fill=None):
        self.bench = FakeBench()
        self.buffers = self.bench.registry()
        self.use, self.call, self.fill = use, call, fill
        self.keep = keep or (lambda made, device: {f"split:{device}": made})

    def __call__(self, size, device):
        if not self.buffers:
            made = self.bench.allocate(self.call, (16, 16), "uint8", device, self.fill)
            self.buffers.update(self.keep(made, device))
            self.made = made
        self.use(self.bench, self.made)


def broken(use, contract=CONTRACT, **fields):
    return names_of_broken(Keeper(use, **fields), contract, **ONE)


def seen_as(tensor, **changes):
    return FakeTensor(tensor.view._replace(**changes))


def two_halves(bench, made):
    bench.fill(made.rows(16, 8))
    bench.fill(made.rows(8))


def overlapping_parts(bench, made):
    bench.fill(made.rows(10))
    bench.fill(made.rows(4, 2))
    bench.fill(made.rows(16, 6))


def hole(bench, made):
    bench.fill(made.rows(7))
    bench.fill(made.rows(16, 8))


def every_second_column(bench, made):
    bench.fill(seen_as(made, shape=(16, 8), strides=(16, 2)))


def after_the_launch(bench, made):
    bench.launch("_kernel", dst=made)
    bench.fill(made)


def after_a_call_with_a_list(bench, made):
    bench.call("flashinfer.mla", [1, (made.view,)])
    bench.fill(made)


def after_a_call_with_a_dict(bench, made):
    bench.call("flashinfer.mla", buffers={"out": made.view})
    bench.fill(made)


def with_another_launch_first(bench, made):
    bench.launch("_kernel", dst=seen_as(made, storage=-1), n=3)
    bench.fill(made)


def other_storage(bench, made):
    bench.fill(seen_as(made, storage=-1))


def unknown_value(bench, made):
    bench.fill(made, value=None)


ESTABLISHES = [two_halves, overlapping_parts, with_another_launch_first]
DOES_NOT = [
    hole,
    every_second_column,
    after_the_launch,
    after_a_call_with_a_list,
    after_a_call_with_a_dict,
    other_storage,
    unknown_value,
]


@pytest.mark.parametrize("use", ESTABLISHES)
def test_fills_that_cover_the_buffer_in_time_establish_its_value(use):
    assert broken(use) == []


@pytest.mark.parametrize("use", DOES_NOT)
def test_other_fills_do_not_establish_its_value(use):
    assert broken(use) == ["initial value"]


def as_int32(value):
    def use(bench, made):
        bench.fill(seen_as(made, shape=(64,), strides=(1,), dtype="int32"), value=value)

    return use


def test_zero_through_a_view_of_another_dtype_establishes_zeros():
    assert broken(as_int32(0)) == []


def test_other_value_through_a_view_of_another_dtype_establishes_nothing():
    assert broken(as_int32(7), replace(CONTRACT, init=("full", 7))) == ["initial value"]


def test_clearing_needs_to_cover_only_what_the_launch_is_given():
    def use(bench, made):
        bench.fill(made.rows(4))
        bench.launch("_kernel", dst=made.rows(4))

    assert broken(use, replace(CLEARED, init="empty")) == []


def test_clearing_covers_all_that_one_launch_is_given():
    def use(bench, made):
        bench.fill(made.rows(4))
        bench.launch("_kernel", src=made.rows(4), dst=made.rows(16, 12))

    assert broken(use, replace(CLEARED, init="empty")) == ["cleared on every call"]


def test_clearing_by_a_call_instead_of_a_launch_names_the_call():
    target = Keeper(lambda bench, made: bench.call("flashinfer.mla", made.view))
    contract = replace(CLEARED, init="empty")
    with pytest.raises(AssertionError, match="call calls flashinfer.mla with bytes 0 to 256"):
        check(contract, target, bench=target.bench, **ONE)


def test_clearing_is_skipped_when_no_launch_takes_the_buffer():
    target = Keeper(lambda bench, made: None, call="torch.zeros", fill=0)
    result = check(CLEARED, target, bench=target.bench, **ONE)
    [clause] = [each for each in result.clauses if each.name == "cleared on every call"]
    assert clause.reason == "no launch and no call was given the buffer"


def skipped(target, contract=CONTRACT, **options):
    result = check(contract, target, bench=target.bench, devices=["cuda:0"], **options)
    return {each.name: each.reason for each in result.clauses if each.outcome == "skipped"}


def test_growth_is_skipped_when_the_larger_call_needs_no_more():
    target = Keeper(lambda bench, made: None, call="torch.zeros", fill=0)
    contract = replace(CONTRACT, shape=(16, 16))
    reasons = skipped(target, contract)
    assert reasons["growth re-allocates"] == (
        "a call of size 8 needs no more than is there; pass larger sizes"
    )
    assert reasons["growth dtype"] == "the larger call allocated no other buffer"


def test_growth_is_skipped_when_the_contract_names_no_shape():
    target = Keeper(lambda bench, made: None, call="torch.zeros", fill=0)
    reasons = skipped(target, replace(CONTRACT, shape=None))
    assert reasons["growth re-allocates"] == (
        "the contract names no shape, so what a larger call needs is not known"
    )
    assert reasons["shape"] == "the contract names no shape"


def use_nothing(bench, made):
    return None


def test_buffer_is_found_inside_a_tuple_by_its_shape():
    def keep(made, device):
        mask = target.bench.allocate("torch.empty", (4,), "int8", device)
        counts = target.bench.allocate("torch.empty", (4,), "uint8", device)
        return {f"split:{device}": (counts, made, mask)}

    target = Keeper(use_nothing, keep, "torch.zeros", 0)
    assert names_of_broken(target, CONTRACT, **ONE) == []


def test_exact_key_goes_before_the_same_name_inside_another():
    def keep(made, device):
        other = target.bench.allocate("torch.empty", (16, 16), "uint8", device)
        return {f"split:{device}": made, "backup": {f"split:{device}": other}}

    target = Keeper(use_nothing, keep, "torch.zeros", 0)
    assert names_of_broken(target, CONTRACT, **ONE) == []


def test_stand_in_for_the_key_may_be_a_tuple():
    target = Keeper(use_nothing, lambda made, device: {("ws", device): made}, "torch.zeros", 0)
    assert names_of_broken(target, CONTRACT, **ONE) == ["registered under its key"]


def test_stand_in_for_the_key_follows_the_device():
    target = Keeper(use_nothing, call="torch.zeros", fill=0)

    def drive(size, device):
        if ("ws", device, 1) not in target.buffers:
            made = target.bench.allocate("torch.zeros", (16, 16), "uint8", device, 0)
            target.buffers["ws", device, 1] = made

    driven = Driven(target.bench, drive)
    assert names_of_broken(driven, CONTRACT, sizes=[4]) == ["registered under its key"]


def test_buffer_stored_under_a_second_key_is_found_there():
    keep = lambda made, device: {"other": made, f"split:{device}": made}  # noqa: E731  # shorter than a function
    assert names_of_broken(Keeper(use_nothing, keep, "torch.zeros", 0), CONTRACT, **ONE) == []


def test_second_device_whose_buffer_has_a_key_of_its_own_kind_breaks_the_key():
    target = Keeper(use_nothing)

    def drive(size, device):
        key = "split:cuda:0" if device == "cuda:0" else "elsewhere"
        if key not in target.buffers:
            made = target.bench.allocate("torch.zeros", (16, 16), "uint8", device, 0)
            target.buffers[key] = made

    driven = Driven(target.bench, drive)
    assert names_of_broken(driven, CONTRACT, sizes=[4]) == ["registered under its key"]


def test_clearing_is_skipped_when_the_buffer_is_not_found():
    target = SplitScratch(stored=False)
    assert names_of_broken(target, CLEARED) == ["registered under its key"]


def test_clearing_is_judged_on_the_devices_that_have_a_buffer():
    target = SplitScratch(key=lambda device: "split:cuda:0", cleared=lambda rows: rows)
    assert names_of_broken(target, CLEARED) == ["one per device"]


class Owner:
    """Keeps its buffer in an attribute."""

    workspace: FakeTensor | None = None


def test_buffer_in_a_watched_attribute_is_found():
    bench, owner = FakeBench(), Owner()
    bench.recording.follow(WatchedObject(owner, bench.recording.add_store))

    def drive(size, device):
        if owner.workspace is None:
            owner.workspace = bench.allocate("torch.empty", (16, 16), device=device)

    contract = replace(CONTRACT, key="workspace", init="empty", dtype="uint8", shape=(16, 16))
    assert not check(contract, drive, bench=bench, devices=["cuda:0"]).findings


@pytest.mark.parametrize(
    "key",
    [
        "_cache[('ws', '{device}')]",
        lambda device: ("ws", device),
        "_state.cache[('ws', '{device}')]",
    ],
)
def test_buffer_in_a_module_global_is_found(key):
    bench, module = FakeBench(), ModuleType("target")
    state, kept = SimpleNamespace(cache={}), dict[object, object]()
    vars(module).update(_cache=kept, _state=state)
    cache = state.cache if str(key).startswith("_state") else kept
    bench.recording.follow(ModuleGlobals(module))

    def drive(size, device):
        if ("ws", device) not in cache:
            cache["ws", device] = bench.allocate("torch.zeros", (16, 16), device=device, fill=0)

    contract = replace(CONTRACT, key=key, init="zeros", dtype="uint8", shape=(16, 16))
    result = check(contract, drive, bench=bench)
    assert [each.outcome for each in result.clauses if each.name == "one per device"] == ["held"]
    assert cache == {}
