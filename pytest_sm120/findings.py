"""One finding: a place, what is wrong there, what was expected, and what to do."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """What a contract clause or a lint rule has to say about one place."""

    #: Short identifier of what was broken, e.g. ``"initial value"`` or ``"SM101"``.
    code: str
    #: ``"file.py:line"`` of the user's code, or ``""`` when the finding has no single place.
    site: str
    #: What happened, with the values seen. A full sentence.
    cause: str
    #: Why that matters, or what would have been accepted. Full sentences, or ``""``.
    limit: str
    #: What to do now. A full sentence.
    remedy: str

    @property
    def message(self) -> str:
        """The finding in one paragraph: ``site: cause limit remedy``."""
        text = " ".join(part for part in (self.cause, self.limit, self.remedy) if part)
        return f"{self.site}: {text}" if self.site else text
