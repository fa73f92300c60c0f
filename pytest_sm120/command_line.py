"""The ``sm120`` console script; ``python -m pytest_sm120`` is the same."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; return the exit status: 0, or 2 for misuse."""
    parser = _make_parser()
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help(sys.stderr)
        return 2
    from pytest_sm120.tiers.doctor import describe_machine

    sys.stdout.write(describe_machine())
    return 0


def _make_parser() -> argparse.ArgumentParser:
    from pytest_sm120 import __version__

    parser = argparse.ArgumentParser(
        prog="sm120", description="Checks around host-side Python for SM120 and SM121 kernels."
    )
    parser.add_argument("--version", action="version", version=f"pytest-sm120 {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser(
        "doctor", help="say which tiers this machine can run, why others cannot, what to install"
    )
    return parser
