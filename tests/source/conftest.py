from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from pytest_sm120.source import SourceView, read_source


@pytest.fixture(scope="session")
def view(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], SourceView]:
    """Writes a text to target.py and reads it; of session scope for the property tests."""
    path = tmp_path_factory.mktemp("source") / "target.py"

    def write_and_read(text: str) -> SourceView:
        path.write_text(dedent(text), encoding="utf-8")
        return read_source(path)

    return write_and_read
