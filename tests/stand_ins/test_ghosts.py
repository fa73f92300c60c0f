"""What can be done with a ghost without deciding anything."""

from __future__ import annotations

import copy
import inspect
import operator

import pytest

from pytest_sm120.errors import GhostValue
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
