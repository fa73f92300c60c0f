"""Prints what the plugin costs, as ratios from one run.

    python tests/benchmarks/startup.py

Runs the acceptance suite on the fixed copy of SGLang's file as a whole ``pytest -p sm120`` process,
in turns with a bare pytest process that has one empty test, and compares the medians. Then reads
from ``-X importtime`` what importing the plugin costs and loads. Fails when a test that is counted
did not run, or when a bound of ``BOUNDS`` is passed.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.upstream.test_split_scratch import COMMENTED, EXPECTED, SUITE, make_variant
from tests.upstream.wheels import SGLANG, cache_folder, fetch_sources

ROUNDS = 21

BOUNDS = {
    "suite / bare": 1.6,
    "plugin import and registration, ms": 10.0,
    "modules loaded by the plugin": 0,
}

# Plugins of the environment would be paid for on both sides and blur the ratio. Byte code is kept
# between runs, as it is on a user's machine.
ENVIRONMENT = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONHASHSEED": "0"}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)


def run_pytest(folder: Path, *arguments: str) -> tuple[float, str]:
    """Return the wall-clock seconds and the output of one pytest process."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    return time.perf_counter() - started, done.stdout + done.stderr


def require_passed(output: str, count: int) -> None:
    """End the script unless exactly this many tests ran and passed."""
    closing = output.strip().splitlines()[-1]
    if not re.match(rf"{count} passed in ", closing):
        sys.exit(f"expected {count} passed and nothing else, but pytest ended with:\n{output}")


def measure_suite(folder: Path) -> float:
    """Return the median of suite seconds over the median of bare seconds."""
    bare = folder / "bare"
    suite = folder / "suite"
    for place, text in ((bare, "def test_nothing(): pass\n"), (suite, SUITE.read_text("utf-8"))):
        place.mkdir()
        (place / "test_it.py").write_text(text, encoding="utf-8")
        (place / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    root = make_variant(fetch_sources(SGLANG, cache_folder()), folder / "fixed", COMMENTED)
    bare_seconds, suite_seconds = [], []
    for _ in range(ROUNDS):
        seconds, output = run_pytest(bare)
        require_passed(output, 1)
        bare_seconds.append(seconds)
        seconds, output = run_pytest(suite, "-p", "sm120", f"--sm120-root={root}")
        require_passed(output, len(EXPECTED))
        suite_seconds.append(seconds)
    print(f"bare pytest, median of {ROUNDS}: {statistics.median(bare_seconds):.3f} s")
    print(f"suite of {len(EXPECTED)} tests: {statistics.median(suite_seconds):.3f} s")
    return statistics.median(suite_seconds) / statistics.median(bare_seconds)


IMPORT_AND_REGISTER = """
import pytest, sys, time
from _pytest.config import get_config
config = get_config()
print("from here on", file=sys.stderr)
import pytest_sm120.plugin
started = time.perf_counter()
config.pluginmanager.register(pytest_sm120.plugin, "sm120")
print((time.perf_counter() - started) * 1000)
"""

IMPORT_TIME = re.compile(r"import time:\s*(\d+) \|\s*\d+ \|\s*(\S+)")


def measure_plugin() -> tuple[float, list[str]]:
    """Return the median milliseconds of import and registration, and what it loaded besides."""
    command = [sys.executable, "-X", "importtime", "-c", IMPORT_AND_REGISTER]
    milliseconds, loaded = [], set()
    for _ in range(ROUNDS):
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
        modules = IMPORT_TIME.findall(done.stderr.partition("from here on")[2])
        importing = sum(int(microseconds) for microseconds, _ in modules) / 1000
        milliseconds.append(importing + float(done.stdout))
        loaded |= {name for _, name in modules if not name.startswith("pytest_sm120")}
    return statistics.median(milliseconds), sorted(loaded)


def main() -> int:
    """Print the figures; return 1 when a bound is passed."""
    with tempfile.TemporaryDirectory() as folder:
        ratio = measure_suite(Path(folder))
    milliseconds, loaded = measure_plugin()
    figures = dict(zip(BOUNDS, (ratio, milliseconds, len(loaded)), strict=True))
    for name, figure in figures.items():
        print(f"{name}: {figure:.2f} (at most {BOUNDS[name]})")
    if loaded:
        print("loaded besides:", *loaded)
    return int(any(figure > BOUNDS[name] for name, figure in figures.items()))


if __name__ == "__main__":
    sys.exit(main())
