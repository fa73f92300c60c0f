"""The miniature of a user's repository works as its README says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2] / "examples" / "upstream_repo"


@pytest.fixture
def checkout(tmp_path):
    return Path(shutil.copytree(REPOSITORY, tmp_path / "repository"))


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "sm120", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_repository_passes_its_own_tests(checkout):
    done = run_pytest(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    assert "sm120: 0.1.0, tiers source, record; arch sm_121; root" in done.stdout


def test_repository_fails_when_the_fix_is_undone(checkout):
    target = checkout / "python/minikernels/ops/block_gather.py"
    text = target.read_text(encoding="utf-8")
    undone = text.replace("torch.zeros(count", "torch.empty(count")
    line = 1 + undone[: undone.index("torch.empty(count")].count("\n")
    target.write_text(undone, encoding="utf-8")
    done = run_pytest(checkout)
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert f"block_gather.py:{line}: gather_blocks allocates" in done.stdout
