from __future__ import annotations

import pytest

from .answers import answer, recorded


@pytest.mark.parametrize(("expression", "expected"), recorded(), ids=lambda text: text[:40])
def test_expression_comes_to_what_torch_answers(torch, expression, expected):
    found = answer(torch, expression)
    if found.endswith("= unknown"):
        expected = expected.partition(" = ")[0]
        found = found.partition(" = ")[0]
    assert found == expected
