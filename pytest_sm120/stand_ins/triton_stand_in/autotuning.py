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

    def run(self, *args: Any, **kwargs: Any) -> None:
        """Record the launch with what this wrapper adds to it.

        As in Triton ``grid`` and ``warmup`` are among the keyword arguments that functions of the
        user's are given.
        """
        self.fn.run(*args, **{**kwargs, **self.added_to(args, kwargs)})

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Check the arguments as a launch does, without one."""
        self.run(*args, **{**kwargs, "warmup": True})

    def positional(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Return the positional arguments of a launch by name."""
        return dict(zip(self.arg_names, args, strict=False))


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
        #: The config of each key that was launched; for one that is here nothing is pruned.
        self.cache: dict[tuple[object, ...], Config] = {}
        self._prune = prune

    def added_to(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the chosen config's values, after its hook has run as before a real launch.

        Raises ValueError when the launch sets one of them, too, as Triton does.
        """
        positional = self.positional(args)
        config = self._choose(positional, kwargs)
        #: What the last launch used; as in Triton, not there before the first one.
        self.best_config = config
        added = self._added_by(config, kwargs)
        if config.pre_hook is not None:
            config.pre_hook({**positional, **kwargs, **added})
        return added

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Check the arguments for each config that is left; hooks do not run."""
        for config in self._pruned(self.positional(args), kwargs):
            self.fn.warmup(*args, **{**kwargs, **self._added_by(config, kwargs)})

    def _added_by(self, config: Config, kwargs: dict[str, Any]) -> dict[str, Any]:
        added = config.all_kwargs()
        twice = ", ".join(name for name in added if name in kwargs)
        if twice:
            raise ValueError(
                f"{find_place().site}: the launch of {self.name} sets {twice}, and so do its "
                "autotune configs. Leave to the configs what is tuned."
            )
        return added

    def _choose(self, positional: dict[str, Any], kwargs: dict[str, Any]) -> Config:
        # Triton prunes only where there is a choice.
        if len(self.configs) == 1:
            return self.configs[0]
        key = self._key_of({**positional, **kwargs})
        if key not in self.cache:
            self.cache[key] = self._pruned(positional, kwargs)[0]
        return self.cache[key]

    def _key_of(self, given: dict[str, Any]) -> tuple[object, ...]:
        values = [given[name] for name in self.keys if name in given]
        dtypes = [
            str(given[name].dtype)
            for name in self.arg_names
            if hasattr(type(given.get(name)), "__sm120_view__")
        ]
        return (*values, *dtypes)

    def _pruned(self, positional: dict[str, Any], kwargs: dict[str, Any]) -> list[Config]:
        if self._prune is None:
            return self.configs
        left = list(self._prune(self.configs, positional, **kwargs))
        if not left:
            raise ValueError(
                f"{find_place().site}: prune_configs_by of {self.name} dropped every config. "
                "At least one must be left."
            )
        return left


class Heuristics(_Wrapping):
    """A kernel some of whose parameters are computed from the others at each launch."""

    def __init__(self, kernel: Any, values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None:
        super().__init__(kernel)
        self.values = dict(values)

    def added_to(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the computed values; each sees the arguments and the values before it."""
        named = {**self.positional(args), **kwargs}
        for name, compute in self.values.items():
            named[name] = compute(named)
        return {name: named[name] for name in self.values}


def refuse_names_that_are_no_arguments(kernel: Any, **given: Iterable[str] | None) -> None:
    """Refuse what ``autotune`` is told of parameters that the kernel does not have.

    Raises ValueError, as Triton 3.9.0 does when the decorator runs.
    """
    for option, names in given.items():
        unknown = [name for name in names or () if name not in kernel.arg_names]
        if unknown:
            raise ValueError(
                f"{find_place().site}: {option} of the autotuned kernel {kernel.name} names "
                f"{', '.join(unknown)}. Its arguments are {', '.join(kernel.arg_names)}. Correct "
                "the name, or leave it out."
            )
