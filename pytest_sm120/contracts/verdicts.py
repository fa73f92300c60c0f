"""What a clause can say."""

from __future__ import annotations

from pytest_sm120.findings import Finding

#: A Finding breaks the clause, a text says why it cannot be judged, None means that it holds.
Verdict = Finding | str | None

#: Said where the clause on the key names the cause.
NOT_FOUND = 'the buffer was not found (see "registered under its key")'

#: Said by the clauses on a grown buffer when there is none.
NO_GROWTH = "the larger call allocated no other buffer"

#: How a clause that the contract leaves out begins; the field that leaves it out follows.
NOT_ASKED_FOR = "not asked for"
