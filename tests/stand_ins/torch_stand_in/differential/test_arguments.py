from __future__ import annotations

import pytest

from .arguments import NOT_COMPARED, find_arguments
from .modelled import list_modelled

MODELLED = list_modelled()


@pytest.mark.parametrize("modelled", MODELLED, ids=lambda modelled: modelled.spelling)
def test_modelled_operation_has_arguments_to_be_compared_with(modelled):
    if modelled.spelling in NOT_COMPARED:
        assert NOT_COMPARED[modelled.spelling]
    else:
        assert isinstance(find_arguments(modelled).example, str)


def test_what_is_not_compared_is_modelled():
    assert set(NOT_COMPARED) <= {modelled.spelling for modelled in MODELLED}
