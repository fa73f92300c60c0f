"""Operators called through torch.ops: recorded, bound, and run where their function is known."""

from __future__ import annotations

import pytest

from pytest_sm120.recorder.records import Call
from tests.stand_ins.bench import Bench


def only_call(bench: Bench, name: str | None = None) -> Call:
    [call] = bench.recording.calls(name)
    return call


def test_operator_of_an_extension_is_recorded_by_its_name(bench: Bench) -> None:
    module = bench.load("import torch\ndef run(x): torch.ops.ns.add.default(x, 1)\n")
    module.run(2)
    call = only_call(bench, "add")
    assert (call.name, call.args, call.bound) == ("torch.ops.ns.add", (2, 1), None)


@pytest.mark.parametrize(
    "declaration",
    [
        "torch.library.Library('ns', 'DEF').define("
        "'add(Tensor(a!) self, int[] sizes=[1, 2], *, float alpha=1) -> Tensor(a!)')",
        "torch.library.define('ns::add', '(Tensor(a!) self, int[2] sizes, *, float alpha) -> ()')",
        "torch.library.define('ns::add', schema='(Tensor self, int[] sizes, float alpha) -> ()')",
    ],
)
def test_operator_with_a_schema_is_bound_by_it(bench: Bench, declaration: str) -> None:
    module = bench.load(
        f"import torch\n{declaration}\n"
        "def run(*args, **named): return torch.ops.ns.add(*args, **named)\n"
    )
    module.run(1, [2], alpha=3)
    assert only_call(bench).bound == {"self": 1, "sizes": [2], "alpha": 3}
    module.run(1, 2, 3, 4)
    assert bench.recording.calls()[-1].bound is None


def test_registered_operator_is_recorded_and_runs(bench: Bench) -> None:
    module = bench.load(
        """
        import torch

        @torch.library.custom_op("ns::double", mutates_args=())
        def double(x: torch.Tensor, times: int = 2) -> torch.Tensor:
            return torch.empty_like(x)

        at_import = torch.ops.ns.double(torch.zeros(1))

        def run(x):
            return torch.ops.ns.double.default(x)
        """
    )
    assert bench.recording.calls() == []
    x = bench.tensor(3)
    assert tuple(module.run(x).shape) == (3,)
    call = only_call(bench, "ns.double")
    assert (call.name, call.bound) == (
        "torch.ops.ns.double",
        {"x": x.__sm120_view__(), "times": 2},
    )
    operator = module.torch.ops.ns.double
    assert operator == module.torch.ops.ns.double.default != 1
    assert len({operator, operator.default}) == 1
    assert repr(operator) == "<operator torch.ops.ns.double>"
    assert not hasattr(operator, "_schema")


def test_contents_survive_the_call_of_an_operator_that_runs(bench: Bench) -> None:
    module = bench.load(
        """
        import torch

        @torch.library.custom_op("ns::look", mutates_args=())
        def look(x: torch.Tensor) -> None: pass

        def run():
            x = torch.zeros(2)
            torch.ops.ns.look(x)
            return x.tolist()
        """
    )
    assert module.run() == [0.0, 0.0]


@pytest.mark.parametrize(
    "registration",
    [
        "lib.register(op_name='double', op_func=body, fake_impl=fake)",
        "lib.register('own::double', mutates_args=['x'])(body)",
        "lib.register('double')(body); lib.register_fake('double')(fake)",
        "double = lib.register(body, op_name='double')",
    ],
)
def test_operator_that_a_ghost_registered_runs(bench: Bench, registration: str) -> None:
    module = bench.load(
        f"""
        import lib, torch

        def body(x, times=2):
            return torch.empty(times, device="cuda")

        def fake(x, times=2):
            raise AssertionError("never runs")

        {registration}

        def run(x):
            return torch.ops.own.double(x)
        """
    )
    assert tuple(module.run(1).shape) == (2,)
    assert only_call(bench).bound == {"x": 1, "times": 2}


def test_operator_that_a_ghost_registered_under_the_function_s_name_runs(bench: Bench) -> None:
    module = bench.load(
        """
        import lib, torch

        class Holder:
            @lib.register
            def double(self): raise AssertionError("another one")

        @lib.register
        def double(x):
            return 2 * x

        def run(x):
            return torch.ops.own.double(x), torch.ops.own.other(x)
        """
    )
    assert module.run(3)[0] == 6
    assert [call.name for call in bench.recording.calls()] == [
        "torch.ops.own.double",
        "torch.ops.own.other",
    ]


def test_operator_that_the_code_holds_itself_runs_without_a_record(bench: Bench) -> None:
    module = bench.load(
        """
        import torch

        @torch.library.custom_op("ns::double", mutates_args=())
        def double(x: int) -> int:
            return 2 * x
        """
    )
    assert module.double(2) == module.double.default(2) == 4
    assert bench.recording.calls() == []
