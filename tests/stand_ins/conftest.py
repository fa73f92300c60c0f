from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stand_ins.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


@pytest.fixture
def modules() -> Iterator[None]:
    """Undo what these tests themselves import."""
    before = dict(sys.modules)
    yield
    for name in [name for name in sys.modules if name not in before]:
        del sys.modules[name]


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that any import finds."""
    folder = tmp_path_factory.mktemp("installed")
    monkeypatch.syspath_prepend(folder)
    return folder
