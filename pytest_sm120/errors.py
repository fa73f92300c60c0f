"""The exceptions that users of this package meet.

Every message is built from three parts, in this order: the cause (what happened, with the user's
file and line and the value seen), the limit (what would have been accepted) and the remedy (what
to do now).
"""

from __future__ import annotations


class Sm120Error(Exception):
    """An error of this package, with its cause, limit and remedy as separate fields.

    ``str(error)`` is the three parts, in full sentences, joined by a blank.
    """

    def __init__(self, cause: str, *, limit: str = "", remedy: str = "") -> None:
        self.cause = cause
        self.limit = limit
        self.remedy = remedy
        super().__init__(" ".join(part for part in (cause, limit, remedy) if part))

    def __reduce__(self) -> tuple[object, ...]:
        # Exception.__reduce__ would pass the joined text as the cause (pytest-xdist pickles these).
        return (_rebuilt, (type(self), self.cause, self.limit, self.remedy))


def _rebuilt(kind: type[Sm120Error], cause: str, limit: str, remedy: str) -> Sm120Error:
    return kind(cause, limit=limit, remedy=remedy)


class UsageError(Sm120Error):
    """The call or the setting itself is wrong: a missing file, an unknown arch, an unused key."""


class TargetError(Sm120Error):
    """The target file cannot be loaded: it does not compile, or it raised while it was imported."""


class UnknownOperation(Sm120Error):
    """Code under test used something the stand-ins know by name but do not model."""


class UnknownValue(Sm120Error):
    """Code under test asked for the contents of a tensor whose contents nobody gave."""


class GhostValue(Sm120Error):
    """Code under test made a decision on a ghost: a comparison, a truth value, a number."""


class ContractBroken(AssertionError):
    """A contract does not hold; the message lists every broken clause.

    ``result`` is what the check found out, clause by clause: a contracts.ContractResult.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class HazardWarning(UserWarning):
    """A contract is broken, but only latently, and the contract was softened with latent="warn"."""
