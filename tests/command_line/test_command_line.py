from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from pytest_sm120.command_line import main
from pytest_sm120.tiers.doctor import describe_machine


def test_doctor_prints_the_machine_and_succeeds(capsys):
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out == describe_machine()


def test_no_command_prints_the_help_and_is_misuse(capsys):
    assert main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("usage: sm120 [-h] [--version] COMMAND ...\n")
    assert (
        "doctor    say which tiers this machine can run, why others cannot, what to install"
        in " ".join(printed.err.split()).replace("doctor say", "doctor    say")
    )


def test_version_is_printed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == "pytest-sm120 0.1.0\n"


def test_unknown_command_is_misuse(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["nonsense"])
    assert ended.value.code == 2
    assert "invalid choice: 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "first_line"), [(["doctor"], 0, "python "), (["nonsense"], 2, "")]
)
def test_module_runs_as_the_command(arguments, status, first_line):
    command = [sys.executable, "-m", "pytest_sm120", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert done.stdout.startswith(first_line)


def test_import_of_the_main_module_runs_no_command():
    assert importlib.import_module("pytest_sm120.__main__").main is main
