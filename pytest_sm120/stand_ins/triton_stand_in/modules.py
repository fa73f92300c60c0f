"""Puts the modules of the Triton stand-in together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.resources import files
from types import ModuleType
from typing import Any

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.triton_stand_in.autotuning import Autotuned, Config, Heuristics
from pytest_sm120.stand_ins.triton_stand_in.kernels import Kernel
from pytest_sm120.stand_ins.triton_stand_in.language import DTYPE_NAMES, constexpr, dtype

#: The version the stand-in answers with; its table of names was printed from the same one.
TRITON_VERSION = "3.9.0"

#: The classes that the stand-ins of all tests share.
TRITON_CLASSES = (Autotuned, Config, Heuristics, Kernel, constexpr, dtype)

MakeGhost = Callable[[str], Any]


class StandInModule(ModuleType):
    """A module that has exactly the names the real one has; what is not modelled is a ghost."""

    def __init__(self, name: str, make_ghost: MakeGhost, known: Callable[[str], bool]) -> None:
        super().__init__(name)
        self.__dict__.update(_make_ghost=make_ghost, _known=known, __path__=[])

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if name.startswith("__") or not own["_known"](name):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return own["_make_ghost"](f"{self.__name__}.{name}")


def build_triton(execution: Execution, make_ghost: MakeGhost) -> dict[str, ModuleType]:
    """Return the modelled modules of Triton by dotted name, bound to one test's execution."""
    names = ("triton", "triton.language")
    triton, language = (
        StandInModule(name, make_ghost, functools.partial(_has_name, name)) for name in names
    )
    triton.__dict__.update(
        __version__=TRITON_VERSION,
        language=language,
        cdiv=cdiv,
        next_power_of_2=next_power_of_2,
        Config=Config,
        JITFunction=Kernel,
        jit=_decorator(functools.partial(Kernel, execution)),
        autotune=_autotune,
        heuristics=_heuristics,
    )
    language.__dict__.update({name: dtype(name) for name in DTYPE_NAMES})
    language.__dict__.update(dtype=dtype, constexpr=constexpr, cdiv=cdiv)
    return {"triton": triton, "triton.language": language}


def cdiv(x: Any, y: Any) -> Any:
    """Return x / y, rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n: Any) -> Any:
    """Return the smallest power of two that is not below n; 0 for 0, as Triton does."""
    return 1 << (n - 1).bit_length() if n > 0 else 0


def _decorator(make: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a decorator that works with and without arguments in parentheses."""

    def decorate(fn: Any = None, **options: object) -> Any:
        return make if fn is None else make(fn)

    return decorate


def _autotune(
    configs: Any, key: Any = None, prune_configs_by: Any = None, **options: Any
) -> Callable[[Any], Autotuned]:
    prune = (prune_configs_by or {}).get("early_config_prune")
    return lambda kernel: Autotuned(kernel, configs, prune)


def _heuristics(values: Any) -> Callable[[Any], Heuristics]:
    return lambda kernel: Heuristics(kernel, values)


def _has_name(module: str, name: str) -> bool:
    return name in _names()[module]


@functools.cache
def _names() -> dict[str, frozenset[str]]:
    text = files(__package__).joinpath("names.txt").read_text(encoding="utf-8")
    sections = [part.partition("]") for part in text.split("[")[1:]]
    return {title: frozenset(words.split()) for title, _, words in sections}
