"""Classes that the stand-ins of all tests share, and what code under test does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_OURS = __name__.partition(".")[0]

# What every class has of its own and nobody sets.
_BUILT_IN = frozenset({"__dict__", "__weakref__"})


def save_classes(classes: Iterable[type]) -> Callable[[], None]:
    """Return a function that gives each class the attributes that it has now.

    ``torch.Tensor.my_method = ...`` in a target must not reach the next test.
    """
    saved = [(kind, dict(vars(kind))) for kind in dict.fromkeys(classes)]

    def restore() -> None:
        for kind, attributes in saved:
            _restore(kind, attributes)

    return restore


def _restore(kind: type, attributes: dict[str, object]) -> None:
    for name, value in list(vars(kind).items()):
        if name in attributes or name in _BUILT_IN or _is_ours(value):
            continue
        delattr(kind, name)
    for name, value in attributes.items():
        if name not in _BUILT_IN and vars(kind).get(name) is not value:
            setattr(kind, name, value)


def _is_ours(value: object) -> bool:
    """Return whether a stand-in attached it itself: what computes comes with its first use."""
    home = getattr(value, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] == _OURS
