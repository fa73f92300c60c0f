from __future__ import annotations

from tests.tables.write_operations import PAGE, write_page


def test_page_of_operations_is_what_the_stand_in_does():
    assert PAGE.read_text("utf-8") == write_page(), (
        "docs/operations.md is stale; run python -m tests.tables.write_operations"
    )


def test_page_tells_views_writes_and_new_memory_apart():
    rows = write_page().splitlines()
    for row in (
        "| `transpose` | yes | yes | | view | known |",
        "| `add` | yes | yes | yes | new | known |",
        "| `contiguous` | | yes | | itself | known |",
        "| `copy_` | | yes | | write | known |",
        "| `empty` | yes | | | new | unknown |",
        "| `numel` | yes | yes | | int | |",
    ):
        assert row in rows
