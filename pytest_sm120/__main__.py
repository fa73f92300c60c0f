"""``python -m pytest_sm120`` runs the ``sm120`` console script."""

import sys

from pytest_sm120.command_line import main

if __name__ == "__main__":
    sys.exit(main())
