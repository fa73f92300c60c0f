"""Which names torch has, modelled here or not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("names.txt")


@cache
def _sections() -> dict[str, frozenset[str]]:
    lines = _FILE.read_text("utf-8").splitlines()[1:]
    owners = (line.strip("[]") for line in lines[::2])
    return {
        owner: frozenset(names.split()) for owner, names in zip(owners, lines[1::2], strict=True)
    }


def torch_has(owner: str, name: str) -> bool:
    """Return whether ``owner`` (e.g. ``"torch"``, ``"torch.Tensor"``) has this attribute."""
    return name in _sections().get(owner, ())
