"""Puts the modules of the Triton stand-in together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.stand_in_modules import StandInModule, no_attribute, read_names
from pytest_sm120.stand_ins.triton_stand_in.autotuning import (
    Autotuned,
    Config,
    Heuristics,
    refuse_names_that_are_no_arguments,
)
from pytest_sm120.stand_ins.triton_stand_in.kernels import Kernel
from pytest_sm120.stand_ins.triton_stand_in.language import DTYPE_NAMES, constexpr, dtype

#: The version the stand-in answers with; its table of names was printed from the same one.
TRITON_VERSION = "3.9.0"

#: The classes that the stand-ins of all tests share.
TRITON_CLASSES = (Autotuned, Config, Heuristics, Kernel, constexpr, dtype)

_TABLE = Path(__file__).with_name("names.txt")

MakeGhost = Callable[[str], Any]


def build_triton(execution: Execution, make_ghost: MakeGhost) -> dict[str, ModuleType]:
    """Return the modelled modules of Triton by dotted name, bound to one test's execution."""

    def find(module: str, name: str) -> Any:
        if name.startswith("__") or name not in read_names(_TABLE)[module]:
            raise no_attribute(module, name)
        return make_ghost(f"{module}.{name}")

    triton, language = (StandInModule(name, find) for name in ("triton", "triton.language"))
    triton.__dict__.update(
        __version__=TRITON_VERSION,
        language=language,
        cdiv=cdiv,
        next_power_of_2=next_power_of_2,
        set_allocator=set_allocator,
        Config=Config,
        JITFunction=Kernel,
        jit=_jit(execution),
        autotune=autotune,
        heuristics=_heuristics,
    )
    language.__dict__.update({name: dtype(name) for name in DTYPE_NAMES})
    language.__dict__.update(dtype=dtype, constexpr=constexpr, cdiv=cdiv)
    return {"triton": triton, "triton.language": language, **_gluon(triton, language, make_ghost)}


def _gluon(
    triton: ModuleType, language: ModuleType, make_ghost: MakeGhost
) -> dict[str, ModuleType]:
    """Return Gluon's modules: kernels that are launched as Triton's are."""

    def find(module: str, name: str) -> Any:
        if name.startswith("__"):
            raise no_attribute(module, name)
        return make_ghost(f"{module}.{name}")

    names = ("experimental", "experimental.gluon", "experimental.gluon.language")
    modules = {f"triton.{name}": StandInModule(f"triton.{name}", find) for name in names}
    experimental, gluon, own_language = modules.values()
    triton.__dict__["experimental"] = experimental
    experimental.__dict__["gluon"] = gluon
    gluon.__dict__.update(jit=triton.jit, language=own_language)
    shared = (*DTYPE_NAMES, "dtype", "constexpr", "cdiv")
    own_language.__dict__.update({name: vars(language)[name] for name in shared})
    return {**modules}


def cdiv(x: Any, y: Any) -> Any:
    """Return x / y, rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n: Any) -> Any:
    """Return the smallest power of two that is not below n; 0 for 0, as Triton does."""
    return 1 << (n - 1).bit_length() if n > 0 else 0


def set_allocator(allocator: Any) -> None:
    """Accept who gives a launch its scratch; only the compiled kernel knows how much it needs."""


def _jit(execution: Execution) -> Callable[..., Any]:
    """Return ``triton.jit``, a decorator that works with and without arguments in parentheses.

    Its options are those of Triton 3.9.0; none changes what is recorded of a launch.
    """

    def jit(
        fn: Any = None,
        *,
        version: object = None,
        repr: object = None,
        launch_metadata: object = None,
        do_not_specialize: object = None,
        do_not_specialize_on_alignment: object = None,
        debug: object = None,
        noinline: object = None,
    ) -> Any:
        make = functools.partial(Kernel, execution)
        return make if fn is None else make(fn)

    return jit


def autotune(
    configs: Any,
    key: Any,
    prune_configs_by: Any = None,
    reset_to_zero: Any = None,
    restore_value: Any = None,
    pre_hook: object = None,
    post_hook: object = None,
    warmup: object = None,
    rep: object = None,
    use_cuda_graph: object = False,
    do_bench: object = None,
    cache_results: object = False,
) -> Callable[[Any], Autotuned]:
    """Return the decorator that ``triton.autotune`` returns.

    The hooks run between the launches that Triton times, and here nothing is timed.
    """
    prune = (prune_configs_by or {}).get("early_config_prune")

    def decorate(kernel: Any) -> Autotuned:
        if getattr(type(kernel), "__sm120_kernel__", False):
            refuse_names_that_are_no_arguments(
                kernel, key=key, reset_to_zero=reset_to_zero, restore_value=restore_value
            )
        return Autotuned(kernel, configs, prune, key)

    return decorate


def _heuristics(values: Any) -> Callable[[Any], Heuristics]:
    return lambda kernel: Heuristics(kernel, values)
