"""Writes torch's answers to the expressions that answers.txt lists.

Usage, from the root of the repository: python -m tests.tables.write_torch_answers
"""

from __future__ import annotations

import importlib
import warnings

from tests.stand_ins.torch_stand_in.answers import FILE, answer


def main() -> None:
    """Rewrite the file: a line for each expression, then a tab and the answer."""
    torch = importlib.import_module("torch")
    warnings.simplefilter("ignore")
    expressions = [line.partition("\t")[0] for line in FILE.read_text("utf-8").splitlines()]
    lines = [f"{expression}\t{answer(torch, expression)}\n" for expression in expressions]
    FILE.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
