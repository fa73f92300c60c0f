"""docs/contracts.md names every clause and every field of every contract, and no others."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from pytest_sm120 import Implementations, KernelArguments, Scratch, Siblings
from pytest_sm120.contracts.argument_clauses import ARGUMENT_CLAUSES
from pytest_sm120.contracts.clauses import CLAUSES
from pytest_sm120.contracts.implementation_clauses import ATTRIBUTES
from pytest_sm120.contracts.sibling_clauses import SIBLING_CLAUSES

PAGE = Path(__file__).parents[2] / "docs" / "contracts.md"
CONTRACTS = {
    "Scratch": (Scratch, [clause.name for clause in CLAUSES]),
    "KernelArguments": (KernelArguments, [clause.name for clause in ARGUMENT_CLAUSES]),
    "Siblings": (Siblings, [clause.name for clause in SIBLING_CLAUSES]),
    "Implementations": (Implementations, [ATTRIBUTES]),
}


def first_column(section, heading):
    """The cells of the first column of the table with this heading, split at commas."""
    _, _, rest = section.partition(f"| {heading} | ")
    rows = rest.partition("\n\n")[0].splitlines()[2:]
    cells = [row.split("|")[1].strip() for row in rows]
    return [part.strip("` ") for cell in cells for part in cell.split(",")]


def section_of(name):
    sections = re.split(r"\n## ", PAGE.read_text("utf-8"))
    [section] = [each for each in sections if each.partition("\n")[0].endswith(f"`{name}`")]
    return section


@pytest.mark.parametrize("name", CONTRACTS)
def test_page_lists_the_clauses_of_the_contract(name):
    _, names = CONTRACTS[name]
    assert sorted(first_column(section_of(name), "clause")) == sorted(names)


@pytest.mark.parametrize("name", CONTRACTS)
def test_page_lists_the_fields_of_the_contract(name):
    kind, _ = CONTRACTS[name]
    listed = first_column(section_of(name), "field")
    assert listed == [field.name for field in fields(kind)]


@pytest.mark.parametrize("name", CONTRACTS)
def test_page_begins_with_a_row_for_the_contract(name):
    assert f"| [`{name}`](#" in PAGE.read_text("utf-8").partition("\n## ")[0]
