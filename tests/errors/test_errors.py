from __future__ import annotations

import pickle

import pytest

from pytest_sm120 import errors

KINDS = [
    errors.UsageError,
    errors.TargetError,
    errors.UnknownOperation,
    errors.UnknownValue,
    errors.GhostValue,
]


def test_message_is_cause_limit_and_remedy() -> None:
    error = errors.UsageError(
        'The arch is "sm_1".', limit="Known are sm_120 and sm_121.", remedy="Name one of them."
    )
    assert str(error) == 'The arch is "sm_1". Known are sm_120 and sm_121. Name one of them.'


@pytest.mark.parametrize(
    ("limit", "remedy", "message"),
    [("", "", "Cause."), ("Limit.", "", "Cause. Limit."), ("", "Remedy.", "Cause. Remedy.")],
)
def test_message_leaves_out_the_parts_that_were_not_given(
    limit: str, remedy: str, message: str
) -> None:
    assert str(errors.Sm120Error("Cause.", limit=limit, remedy=remedy)) == message


@pytest.mark.parametrize("kind", KINDS)
def test_error_keeps_kind_parts_and_message_when_pickled(kind: type[errors.Sm120Error]) -> None:
    copy = pickle.loads(pickle.dumps(kind("Cause.", limit="Limit.", remedy="Remedy.")))
    assert type(copy) is kind
    assert (copy.cause, copy.limit, copy.remedy) == ("Cause.", "Limit.", "Remedy.")
    assert str(copy) == "Cause. Limit. Remedy."


@pytest.mark.parametrize("kind", KINDS)
def test_error_is_caught_as_an_error_of_this_package(kind: type[errors.Sm120Error]) -> None:
    assert issubclass(kind, errors.Sm120Error)


def test_broken_contract_counts_as_a_failed_assertion() -> None:
    assert issubclass(errors.ContractBroken, AssertionError)


def test_softened_contract_warns_as_a_user_warning() -> None:
    assert issubclass(errors.HazardWarning, UserWarning)
