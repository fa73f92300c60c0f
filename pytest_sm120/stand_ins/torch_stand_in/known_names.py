"""Which names torch has, modelled here or not."""

from __future__ import annotations

from pathlib import Path

from pytest_sm120.stand_ins.stand_in_modules import read_names

_TABLE = Path(__file__).with_name("names.txt")


def torch_has(owner: str, name: str) -> bool:
    """Return whether ``owner`` (e.g. ``"torch"``, ``"torch.Tensor"``) has this attribute."""
    return name in read_names(_TABLE).get(owner, ())
