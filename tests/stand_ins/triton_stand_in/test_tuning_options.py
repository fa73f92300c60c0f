"""What autotune and jit are told: names and options that are there, and which configs are left."""

from __future__ import annotations

import pytest

from tests.stand_ins.bench import Bench

HEAD = """
import triton
import triton.language as tl
seen = []
@triton.jit
def plain(x, n, B: tl.constexpr, EVEN: tl.constexpr = None):
    pass
"""
PRUNED = (
    HEAD
    + """
def hook(args):
    seen.append("hook")
def prune(configs, named, **kwargs):
    seen.append((named, sorted(kwargs)))
    return configs[1:]
tuned = triton.autotune(
    [triton.Config({"B": size}, pre_hook=hook) for size in (64, 32, 16)], key=["n"],
    prune_configs_by={"early_config_prune": prune},
)(plain)
"""
)


def test_configs_are_pruned_once_for_each_key_and_dtype(bench: Bench) -> None:
    module = bench.load(PRUNED)
    x, half = bench.tensor(4), bench.tensor(4, dtype="float16")
    for first, n in ((x, 8), (x, 8), (x, 9), (half, 9), (half, 9), (x, 8)):
        module.tuned[(1,)](first, n)
    told = [call for call in module.seen if call != "hook"]
    assert [named for named, _ in told] == [
        {"x": x, "n": 8},
        {"x": x, "n": 9},
        {"x": half, "n": 9},
    ]
    assert [launch.args["B"] for launch in bench.recording.launches()] == [32] * 6
    assert list(module.tuned.cache) == [
        (8, "torch.float32"),
        (9, "torch.float32"),
        (9, "torch.float16"),
    ]


def test_pruning_is_given_the_positional_arguments_apart_from_the_others(bench: Bench) -> None:
    module = bench.load(PRUNED)
    module.tuned[(1,)](5, n=8, EVEN=True)
    assert module.seen == [({"x": 5}, ["EVEN", "grid", "n", "warmup"]), "hook"]


def test_warm_up_checks_each_config_that_is_left_and_runs_no_hook(bench: Bench) -> None:
    module = bench.load(PRUNED)
    module.tuned.warmup(5, 8, grid=(1,))
    assert module.seen == [({"x": 5, "n": 8}, ["grid"])]
    with pytest.raises(ValueError, match="the launch of plain sets B, and so do"):
        module.tuned.warmup(5, 8, B=8, grid=(1,))
    assert not hasattr(module.tuned, "best_config")
    assert bench.recording.records() == []


@pytest.mark.parametrize("option", ["key", "reset_to_zero", "restore_value"])
def test_name_that_is_no_argument_is_refused(bench: Bench, option: str) -> None:
    options = {"key": [], option: ["x", "m", "y"]}
    given = ", ".join(f"{name}={names!r}" for name, names in options.items())
    module = bench.load(HEAD + f"def make(): return triton.autotune([], {given})(plain)\n")
    with pytest.raises(ValueError) as raised:
        module.make()
    assert str(raised.value) == (
        f"target.py:8: {option} of the autotuned kernel plain names m, y. Its arguments are x, n, "
        "B, EVEN. Correct the name, or leave it out."
    )


def test_names_are_not_held_against_what_is_not_there(bench: Bench) -> None:
    module = bench.load(HEAD + "import lib\ntuned = triton.autotune([], key=['m'])(lib.kernel)\n")
    assert module.tuned.keys == ["m"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("triton.jit(fast=True)", "unexpected keyword argument 'fast'"),
        ("triton.autotune([], [], nearest=1)", "unexpected keyword argument 'nearest'"),
        ("triton.autotune([])", "missing 1 required positional argument: 'key'"),
        ("triton.Config({}, num_waves=1)", "unexpected keyword argument 'num_waves'"),
    ],
)
def test_option_that_triton_does_not_have_is_refused(bench: Bench, text: str, message: str) -> None:
    module = bench.load(HEAD + f"def make(): return {text}\n")
    with pytest.raises(TypeError, match=message):
        module.make()
