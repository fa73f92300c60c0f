"""The version that the stand-in answers for torch, which compares as a version, not as text."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


class TorchVersion(str):
    """As ``torch.torch_version.TorchVersion``: a text that is ordered by its numbers.

    It compares with texts, tuples of numbers and the ``Version`` of packaging; with a text that is
    no version, as a text.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> bool:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> bool:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> bool:
        return self._compare(other, operator.ge)

    # As the texts that it is equal to in dicts.
    __hash__ = str.__hash__

    def _compare(self, other: Any, compare: Callable[[Any, Any], bool]) -> bool:
        # pytest needs packaging, too; most targets never compare versions.
        from packaging.version import InvalidVersion, Version

        try:
            return compare(Version(self), _as_version(other))
        except InvalidVersion:
            return compare(str(self), other)


def _as_version(other: Any) -> Any:
    from packaging.version import Version

    if isinstance(other, Version):
        return other
    text = other if isinstance(other, str) else ".".join(str(part) for part in other)
    return Version(text)


VERSION = TorchVersion("2.13.0")
