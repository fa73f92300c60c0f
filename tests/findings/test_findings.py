from __future__ import annotations

import pytest

from pytest_sm120.findings import Finding


def finding(**changed: str) -> Finding:
    told = Finding(
        code="initial value",
        site="scratch.py:5",
        cause="The buffer comes from torch.empty.",
        limit="Rows that a launch skips keep old bytes.",
        remedy="Allocate with torch.zeros.",
    )
    return told._replace(**changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {},
            "scratch.py:5: The buffer comes from torch.empty. Rows that a launch skips keep old "
            "bytes. Allocate with torch.zeros.",
        ),
        (
            {"limit": ""},
            "scratch.py:5: The buffer comes from torch.empty. Allocate with torch.zeros.",
        ),
        (
            {"limit": "", "site": ""},
            "The buffer comes from torch.empty. Allocate with torch.zeros.",
        ),
    ],
)
def test_message_is_site_cause_limit_and_remedy(changed: dict[str, str], message: str) -> None:
    assert finding(**changed).message == message


def test_finding_refuses_to_be_changed() -> None:
    with pytest.raises(AttributeError, match="can't set attribute"):
        finding().site = "other.py:1"  # type: ignore[misc]  # that it is refused is what is shown
