from __future__ import annotations

from pathlib import Path

import pytest

from .answers import answer, recorded

# Expressions whose contents the stand-in does not follow: their geometry alone is compared. A
# stand-in that forgot more than these would otherwise pass.
NOT_FOLLOWED = frozenset(
    Path(__file__).with_name("not_followed.txt").read_text("utf-8").splitlines()
)


@pytest.mark.parametrize(("expression", "expected"), recorded(), ids=lambda text: text[:40])
def test_expression_comes_to_what_torch_answers(torch, expression, expected):
    found = answer(torch, expression)
    assert ("= unknown" in found) == (expression in NOT_FOLLOWED)
    if expression in NOT_FOLLOWED:
        expected, found = (text.partition(" = ")[0] for text in (expected, found))
    assert found == expected


def test_every_expression_that_is_not_followed_is_recorded():
    assert {expression for expression, _ in recorded()} >= NOT_FOLLOWED
