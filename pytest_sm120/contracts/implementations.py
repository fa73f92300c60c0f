"""The contract of the implementations of one interface: each has what its dispatcher reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_sm120.errors import UsageError


@dataclass(frozen=True)
class Implementations:
    """Objects of which a dispatcher picks one; ``sm120.check`` tests that each fits.

    Nothing is called: the dispatcher's text is read, and each attribute is looked up where the
    object or one of its classes has it. Raises UsageError when a field cannot be understood.
    """

    #: The function that is given one of them and reads its attributes, or several functions.
    dispatcher: Callable[..., Any] | Sequence[Callable[..., Any]]
    #: How that function calls the implementation: ``"impl"`` or ``"self.impl"``.
    called: str
    #: The implementations, each made as it is made in production; by name, or in a list, where
    #: each has the name of its class.
    instances: Sequence[object] | Mapping[str, object]

    def __post_init__(self) -> None:
        if not all(part.isidentifier() for part in self.called.split(".")):
            raise UsageError(
                f"Implementations(called={self.called!r}) is no name.",
                limit="It is how the dispatcher's text refers to the implementation.",
                remedy='Write e.g. called="impl", or called="self.impl".',
            )
        for name, instance in self.named_instances.items():
            _refuse_what_answers_everything(name, instance)

    @property
    def dispatchers(self) -> list[Callable[..., Any]]:
        """The functions whose text is read."""
        return [self.dispatcher] if callable(self.dispatcher) else list(self.dispatcher)

    @property
    def named_instances(self) -> dict[str, object]:
        """The implementations by name."""
        if isinstance(self.instances, Mapping):
            return dict(self.instances)
        return {type(instance).__name__: instance for instance in self.instances}

    @property
    def title(self) -> str:
        """How messages name the contract: by what the dispatcher is called."""
        names = [getattr(each, "__name__", repr(each)) for each in self.dispatchers]
        return f"the implementations that {' and '.join(names)} may be given"


def _refuse_what_answers_everything(name: str, instance: object) -> None:
    if hasattr(instance, "sm120_no_object_has_this"):
        raise UsageError(
            f"Implementations(instances=) holds {name}, which answers every attribute.",
            limit="A mock or a ghost has whatever it is asked for, which hides what is missing.",
            remedy="Give an object of the implementation's own class.",
        )
