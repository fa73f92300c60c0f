"""The contract of several buffers that one owner keeps side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_sm120.contracts.keys import Key, key_on, refuse_unknown_key, show_key
from pytest_sm120.errors import UsageError


@dataclass(frozen=True)
class Siblings:
    """Buffers that are kept side by side and must be treated alike; ``sm120.check`` tests it.

    Raises UsageError when a field cannot be understood.
    """

    #: Where each is kept: a template or a function of the device, as in a Scratch.
    keys: Sequence[str | Callable[[str], object]]
    #: Whether they may be born in inference mode: right when host code never writes them outside.
    allow_inference: bool = False
    #: Names of clauses in which they may differ, e.g. ``["grow together"]``.
    may_differ: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.keys, str) or len(self.keys) < 2:
            raise UsageError(
                f"Siblings(keys={self.keys!r}) does not name two buffers.",
                limit="They are compared with each other.",
                remedy='Write their keys in a list, e.g. keys=["positions", "lengths"].',
            )
        for key in self.keys:
            refuse_unknown_key(key, "Siblings(keys=)")

    @property
    def title(self) -> str:
        """How messages name the contract: by the keys."""
        return f"the siblings {' and '.join(self.names)}"

    @property
    def names(self) -> list[str]:
        """How messages name each buffer."""
        return [show_key(key if isinstance(key, str) else self.key_on(key)) for key in self.keys]

    @staticmethod
    def key_on(key: Key, device: str = "cuda:0") -> object:
        """Return a key on this device, as plain data; UsageError when its function raises."""
        return key_on(key, device, "Siblings(keys=)")
