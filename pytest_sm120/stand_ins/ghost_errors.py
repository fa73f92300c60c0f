"""What a user is told when code under test wants more of a ghost than its name."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_sm120.errors import GhostValue, UnknownOperation


def unknown_operation(site: str, name: str, key: str) -> UnknownOperation:
    """Return the error for a call of something that a stand-in knows by name only.

    ``key`` is what ``provide=`` would be given for it.
    """
    return UnknownOperation(
        f"{site}: {name} was called at run time, and the record tier does not model it.",
        limit="A stand-in that guessed would make the test prove nothing.",
        remedy=f'Give it to sm120.load as provide={{"{key}": ...}}, or run this test '
        'in a tier with real torch and Triton: tier="interpret".',
    )


def value_asked_of_ghost(
    site: str,
    name: str,
    question: str,
    *,
    key: str,
    called: bool,
    held: Iterable[str],
    sibling: str | None = None,
) -> GhostValue:
    """Return the error for a decision on a ghost at run time.

    ``key`` is what ``provide=`` would be given, ``called`` whether the ghost is what a call of it
    returned, ``held`` the module globals that hold the ghost, ``sibling`` the module below the root
    whose file defines it.
    """
    value = "lambda *args: ..." if called else "..."
    remedy = f'Give it a value: sm120.load(..., provide={{"{key}": {value}}})'
    for name_of_global in list(held)[:1]:
        remedy += f", or set {name_of_global} on the loaded module"
    if sibling is not None:
        remedy += f', or load the module that defines it: real=["{sibling}"]'
    return GhostValue(
        f"{site}: the code asked {question} at run time, but {name} is a ghost: it was "
        "imported from something that is neither loaded nor provided, so it has no value.",
        limit="Any answer would send the test down a branch by accident.",
        remedy=f"{remedy}.",
    )
