"""The record of one call in a source text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SourceCall:
    """One call, as it stands in the text."""

    #: Dotted name with aliases replaced: ``"torch.zeros"``, ``"Tensor.new_empty"``,
    #: ``"buffers.get"``. A call that picks one of several reads ``"torch.empty | torch.zeros"``.
    call: str
    #: Plain name of the dtype an allocation asks for, ``None`` when the text does not tell.
    dtype: str | None
    #: Line on which the call expression starts, the first being 1.
    line: int
    #: Column at which it starts, in characters, the first being 0.
    column: int
    #: Name of the innermost ``def`` around the call, ``"<module>"`` outside of any.
    function: str
    #: The same with the names of the functions and classes around it: ``"Runner.prepare"``.
    qualified_function: str
    #: The comments of the statement, one line each, without ``#``; ``""`` when it has none.
    comment: str
    #: ``"file.py:line"``.
    site: str
    #: The call expression as written.
    text: str
    #: Positional arguments as written, ``*rest`` and ``**options`` with their stars.
    arguments: tuple[str, ...]
    #: Keyword arguments as written, by name.
    keywords: Mapping[str, str] = field(hash=False)
