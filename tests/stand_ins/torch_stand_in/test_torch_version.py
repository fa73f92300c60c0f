from __future__ import annotations

import pytest
from packaging.version import Version

from pytest_sm120.stand_ins.torch_stand_in.torch_version import TorchVersion


@pytest.mark.parametrize(
    "other", ["2.9", "2.9.1", "2.13.0rc1", (2, 9), (2, 13, 0, "rc1"), Version("2.9")]
)
def test_torch_is_newer_than_versions_with_smaller_numbers(torch, other):
    assert torch.__version__ > other
    assert torch.__version__ >= other
    assert not torch.__version__ < other
    assert not torch.__version__ <= other
    assert torch.__version__ != other


@pytest.mark.parametrize("other", ["2.13.0", "2.13", (2, 13), Version("2.13.0")])
def test_torch_has_the_version_that_is_written_otherwise(torch, other):
    assert torch.__version__ == other
    assert torch.__version__ >= other
    assert torch.__version__ <= other
    assert (torch.__version__ != other) is False


def test_version_is_a_text(torch):
    assert torch.__version__.split(".")[:2] == ["2", "13"]
    assert {torch.__version__: 1}["2.13.0"] == 1


def test_version_compares_as_a_text_with_what_is_no_version(torch):
    assert torch.__version__ != "main"
    assert torch.__version__ < "main"


def test_version_is_that_of_torch_version_too(modules):
    assert modules["torch.torch_version"].__version__ is modules["torch"].__version__
    assert modules["torch.torch_version"].TorchVersion is TorchVersion


def test_target_imports_the_version_from_where_torch_keeps_it(tmp_path):
    from tests.stand_ins.bench import Bench

    bench = Bench(tmp_path)
    try:
        target = bench.load("from torch.torch_version import TorchVersion, __version__\n")
        assert TorchVersion(target.__version__) > TorchVersion("2.4")
    finally:
        bench.close()
