"""Ghosts where Python wants a class."""

from __future__ import annotations

import pytest

from tests.stand_ins.bench import Bench


@pytest.mark.parametrize(
    "bases",
    [
        *("Ghost", "Ghost, abc.ABC", "abc.ABC, Ghost", "Ghost[int]", "Ghost, Other", "Own, Ghost"),
        *("Ghost[T], typing.Generic[T]", "Ghost, typing.Protocol", "Ghost[T], typing.Protocol[T]"),
        *("Ghost, option=1", "lib.deep.Ghost", "Ghost, dict", "Ghost(1)", "torch.nn.Module, Ghost"),
        *("Ghost, typing.TypedDict", "Ghost, enum.Enum"),
    ],
)
def test_class_derives_from_a_ghost(bench: Bench, bases: str) -> None:
    module = bench.load(
        f"""
        import abc, enum, typing, lib, torch
        from lib import Ghost, Other
        T = typing.TypeVar("T")
        class Own: pass
        class Made({bases}):
            own = 1
        """.replace("own = 1", "own: int" if "Typed" in bases else "own = 1")
    )
    assert isinstance(module.Made, type)
    assert module.__sm120_assumptions__ == []


def test_class_that_derives_from_a_ghost_takes_any_arguments(bench: Bench) -> None:
    module = bench.load(
        """
        from lib import Layer
        class Own(Layer):
            def __init__(self, size):
                super().__init__(size, bias=False)
                self.size = size
        own = Own(3)
        """
    )
    assert module.own.size == 3


def test_dataclass_derives_from_a_ghost(bench: Bench) -> None:
    module = bench.load(
        """
        from dataclasses import dataclass, field
        from lib import Base, DEFAULT, make
        @dataclass(frozen=True)
        class Own(Base):
            a: int
            b: object = DEFAULT
            c: object = field(default_factory=make)
        own = Own(1)
        """
    )
    assert module.own.a == 1
    assert repr(module.own.b) == "<ghost lib.DEFAULT>"


def test_members_of_an_enum_are_ghosts(bench: Bench) -> None:
    module = bench.load(
        """
        import enum, lib
        class Kind(enum.Enum):
            A = lib.a
            B = lib.b
        """
    )
    assert [member.name for member in module.Kind] == ["A", "B"]


def test_instance_of_a_derived_class_is_an_instance_of_the_ghost(bench: Bench) -> None:
    module = bench.load(
        """
        from lib import Base
        class Own(Base): pass
        def ask(value): return isinstance(value, Base), isinstance(value, (int, Base))
        def ask_class(kind): return issubclass(kind, Base)
        """
    )
    assert module.ask(module.Own()) == (True, True)
    assert module.ask_class(module.Own)
    assert not module.ask_class(int)


def test_ghost_as_metaclass_makes_an_ordinary_class(bench: Bench) -> None:
    module = bench.load("from lib import Meta\nclass Own(metaclass=Meta):\n    x = 1\n")
    assert type(module.Own) is type
    assert vars(module.Own)["x"] == 1


@pytest.mark.parametrize(
    "name",
    [
        "lib.ShapeError",
        "lib.sub.SomeException",
        "lib.OldWarning",
        "lib.InvalidShape",
        "lib.OutOfMemory",
    ],
)
def test_exception_that_is_not_there_is_raised_and_caught(bench: Bench, name: str) -> None:
    module = bench.load(
        f"""
        import lib
        def run():
            try:
                raise {name}("why")
            except (KeyError, {name}) as error:
                return str(error)
        """
    )
    assert module.run() == "why"


def test_exception_of_triton_that_is_not_modelled_is_caught(bench: Bench) -> None:
    module = bench.load(
        """
        import triton
        from triton.runtime.errors import OutOfResources
        def run():
            try:
                raise OutOfResources("why")
            except triton.CompilationError:
                return 0
            except OutOfResources:
                return 1
        """
    )
    assert module.run() == 1


def test_exception_class_knows_its_module(bench: Bench) -> None:
    module = bench.load("from lib.deep import SomeError\nimport lib.deep.SomeError.inner\n")
    assert module.SomeError.__module__ == "lib.deep"
    assert module.SomeError.__name__ == "SomeError"
