"""Ghosts that are called: as decorators at import, and at run time."""

from __future__ import annotations

import pytest

from pytest_sm120.errors import UnknownOperation, UnknownValue
from pytest_sm120.recorder.records import Opaque
from tests.stand_ins.bench import Bench


@pytest.mark.parametrize(
    "decorator",
    [
        "ghost",
        "ghost()",
        "ghost(1, 2)",
        "ghost(lambda x, y: x)",
        "ghost(name='x')",
        "ghost.inner",
        "ghost.of(3)[4]",
    ],
)
def test_unknown_decorator_is_identity(bench: Bench, decorator: str) -> None:
    module = bench.load(
        f"from lib import ghost\n@{decorator}\ndef f(): return 1\n@{decorator}\nclass A: pass\n"
    )
    assert module.f() == 1
    assert isinstance(module.A, type)


def test_unknown_decorator_takes_options_beside_the_function(bench: Bench) -> None:
    module = bench.load(
        """
        from lib import register
        def f(): return 1
        def fake(): return 2
        g = register(f, op_name="f", fake_impl=fake)
        @register(op_name="h", fake_impl=fake)
        def h(): return 3
        """
    )
    assert (module.g(), module.h()) == (1, 3)


def test_unknown_decorator_leaves_methods_properties_and_kernels_alone(bench: Bench) -> None:
    module = bench.load(
        """
        import functools
        import triton
        from lib import ghost
        class A:
            @ghost
            @property
            def p(self): return 1
            @ghost()
            @classmethod
            def c(cls): return 2
            @ghost
            @staticmethod
            def s(): return 3
        @ghost
        @functools.cache
        def cached(): return 4
        @ghost
        @triton.jit
        def kernel(x): pass
        @ghost
        @triton.autotune(configs=[triton.Config({})], key=[])
        @triton.jit
        def tuned(x): pass
        bound = ghost(A().c)
        """
    )
    assert (module.A().p, module.A.c(), module.A.s(), module.cached()) == (1, 2, 3, 4)
    assert module.bound() == 2
    module.kernel[(1,)](1)
    module.tuned[(1,)](1)
    assert [launch.kernel for launch in bench.recording.launches()] == ["kernel", "tuned"]


def test_value_given_to_a_ghost_is_not_handed_back(bench: Bench) -> None:
    module = bench.load("import lib\nmade = lib.make(3)\nof = lib.make(lib.other)\n")
    assert repr(module.made) == repr(module.of) == "<ghost lib.make()>"


def test_call_at_run_time_is_recorded_with_views_of_its_tensors(bench: Bench) -> None:
    module = bench.load(
        """
        from flashinfer.mla import decode
        def run(q, out): return decode(q, [out, 3], scale=0.5, out=out, mode=decode.fast)
        """
    )
    q, out = bench.tensor(2, 3), bench.tensor(4)
    assert repr(module.run(q, out)) == "<ghost flashinfer.mla.decode()>"
    [call] = bench.recording.calls("decode")
    assert call.name == "flashinfer.mla.decode"
    assert (call.site, call.function) == ("target.py:3", "run")
    assert call.args == (q.__sm120_view__(), [out.__sm120_view__(), 3])
    assert call.kwargs == {
        "scale": 0.5,
        "out": out.__sm120_view__(),
        "mode": Opaque("flashinfer.mla.decode.fast"),
    }
    assert call.tensors == [q.__sm120_view__(), out.__sm120_view__()]


def test_call_at_import_is_not_recorded(bench: Bench) -> None:
    bench.load("import lib\nlogger = lib.init_logger(__name__)\n")
    assert bench.recording.calls() == []


def test_item_set_on_a_ghost_at_run_time_is_recorded(bench: Bench) -> None:
    module = bench.load(
        """
        import lib
        def run(x):
            lib.table["a"] = x
            del lib.table["a"]
        """
    )
    x = bench.tensor(2)
    module.run(x)
    stored, deleted = bench.recording.calls()
    assert (stored.name, stored.args) == ("lib.table.__setitem__", ("a", x.__sm120_view__()))
    assert (deleted.name, deleted.args) == ("lib.table.__delitem__", ("a",))


def test_dict_given_to_a_ghost_is_recorded_as_plain_data(bench: Bench) -> None:
    module = bench.load("import lib\ndef run(x): lib.fill({'out': [x]})\n")
    x = bench.tensor(2)
    module.run(x)
    [call] = bench.recording.calls()
    assert call.args == ({"out": [x.__sm120_view__()]},)


@pytest.mark.parametrize("given", ["x", "[1, (x,)]", "{'out': x}", "out=[x]"])
def test_tensor_given_to_a_ghost_has_unknown_contents_afterwards(bench: Bench, given: str) -> None:
    module = bench.load(
        f"""
        import lib, torch
        def run():
            x = torch.zeros(2)
            before = x.tolist()
            lib.fill({given})
            return before, x
        """
    )
    before, x = module.run()
    assert before == [0.0, 0.0]
    assert x._storage.contents is None


def test_unmodelled_part_of_torch_called_at_run_time_is_refused(bench: Bench) -> None:
    module = bench.load(
        """
        import torch
        torch._dynamo.config.recompile_limit = 16
        def run(): return torch._dynamo.reset()
        """
    )
    with pytest.raises(UnknownOperation) as raised:
        module.run()
    assert str(raised.value) == (
        "target.py:4: torch._dynamo.reset was called at run time, and the record tier does not "
        "model it. A stand-in that guessed would make the test prove nothing. Give it to "
        'sm120.load as provide={"torch._dynamo.reset": ...}, or run this test in a tier with real '
        'torch and Triton: tier="interpret".'
    )


def test_unmodelled_part_of_torch_is_called_freely_at_import(bench: Bench) -> None:
    module = bench.load("import torch\nfrom torch._dynamo import reset\nvalue = reset(1)\n")
    assert repr(module.value) == "<ghost torch._dynamo.reset()>"


@pytest.mark.parametrize("given", ["[x]", "out=(x,)", "{'out': [x]}"])
def test_tensor_given_to_a_ghost_inside_something_has_unknown_contents_afterwards(
    bench: Bench, given: str
) -> None:
    target = bench.load(
        "import torch\nfrom lib import ops\ndef run():\n    x = torch.zeros(2)\n"
        f"    ops.write({given})\n    return x\n"
    )
    with pytest.raises(UnknownValue):
        target.run().tolist()
