"""Config, autotune and heuristics: what they add to a launch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any


class Config:
    """One choice of an autotuned kernel, as ``triton.Config``."""

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[..., Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """Return the meta-parameters and the launch options that are set."""
        options = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")
        given = {name: getattr(self, name) for name in options}
        return {
            **self.kwargs,
            **{name: value for name, value in given.items() if value is not None},
        }


class _Wrapping:
    """A kernel with something around it; whatever is not asked here is asked of the kernel."""

    def __init__(self, kernel: Any) -> None:
        self.fn = kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["fn"], name)

    def __sm120_plain__(self) -> object:
        return self.fn.__sm120_plain__()

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return functools.partial(self.run, grid=grid, warmup=False)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> None:
        """Record the launch with what this wrapper adds to it."""
        added = self.added_to(args, kwargs)
        self.fn.run(*args, grid=grid, warmup=warmup, **{**added, **kwargs})

    def added_to(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments that the wrapper adds to a launch."""
        raise NotImplementedError

    def named_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the launch's arguments by name, as the functions a user writes expect them."""
        return {**dict(zip(self.arg_names, args, strict=False)), **kwargs}


class Autotuned(_Wrapping):
    """An autotuned kernel. Nothing is timed: every launch uses the first of its configs."""

    def __init__(self, kernel: Any, configs: Iterable[Config]) -> None:
        super().__init__(kernel)
        self.configs = list(configs) or [Config({})]

    def added_to(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the first config's values, after its hook has run as before a real launch."""
        config = self.configs[0]
        if config.pre_hook is not None:
            config.pre_hook({**self.named_arguments(args, kwargs), **config.all_kwargs()})
        return config.all_kwargs()


class Heuristics(_Wrapping):
    """A kernel some of whose parameters are computed from the others at each launch."""

    def __init__(self, kernel: Any, values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None:
        super().__init__(kernel)
        self.values = dict(values)

    def added_to(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the computed values; each sees the arguments and the values before it."""
        named = self.named_arguments(args, kwargs)
        for name, compute in self.values.items():
            named[name] = compute(named)
        return {name: named[name] for name in self.values}
