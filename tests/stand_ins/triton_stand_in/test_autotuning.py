"""Config, autotune and heuristics."""

from __future__ import annotations

import pytest

from tests.stand_ins.bench import Bench

HEAD = """
import triton
import triton.language as tl
seen = []
def even(args):
    seen.append(dict(args))
    return args["n"] % args["B"] == 0
@triton.jit
def plain(x, n, B: tl.constexpr, EVEN: tl.constexpr = None, HALF: tl.constexpr = None):
    pass
"""


def test_config_has_the_defaults_of_triton(bench: Bench) -> None:
    config = bench.load(HEAD).triton.Config({"B": 8})
    assert config.all_kwargs() == {"B": 8, "num_warps": 4, "num_ctas": 1, "num_stages": 3}
    assert (config.pre_hook, config.maxnreg, config.ir_override) == (None, None, None)


def test_config_keeps_what_is_set(bench: Bench) -> None:
    config = bench.load(HEAD).triton.Config({}, num_warps=8, num_stages=1, maxnreg=128)
    assert config.all_kwargs() == {
        "num_warps": 8,
        "num_ctas": 1,
        "num_stages": 1,
        "maxnreg": 128,
    }


@pytest.mark.parametrize(
    "text",
    [
        "@triton.autotune(configs=[triton.Config({'B': 16}, num_warps=2), triton.Config({})],"
        " key=['n'], restore_value=['x'], use_cuda_graph=True)\n@triton.jit\n"
        "def tuned(x, n, B: tl.constexpr): pass\n",
        "tuned = triton.autotune([triton.Config({'B': 16}, num_warps=2)], ['n'])(plain)\n",
    ],
    ids=["decorator", "call"],
)
def test_first_config_is_launched(bench: Bench, text: str) -> None:
    module = bench.load(HEAD + text)
    module.tuned[lambda meta: (meta["B"],)](1, 64)
    [launch] = bench.recording.launches()
    assert launch.grid == (16,)
    assert (launch.args["B"], launch.num_warps, launch.num_stages) == (16, 2, 3)


def test_autotune_without_configs_launches_with_the_defaults(bench: Bench) -> None:
    module = bench.load(HEAD + "tuned = triton.autotune([], key=[])(plain)\n")
    module.tuned[(1,)](1, 64, B=8)
    assert bench.recording.launches()[0].num_warps == 4


def test_hook_of_the_config_runs_before_the_launch(bench: Bench) -> None:
    module = bench.load(
        HEAD
        + """
hooked = []
def hook(args):
    hooked.append(dict(args))
    args["x"].zero_()
tuned = triton.autotune([triton.Config({"B": 16}, pre_hook=hook)], key=[])(plain)
"""
    )
    x = bench.tensor(4)
    module.tuned[(1,)](x, n=64)
    assert module.hooked == [
        {
            **{"x": x, "n": 64, "grid": (1,), "warmup": False},
            **{"B": 16, "num_warps": 4, "num_ctas": 1, "num_stages": 3},
        }
    ]
    fill, launch = bench.recording.records()
    assert (fill.order, launch.order) == (0, 1)


def test_configs_that_are_pruned_are_not_launched(bench: Bench) -> None:
    module = bench.load(
        HEAD
        + """
def prune(configs, named, **kwargs):
    return [config for config in configs if config.kwargs["B"] <= named["n"] and kwargs["EVEN"]]
tuned = triton.autotune(
    [triton.Config({"B": 64}), triton.Config({"B": 32})], key=["n"],
    prune_configs_by={"early_config_prune": prune},
)(plain)
"""
    )
    module.tuned[(1,)](1, 32, EVEN=1)
    assert bench.recording.launches()[0].args["B"] == 32
    with pytest.raises(ValueError) as raised:
        module.tuned[(1,)](1, 8, EVEN=1)
    assert str(raised.value).partition(": ")[2] == (
        "prune_configs_by of plain dropped every config. At least one must be left."
    )


def test_only_config_is_not_pruned(bench: Bench) -> None:
    module = bench.load(
        HEAD
        + "tuned = triton.autotune([triton.Config({'B': 64})], key=[], "
        + "prune_configs_by={'early_config_prune': lambda *a, **k: []})(plain)\n"
    )
    module.tuned[(1,)](1, 8)
    assert bench.recording.launches()[0].args["B"] == 64


def test_launch_that_sets_what_is_tuned_is_refused(bench: Bench) -> None:
    module = bench.load(
        HEAD
        + "tuned = triton.autotune([triton.Config({'B': 64})], key=[])(plain)\n"
        + "def run(): tuned[(1,)](1, 8, B=32, num_warps=8)\n"
    )
    with pytest.raises(ValueError) as raised:
        module.run()
    assert str(raised.value) == (
        "target.py:12: the launch of plain sets B, num_warps, and so do its autotune configs. "
        "Leave to the configs what is tuned."
    )


def test_each_heuristic_sees_the_earlier_ones(bench: Bench) -> None:
    module = bench.load(
        HEAD + "chosen = triton.heuristics({'B': lambda a: a['n'] // 2, 'EVEN': even})(plain)\n"
    )
    module.chosen[(4,)](1, 64)
    [launch] = bench.recording.launches()
    assert (launch.args["B"], launch.args["EVEN"]) == (32, True)
    assert module.seen == [{"x": 1, "n": 64, "grid": (4,), "warmup": False, "B": 32}]


def test_grid_sees_what_the_heuristics_computed(bench: Bench) -> None:
    module = bench.load(HEAD + "chosen = triton.heuristics({'B': lambda a: a['n'] // 2})(plain)\n")
    module.chosen[lambda meta: (meta["B"],)](1, 64)
    assert bench.recording.launches()[0].grid == (32,)


def test_heuristic_overrides_the_launch(bench: Bench) -> None:
    module = bench.load(HEAD + "chosen = triton.heuristics({'B': lambda a: 7})(plain)\n")
    module.chosen[(1,)](1, 64, B=3)
    assert bench.recording.launches()[0].args["B"] == 7


@pytest.mark.parametrize("order", ["autotune outside", "heuristics outside"])
def test_autotune_and_heuristics_are_stacked(bench: Bench, order: str) -> None:
    autotune = "triton.autotune([triton.Config({'B': 16}, num_stages=5)], key=['n'])"
    half = "lambda a: a['n'] // 2"
    heuristics = "triton.heuristics({'HALF': " + half + "})"
    layers = [autotune, heuristics] if order == "autotune outside" else [heuristics, autotune]
    module = bench.load(HEAD + f"both = {layers[0]}({layers[1]}(plain))\n")
    module.both[(1,)](1, n=64)
    [launch] = bench.recording.launches()
    assert (launch.args["B"], launch.args["HALF"], launch.num_stages) == (16, 32, 5)


def test_heuristic_outside_cannot_see_the_config(bench: Bench) -> None:
    module = bench.load(
        HEAD
        + "both = triton.heuristics({'EVEN': even})("
        + "triton.autotune([triton.Config({'B': 16})], key=[])(plain))\n"
    )
    with pytest.raises(KeyError, match="'B'"):
        module.both[(1,)](1, 64)


def test_heuristic_inside_sees_the_config(bench: Bench) -> None:
    module = bench.load(
        HEAD
        + "both = triton.autotune([triton.Config({'B': 16})], key=[])("
        + "triton.heuristics({'EVEN': even})(plain))\n"
    )
    module.both[(1,)](1, 64)
    assert bench.recording.launches()[0].args["EVEN"] is True


def test_wrapped_kernel_answers_like_the_kernel(bench: Bench) -> None:
    module = bench.load(HEAD + "tuned = triton.autotune([], key=[])(plain)\n")
    assert module.tuned.fn is module.plain
    assert module.tuned.arg_names == ["x", "n", "B", "EVEN", "HALF"]
    assert module.tuned.__sm120_plain__() == module.plain.__sm120_plain__()
    with pytest.raises(AttributeError):
        _ = module.tuned.no_such_attribute


def test_warm_up_of_a_wrapped_kernel_records_nothing(bench: Bench) -> None:
    module = bench.load(
        HEAD + "tuned = triton.autotune([triton.Config({'B': 1})], key=[])(plain)\n"
    )
    module.tuned.warmup(1, 2, grid=(1,))
    assert bench.recording.launches() == []


def test_tuned_kernel_tells_its_keys_and_the_config_of_the_last_launch(bench: Bench) -> None:
    module = bench.load(
        HEAD + "tuned = triton.autotune([triton.Config({'B': 16})], key=['n'])(plain)\n"
    )
    assert module.tuned.keys == ["n"]
    assert not hasattr(module.tuned, "best_config")
    module.tuned[(1,)](1, 64, EVEN=True, HALF=1)
    assert module.tuned.best_config is module.tuned.configs[0]


def test_wrapped_kernel_of_a_triton_operator_is_launched(bench: Bench) -> None:
    module = bench.load(
        HEAD
        + "import torch\nfrom torch.library import triton_op, wrap_triton\n"
        + "tuned = triton.autotune([triton.Config({'B': 16})], key=[])(plain)\n"
        + "@triton_op('lib::run', mutates_args=())\n"
        + "def run(x):\n    wrap_triton(tuned)[(2,)](x, 64, EVEN=True, HALF=1)\n    return x\n"
        + "def through_ops(x):\n    return torch.ops.lib.run(x)\n"
    )
    x = bench.tensor(8)
    assert module.run(x) is x and module.through_ops(x) is x
    assert [launch.grid for launch in bench.recording.launches()] == [(2,), (2,)]


def test_warm_up_of_a_heuristic_kernel_computes_what_it_checks(bench: Bench) -> None:
    module = bench.load(
        HEAD + "chosen = triton.heuristics({'B': lambda a: 7, 'EVEN': even})(plain)\n"
    )
    module.chosen.warmup(1, 64, grid=(1,))
    assert [args["warmup"] for args in module.seen] == [True]
    assert bench.recording.launches() == []
