"""What a target does to the classes of the stand-ins ends with the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sm120.stand_ins.torch_stand_in import TORCH_CLASSES, Tensor
from pytest_sm120.stand_ins.triton_stand_in import TRITON_CLASSES
from tests.stand_ins.bench import Bench

PATCHES = """
import torch, triton
import triton.language as tl
torch.Tensor.added = 1
torch.Tensor.numel = lambda self: -1
torch.nn.Module.weight_loader = 2
del torch.nn.Module.forward
triton.Config.extra = 3
tl.constexpr.__bool__ = lambda self: False
kept = torch.Tensor.sum
"""


def test_attributes_of_shared_classes_are_as_before(bench: Bench) -> None:
    before = {kind: dict(vars(kind)) for kind in (*TORCH_CLASSES, *TRITON_CLASSES)}
    module = bench.load(PATCHES)
    assert (module.torch.Tensor.added, module.triton.Config.extra) == (1, 3)
    bench.loader.close()
    for kind, attributes in before.items():
        for name, value in attributes.items():
            assert vars(kind).get(name) is value or name == "__dict__"
        added = {name: vars(kind)[name] for name in vars(kind).keys() - attributes.keys()}
        assert all(value.__module__.startswith("pytest_sm120.") for value in added.values())


def test_what_computes_stays_on_the_class_once_it_was_read(bench: Bench) -> None:
    module = bench.load(PATCHES)
    bench.loader.close()
    assert vars(Tensor)["sum"] is module.kept


@pytest.mark.parametrize(
    "dotted", ["Tensor", "Size", "dtype", "device", "nn.Parameter", "nn.Module"]
)
def test_shared_classes_of_torch_are_known(bench: Bench, dotted: str) -> None:
    assert bench.load(f"import torch\nfound = torch.{dotted}\n").found in TORCH_CLASSES


@pytest.mark.parametrize("name", ["Stream", "Event", "CUDAGraph"])
def test_class_that_knows_its_test_belongs_to_that_test(tmp_path: Path, name: str) -> None:
    found = []
    for number in range(2):
        bench = Bench(tmp_path / str(number))
        module = bench.load(
            f"import torch\ntorch.cuda.{name}.added = 1\nmade = torch.cuda.{name}()\n"
        )
        assert type(module.made) is getattr(module.torch.cuda, name)
        found.append(getattr(module.torch.cuda, name))
        bench.close()
    assert found[0] is not found[1]
    assert not any(hasattr(base, "added") for base in found[0].__mro__[1:])
