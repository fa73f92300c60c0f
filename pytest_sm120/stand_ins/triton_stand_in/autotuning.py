"""Config, autotune and heuristics: what they add to a launch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_sm120.recorder.places import find_place


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

    #: Tells ghosts that decorate it to hand it back.
    __sm120_kernel__ = True

    #: Returns the keyword arguments that the wrapper adds to a launch.
    added_to: Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]]

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
        self.fn.run(*args, grid=grid, warmup=warmup, **{**kwargs, **added})

    def warmup(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        """Check the arguments as a launch does, without one."""
        self.run(*args, grid=grid, warmup=True, **kwargs)

    def named_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the launch's arguments by name, as the functions a user writes expect them."""
        return {**dict(zip(self.arg_names, args, strict=False)), **kwargs}


class Autotuned(_Wrapping):
    """An autotuned kernel. Nothing is timed: each launch uses the first config that is left.

    ``prune`` is the ``early_config_prune`` of ``prune_configs_by``, which drops configs.
    """

    def __init__(
        self,
        kernel: Any,
        configs: Iterable[Config],
        prune: Callable[..., Iterable[Config]] | None = None,
        keys: Iterable[str] = (),
    ) -> None:
        super().__init__(kernel)
        self.configs = list(configs) or [Config({})]
        #: Names of the parameters whose values Triton tunes anew for.
        self.keys = list(keys)
        self._prune = prune

    def added_to(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the chosen config's values, after its hook has run as before a real launch.

        Raises ValueError when the launch sets one of them, too, as Triton does.
        """
        named = self.named_arguments(args, kwargs)
        config = self._choose(named, kwargs)
        #: What the last launch used; as in Triton, not there before the first one.
        self.best_config = config
        added = config.all_kwargs()
        twice = ", ".join(name for name in added if name in kwargs)
        if twice:
            raise ValueError(
                f"{find_place().site}: the launch of {self.name} sets {twice}, and so do its "
                "autotune configs. Leave to the configs what is tuned."
            )
        if config.pre_hook is not None:
            config.pre_hook({**named, **added})
        return added

    def _choose(self, named: dict[str, Any], kwargs: dict[str, Any]) -> Config:
        # Triton prunes only where there is a choice.
        if self._prune is None or len(self.configs) == 1:
            return self.configs[0]
        left = list(self._prune(self.configs, named, **kwargs))
        if not left:
            raise ValueError(
                f"{find_place().site}: prune_configs_by of {self.name} dropped every config. "
                "At least one must be left."
            )
        return left[0]


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
