"""Drives the good target with random sizes and devices against a model, then each of its twins."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.contracts.fake_targets import Options, SplitScratch

DEVICES = ["cuda:0", "cuda:1"]


class Deviation(Exception):
    """The target did not do what the model says."""


def expect(holds, what):
    if not holds:
        raise Deviation(what)


class OrderOfCalls(RuleBasedStateMachine):
    """Allocates when nothing is kept or more is needed than ever before, else not."""

    fields: Options = {}

    def __init__(self):
        super().__init__()
        self.target = SplitScratch(**self.fields)
        self.rows_kept = {}

    @rule(size=st.integers(1, 9), device=st.sampled_from(DEVICES))
    def call(self, size, device):
        with self.target.bench.recording.step("call") as step:
            self.target(size, device)
        made = step.allocations()
        needed = size * 4
        grows = needed > self.rows_kept.get(device, 0)
        expect(len(made) == grows, "allocates exactly when more is needed")
        for each in made:
            self.judge_allocation(each, needed, device)
            self.rows_kept[device] = needed

    def judge_allocation(self, made, rows, device):
        expect(made.fill == 0, "allocates with zeros")
        expect(made.shape == (rows, 16) and made.dtype == "uint8", "allocates what is needed")
        expect(made.device == device, "allocates on the device of the call")
        expect(made.registered_as == f"split:{device}", "keeps it under its key")


SETTINGS = settings(
    max_examples=100,
    stateful_step_count=8,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    verbosity=Verbosity.quiet,
    suppress_health_check=list(HealthCheck),
)
TWINS = {
    "empty": {"call": "torch.empty", "fill": None},
    "another value": {"call": "torch.full", "fill": 7},
    "empty on growth": {"growth": ("torch.empty", None)},
    "no guard": {"guard": lambda has, needs: False},
    "guard with !=": {"guard": int.__ne__},
    "guard with <=": {"guard": int.__le__},
    "always allocates": {"guard": lambda has, needs: True},
    "no device in the key": {"key": lambda device: "split"},
    "first device in the key": {
        "key": lambda device: "split:cuda:0",
        "replaced_when_device_differs": True,
    },
    "fixed device": {"device": "cuda:0"},
    "not stored": {"stored": False},
    "other key": {"key": "page_split:{}".format},
    "wrong dtype": {"dtype": "int8"},
    "wrong shape": {"row": lambda rows: 32},
    "wrong shape on growth": {"row": lambda rows: 16 if rows <= 16 else 32},
}


def test_good_target_follows_the_model_in_any_order():
    run_state_machine_as_test(OrderOfCalls, settings=SETTINGS)


@pytest.mark.parametrize("name", TWINS)
def test_twin_leaves_the_model_in_some_order(name):
    twin = type("Twin", (OrderOfCalls,), {"fields": TWINS[name]})
    with pytest.raises(Deviation):
        run_state_machine_as_test(twin, settings=SETTINGS)
