"""Kernels whose launches are recorded instead of run."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any

from pytest_sm120.arch import Arch
from pytest_sm120.recorder.places import find_place
from pytest_sm120.recorder.recording import plain_arguments
from pytest_sm120.recorder.records import Launch, Opaque
from pytest_sm120.stand_ins.execution import Effects, Execution
from pytest_sm120.stand_ins.triton_stand_in.language import plain_constant
from pytest_sm120.stand_ins.triton_stand_in.written_arguments import find_effects

# What a launch takes besides the kernel's parameters: the fields of the CUDA and HIP backends'
# option classes in Triton 3.9.0, and the launcher's own.
LAUNCH_OPTIONS = frozenset(
    """
    num_warps num_ctas num_stages warp_size maxnreg ptx_version ptx_options ir_override
    enable_fp_fusion sched4reg enable_reflect_ftz launch_cooperative_grid launch_pdl clc
    supported_fp8_dtypes deprecated_fp8_dot_operand_dtypes default_dot_input_precision
    allowed_dot_input_precisions max_num_imprecise_acc_default extern_libs debug backend_name
    sanitize_overflow arch instrumentation_mode cluster_dims min_shared_mem
    waves_per_eu matrix_instr_nonkdim kpack schedule_hint allow_flush_denorm
    """.split()
)

# Arguments through which nothing can be written.
_SCALARS = (type(None), bool, int, float, complex, str)

_NO_EFFECTS = Effects(frozenset(), frozenset(), frozenset(), alone=True)

Grid = Any


class Kernel:
    """What ``triton.jit`` makes of a function: ``kernel[grid](...)`` is recorded as a Launch."""

    #: Tells ghosts that decorate it to hand it back.
    __sm120_kernel__ = True

    def __init__(self, execution: Execution, fn: Callable[..., Any]) -> None:
        self.execution = execution
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __sm120_plain__(self) -> object:
        return Opaque(self.name)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    @property
    def name(self) -> str:
        """The kernel function's plain name."""
        return self.fn.__name__

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The kernel function's parameters."""
        return inspect.signature(self.fn)

    @property
    def arg_names(self) -> list[str]:
        """The names of the kernel's parameters, in order."""
        return list(self.signature.parameters)

    @property
    def constexprs(self) -> list[int]:
        """The positions of the parameters that are annotated as constexpr, as Triton tells them."""
        told = [
            inspect.formatannotation(each.annotation) for each in self.signature.parameters.values()
        ]
        return [position for position, annotation in enumerate(told) if "constexpr" in annotation]

    def __getitem__(self, grid: Grid) -> Callable[..., None]:
        return functools.partial(self.run, grid=grid, warmup=False)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Refuse, as only another kernel can call a kernel, unless a ghost was put around it."""
        if "wrapper" not in self.__dict__ or self.execution.importing:
            raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")
        from pytest_sm120.stand_ins.ghost_kernels import call_wrapped

        return call_wrapped(self, args, kwargs)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_") or "wrapper" not in self.__dict__:
            raise AttributeError(f"{self!r} has no attribute {attribute!r}")
        from pytest_sm120.stand_ins.ghost_kernels import wrapped_attribute

        return wrapped_attribute(self, attribute)

    def run(self, *args: object, grid: Grid, warmup: bool = False, **kwargs: object) -> None:
        """Record one launch with this grid; a warm-up only compiles, so it is not recorded."""
        options = {
            name: plain_constant(value)
            for name, value in kwargs.items()
            if name in LAUNCH_OPTIONS and name not in self.signature.parameters
        }
        _refuse_warps(options.get("num_warps"), self.execution.arch, self.name)
        named = {name: value for name, value in kwargs.items() if name not in options}
        bound = self.bind(args, named)
        if not warmup:
            sizes = resolve_grid(grid, bound, self.name)
            if prod(sizes) > 0:
                _refuse_larger_grid(sizes, self.execution.arch, self.name)
            self._record(sizes, bound, options)

    def warmup(self, *args: object, grid: Grid, **kwargs: object) -> None:
        """Check the arguments as a launch does; nothing is launched, so nothing is recorded."""
        self.run(*args, grid=grid, warmup=True, **kwargs)

    def bind(self, args: tuple[object, ...], named: dict[str, object]) -> dict[str, Any]:
        """Return every parameter by name, defaults included, with constexprs unwrapped.

        Raises TypeError for a missing or surplus argument, and KeyError for a keyword that is
        neither a parameter nor a launch option, as Triton does.
        """
        unknown = [name for name in named if name not in self.signature.parameters]
        if unknown:
            raise KeyError(
                f"{find_place().site}: {self.name}() has neither a parameter nor a launch option "
                f"called {unknown[0]}"
            )
        try:
            bound = self.signature.bind(*args, **named)
        except TypeError as error:
            raise TypeError(f"{find_place().site}: {self.name}() {error}") from None
        bound.apply_defaults()
        return {name: plain_constant(value) for name, value in bound.arguments.items()}

    def _record(
        self, grid: tuple[int, ...], bound: Mapping[str, Any], options: Mapping[str, object]
    ) -> None:
        plain = plain_arguments(bound)
        memory = [name for name, value in plain.items() if not isinstance(value, _SCALARS)]
        effects = self.effects if memory and prod(grid) > 0 else _NO_EFFECTS
        written = tuple(name for name in memory if name in effects.written)
        accumulated = tuple(name for name in memory if name in effects.accumulated)
        self.execution.recording.add(
            lambda place, order: Launch(
                place,
                order,
                self.name,
                grid,
                plain,
                options,
                written=written,
                accumulated=accumulated,
            )
        )
        _forget_contents([bound[name] for name in written])

    @functools.cached_property
    def effects(self) -> Effects:
        """What the kernel may do to its parameters, judged on its text."""
        known = self.execution.effects_of_kernels
        code = inspect.unwrap(self.fn).__code__
        if code not in known:
            found = find_effects(self.fn, self.execution.definition_of)
            if not found.alone:
                # In another test the functions that it calls may be others.
                return found
            known[code] = found
        return known[code]


def _forget_contents(written: Iterable[Any]) -> None:
    others = []
    for value in written:
        if hasattr(type(value), "__sm120_forget__"):
            value.__sm120_forget__()
        else:
            others.append(value)
    # Which parts of a tuple a kernel writes through is not followed.
    if others:
        from pytest_sm120.stand_ins.ghost_calls import forget_contents

        forget_contents(others)


def resolve_grid(grid: Grid, bound: Mapping[str, Any], kernel: str) -> tuple[int, ...]:
    """Return the grid as one to three numbers; a callable grid is called with the arguments.

    Raises ValueError for anything that does not hold one to three whole numbers. A bare number is
    none: Triton 3.9.0 asks for the grid's ``len()``. Its launcher does nothing where their product
    is not above 0, so that one negative number is as good as a 0.
    """
    found = grid(dict(bound)) if callable(grid) and not hasattr(grid, "__index__") else grid
    try:
        numbers = tuple(operator.index(plain_constant(part)) for part in found)
    except TypeError:
        numbers = ()
    if not 1 <= len(numbers) <= 3 or (min(numbers) < 0 < prod(numbers)):
        raise ValueError(
            f"{find_place().site}: {kernel} is launched with the grid {found!r}. A grid is a "
            "tuple of one to three whole numbers, none negative. Pass a tuple such as (blocks,)."
        )
    return numbers


def _refuse_larger_grid(grid: tuple[int, ...], arch: Arch, kernel: str) -> None:
    if any(size > limit for size, limit in zip(grid, arch.max_grid, strict=False)):
        raise ValueError(
            f"{find_place().site}: {kernel} is launched with the grid {grid!r}. The largest grid "
            f"of {arch.name} is {arch.max_grid!r}; the card refuses the launch. Put the long "
            "dimension first, or give each program more to do."
        )


def _refuse_warps(warps: object, arch: Arch, kernel: str) -> None:
    """Refuse a number of warps that Triton 3.9.0 or the card refuses.

    Raises AssertionError for one that is no power of two, as Triton does.
    """
    if not isinstance(warps, int):
        return
    told = f"{find_place().site}: {kernel} is launched with num_warps={warps}"
    if warps <= 0 or warps & (warps - 1):
        raise AssertionError(
            f"{told}. Triton accepts powers of two only. Pass 1, 2, 4, 8, 16 or 32."
        )
    if warps * arch.warp_size > arch.max_threads_per_block:
        raise ValueError(
            f"{told}, which is {warps * arch.warp_size} threads. A block of {arch.name} has at most"
            f" {arch.max_threads_per_block}; the card refuses the launch. Pass at most"
            f" {arch.max_threads_per_block // arch.warp_size}."
        )
