"""The names of torch that host code around kernels uses, most used first, with their counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import Ghost

NAMES = [
    line.partition("\t")[0]
    for line in Path(__file__).with_name("vocabulary.txt").read_text("utf-8").splitlines()
]

#: Seldom used, and not modelled: ghosts, operators of other packages, and refused methods.
NOT_MODELLED = {
    "torch.nn.functional.conv1d",
    "torch.profiler",
    "torch.profiler.record_function",
    "torch.distributed",
    "torch.distributed.all_to_all_single",
    ".numpy",
}


def is_modelled(torch: Any, name: str) -> bool:
    """Return whether the name leads to something that works; AttributeError if nowhere."""
    found = torch if name.startswith("torch") else torch.zeros(2, 2, device="cuda")
    for part in name.split(".")[1:]:
        found = getattr(found, part)
        if isinstance(found, Ghost):
            return False
    return getattr(found, "__name__", "") != "refuse"


@pytest.mark.parametrize("name", NAMES[:150])
def test_name_that_is_used_often_is_modelled(torch, name):
    assert is_modelled(torch, name)


@pytest.mark.parametrize("name", NAMES[150:])
def test_name_that_is_used_seldom_is_modelled_or_declared(torch, name):
    foreign = name.startswith("torch.ops.")
    assert is_modelled(torch, name) != (name in NOT_MODELLED or (foreign and name.count(".") > 2))


def test_what_is_declared_as_not_modelled_is_used():
    assert set(NAMES[150:]) >= NOT_MODELLED
