"""Which comments belong to the statement on a line."""

from __future__ import annotations

import ast
import io
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_NO_CODE = {
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


class LogicalLine(NamedTuple):
    """A simple statement, or the header of a compound one, with every line it spans."""

    #: Its first line.
    first: int
    #: Its last line.
    last: int
    #: The column at which it starts: its indentation.
    column: int


@dataclass
class Comments:
    """The comments of one file and the logical lines they stand at."""

    #: Line -> text of the comment, without its ``#``.
    texts: dict[int, str] = field(default_factory=dict)
    #: Line -> column, for comments that have a line of their own between two statements.
    own_line: dict[int, int] = field(default_factory=dict)
    #: In the order of the text.
    logical: list[LogicalLine] = field(default_factory=list)

    def of_statement(self, line: int, with_line_of_first_statement: dict[int, int]) -> str:
        """The comments of the statement that spans ``line``, joined by line ends.

        These are the block directly above it and everything inside it or behind it; for the
        first statement of a ``with`` block also those of the ``with`` line.
        """
        statement = self._spanning(line)
        lines = set(self._lines_of(statement))
        while (above := with_line_of_first_statement.get(statement.first)) is not None:
            statement = self._spanning(above)
            lines.update(self._lines_of(statement))
        return self._joined(lines)

    def above(self, *lines: int) -> str:
        """The blocks directly above the statements on these lines, joined by line ends."""
        blocks = (self._block_above(self._index(line)) for line in lines)
        return self._joined({row for block in blocks for row in block})

    def _joined(self, lines: set[int]) -> str:
        return "\n".join(self.texts[line] for line in sorted(lines))

    def _index(self, line: int) -> int:
        return bisect_right(self.logical, line, key=lambda logical: logical.first) - 1

    def _spanning(self, line: int) -> LogicalLine:
        return self.logical[self._index(line)]

    def _lines_of(self, statement: LogicalLine) -> Iterator[int]:
        yield from self._block_above(self._index(statement.first))
        for line in range(statement.first, statement.last + 1):
            if line in self.texts:
                yield line

    def _block_above(self, index: int) -> Iterator[int]:
        statement = self.logical[index]
        ends_a_block = index > 0 and self.logical[index - 1].column > statement.column
        line = statement.first - 1
        while (column := self.own_line.get(line)) is not None:
            # Shallower: about something around the statement. Deeper, after a deeper block:
            # the last remark of that block.
            if column < statement.column or (ends_a_block and column > statement.column):
                return
            yield line
            line -= 1


def find_comments(text: str, first_line: int = 1) -> Comments:
    """Tokenize ``text``, which starts on ``first_line``; a ``#`` in a string is no comment."""
    found = Comments()
    start: tuple[int, int] | None = None
    for kind, string, begin, _, _ in tokenize.generate_tokens(io.StringIO(text).readline):
        line = begin[0] + first_line - 1
        if kind == tokenize.COMMENT:
            found.texts[line] = string.removeprefix("#").removeprefix(" ").rstrip()
            if start is None:
                found.own_line[line] = begin[1]
        elif kind == tokenize.NEWLINE and start is not None:
            found.logical.append(LogicalLine(start[0], line, start[1]))
            start = None
        elif start is None and kind not in _NO_CODE:
            start = (line, begin[1])
    return found


class FileComments:
    """The comments of a file, read only around the statements that are asked for.

    Tokenizing is most of the work of a query, so it is done for one top-level statement at a time,
    together with the one before it, whose indentation says whose remark a comment between is.
    """

    def __init__(self, lines: list[str], tree: ast.Module) -> None:
        self._lines = lines
        self._spans = _spans_of(tree)
        self._found: dict[int, Comments] = {}

    def around(self, line: int) -> Comments:
        """The comments of the top-level statement that spans ``line``, and of its neighbours."""
        position = bisect_right(self._spans, line, key=lambda span: span[0]) - 1
        if position not in self._found:
            first = self._spans[max(position - 1, 0)][0] if position else 1
            text = "\n".join(self._lines[first - 1 : self._spans[position][1]])
            self._found[position] = find_comments(f"{text}\n", first)
        return self._found[position]


def _spans_of(tree: ast.Module) -> list[tuple[int, int]]:
    """The first and last line of each top-level statement; those that share a line are one."""
    spans: list[tuple[int, int]] = []
    for node in tree.body:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        last = node.end_lineno or node.lineno
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return spans
