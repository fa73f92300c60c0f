"""What the cases share: each loads a text of its own, as bad as upstream's was or mended."""

from __future__ import annotations

import textwrap

import pytest

from pytest_sm120.errors import ContractBroken


@pytest.fixture
def load(sm120, tmp_path):
    """A function that runs a text as a target file of this name and returns the module."""

    def load_text(text, name="target", **options):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return sm120.load(path, **options)

    return load_text


@pytest.fixture
def broken(sm120):
    """A function that checks a contract which must be broken, and returns the whole report."""

    def report(contract, drive=None, **options):
        with pytest.raises(ContractBroken) as caught:
            sm120.check(contract, drive, **options)
        return str(caught.value)

    return report
