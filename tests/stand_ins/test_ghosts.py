"""What can be done with a ghost without deciding anything."""

from __future__ import annotations

import copy
import inspect
import operator

import pytest

from pytest_sm120.errors import GhostValue, UnknownOperation
from pytest_sm120.recorder.records import Opaque
from tests.stand_ins.bench import Bench


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("lib.a.b", "lib.a.b"),
        ("lib.a()", "lib.a()"),
        ("lib.a(1, key=2).b", "lib.a().b"),
        ("lib.a['k'][0]", "lib.a['k'][0]"),
        ("lib.a[lib.b]", "lib.a[lib.b]"),
        ("lib.a | None", "(lib.a | None)"),
        ("None | lib.a", "(None | lib.a)"),
        ("int | lib.a", "(<class 'int'> | lib.a)"),
        ("lib.a + 1", "(lib.a + 1)"),
        ("1 - lib.a", "(1 - lib.a)"),
        ("lib.a @ lib.b", "(lib.a @ lib.b)"),
        ("2 ** lib.a", "(2 ** lib.a)"),
        ("lib.a // 2 % 3", "((lib.a // 2) % 3)"),
        ("lib.a & 1", "(lib.a & 1)"),
        ("lib.a << 1 >> 2", "((lib.a << 1) >> 2)"),
        ("lib.a ^ 1", "(lib.a ^ 1)"),
        ("lib.a / 2 * 3", "((lib.a / 2) * 3)"),
        ("-lib.a", "(-lib.a)"),
        ("+lib.a", "(+lib.a)"),
        ("~lib.a", "(~lib.a)"),
        ("abs(lib.a)", "abs(lib.a)"),
    ],
)
def test_expression_on_a_ghost_is_a_ghost_named_after_it(
    bench: Bench, code: str, name: str
) -> None:
    module = bench.load(f"import lib\nvalue = {code}\n")
    assert repr(module.value) == f"<ghost {name}>"
    assert module.value.__sm120_plain__() == Opaque(name)
    assert module.__sm120_assumptions__ == []


@pytest.mark.parametrize(
    "annotation",
    [
        *(
            "ghost",
            "ghost | None",
            "None | ghost",
            "ghost[int]",
            "list[ghost]",
            "ghost.Inner[3, 4]",
        ),
        *("typing.Optional[ghost]", "typing.Union[int, ghost, None]", "typing.Tuple[ghost, ...]"),
        *("typing.Callable[[ghost], ghost]", "dict[str, ghost | None]", "typing.ClassVar[ghost]"),
        *("typing.Annotated[ghost, 1]", "type[ghost]", "typing.Optional[ghost[int]]"),
    ],
)
def test_ghost_stands_in_an_annotation(bench: Bench, annotation: str) -> None:
    module = bench.load(
        f"import typing\nfrom lib import ghost\nclass A:\n    x: {annotation}\n"
        f"def g(x: {annotation} = None) -> {annotation}: return x\n"
    )
    assert module.g(1) == 1
    assert module.__sm120_assumptions__ == []


def test_ghost_is_named_once_however_it_is_reached(bench: Bench) -> None:
    module = bench.load("import a.b\nfrom a import b\nfrom a.b import c\nimport a.b as d\n")
    assert module.a.b is module.b is module.d
    assert module.a.b.c is module.c


def test_ghost_keeps_what_is_set_on_it(bench: Bench) -> None:
    module = bench.load(
        """
        import lib
        lib.config.limit = 16
        from lib.config import limit
        setattr(lib.run(), "x", 1)
        got = getattr(lib.config, "limit")
        del lib.config.limit
        lib.table["a"] = 1
        del lib.table["a"]
        """
    )
    assert (module.limit, module.got) == (16, 16)
    assert repr(module.lib.config.limit) == "<ghost lib.config.limit>"


def test_result_of_a_call_keeps_its_attributes(bench: Bench) -> None:
    module = bench.load("import lib\nconfig = lib.load()\n")
    assert module.config.inner is module.config.inner


def test_ghost_in_a_text_is_its_representation(bench: Bench) -> None:
    module = bench.load(
        "import lib\nplain = f'{lib.a}'\nspec = f'{lib.a:>20}'\nold = '%s' % lib.a\n"
    )
    assert (module.plain, module.spec, module.old) == ("<ghost lib.a>",) * 3


def test_ghost_is_a_key_of_dicts_and_sets(bench: Bench) -> None:
    module = bench.load("import lib\ntable = {lib.a: 1, lib.b: 2}\nnames = {lib.a, lib.a}\n")
    assert module.table[module.lib.a] == 1
    assert len(module.names) == 1


def test_ghost_in_a_with_statement_swallows_nothing(bench: Bench) -> None:
    module = bench.load(
        """
        import lib
        with lib.context(1) as entered:
            inside = True
        caught = False
        try:
            with lib.context():
                raise KeyError
        except KeyError:
            caught = True
        """
    )
    assert (repr(module.entered), module.inside, module.caught) == (
        "<ghost lib.context()>",
        True,
        True,
    )


@pytest.mark.parametrize("at_run_time", [False, True])
def test_ghost_is_unpacked_into_as_many_names_as_there_are(bench: Bench, at_run_time: bool) -> None:
    module = bench.load(
        """
        import lib
        def run():
            a, (b, c) = lib.make()
            return a, b, c
        at_import = run()
        """
    )
    got = module.run() if at_run_time else module.at_import
    names = ["lib.make()[0]", "lib.make()[1][0]", "lib.make()[1][1]"]
    assert [repr(ghost) for ghost in got] == [f"<ghost {name}>" for name in names]
    assert module.__sm120_assumptions__ == []


def test_ghost_unpacked_with_a_star_at_run_time_is_refused(bench: Bench) -> None:
    module = bench.load("import lib\ndef run():\n    a, *b = lib.make()\n")
    with pytest.raises(GhostValue, match=r"the code asked iter\(lib\.make\(\)\) at run time"):
        module.run()


def test_ghost_is_copied_as_itself(bench: Bench) -> None:
    ghost = bench.load("import lib\n").lib.a
    assert copy.copy(ghost) is ghost
    assert copy.deepcopy({"a": [ghost]})["a"][0] is ghost


def test_ghost_answers_what_decorators_read(bench: Bench) -> None:
    module = bench.load(
        """
        import functools
        from lib.deep import helper
        @functools.wraps(helper)
        def own(): return 1
        """
    )
    assert module.own() == 1
    assert (module.own.__name__, module.own.__module__) == ("helper", "lib.deep")
    assert module.helper.__doc__ is None
    assert module.helper.__qualname__ == "helper"
    assert module.helper.__path__ == []
    assert module.helper.__spec__ is None
    assert inspect.unwrap(module.own) is module.helper


def test_ghost_lacks_any_other_dunder(bench: Bench) -> None:
    module = bench.load("import lib\n")
    with pytest.raises(AttributeError, match="^<ghost lib.a> has no attribute '__wrapped__'$"):
        operator.attrgetter("__wrapped__")(module.lib.a)


# -- decorators ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decorator",
    ["ghost", "ghost()", "ghost(1, 2)", "ghost(name='x')", "ghost.inner", "ghost.of(3)[4]"],
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


# -- calls at run time -----------------------------------------------------------------------------


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


def test_tensor_given_to_a_ghost_has_unknown_contents_afterwards(bench: Bench) -> None:
    module = bench.load(
        """
        import lib, torch
        def run():
            x = torch.zeros(2)
            before = x.tolist()
            lib.fill(x)
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
