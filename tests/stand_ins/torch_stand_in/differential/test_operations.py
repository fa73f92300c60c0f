"""Every modelled operation against the real torch, on random tensors."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st

from .arguments import NOT_COMPARED, find_arguments
from .comparing import LOOSE_STRIDES, compare
from .inputs import tensors
from .modelled import list_modelled

EXAMPLES = int(os.environ.get("SM120_DIFFERENTIAL_EXAMPLES", "200"))
COMPARED = [modelled for modelled in list_modelled() if modelled.spelling not in NOT_COMPARED]

pytestmark = pytest.mark.filterwarnings("ignore")

torch = pytest.importorskip(
    "torch",
    reason="torch is not installed; the comparison with it runs after pip install torch==2.13.0",
)


@pytest.mark.parametrize("modelled", COMPARED, ids=lambda modelled: modelled.spelling)
def test_operation_is_as_in_torch(modelled):
    arguments = find_arguments(modelled)
    tally: Counter[str] = Counter()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def compare_examples(data):
        start = data.draw(tensors())
        expression = modelled.call(arguments.draw(data.draw, start))
        note(f"{start}; {expression}")
        compared = compare(torch, start, expression)
        tally["followed"] += bool(compared.followed)
        tally["not followed"] += compared.followed is False
        if not compared.done:
            reject()
        tally["compared"] += 1

    LOOSE_STRIDES.set(modelled.name == "einsum")
    compare_examples()
    assert tally["compared"] >= EXAMPLES
