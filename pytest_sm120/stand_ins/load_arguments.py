"""Checks the arguments of ``sm120.load`` before anything is done with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from pytest_sm120.errors import UsageError

_REMEDY = (
    'Write e.g. sm120.load("pkg/ops/split.py", provide={"pkg.runtime.get_buffers": dict}, '
    'real=["pkg.ops.layouts"]).'
)


def check_load_arguments(path: object, provide: object, real: object, name: object) -> None:
    """Raise UsageError for an argument of a wrong type; say which and what it takes."""
    if not isinstance(path, (str, os.PathLike)):
        raise _wrong("path", path, "It is a text or a pathlib.Path.")
    if not (isinstance(provide, Mapping) and all(isinstance(key, str) for key in provide)):
        raise _wrong("provide=", provide, "It maps dotted names to objects.")
    if not (isinstance(real, Iterable) and all(_is_dotted(dotted) for dotted in _listed(real))):
        raise _wrong("real=", real, "It lists dotted names of modules.")
    if name is not None and not _is_dotted(name):
        raise _wrong("name=", name, "It is a dotted name of a module.")


def _listed(real: Iterable[object]) -> Iterable[object]:
    return (real,) if isinstance(real, str) else real


def _is_dotted(name: object) -> bool:
    return isinstance(name, str) and all(part.isidentifier() for part in name.split("."))


def _wrong(argument: str, given: object, limit: str) -> UsageError:
    return UsageError(f"sm120.load was given {argument} {given!r}.", limit=limit, remedy=_REMEDY)
