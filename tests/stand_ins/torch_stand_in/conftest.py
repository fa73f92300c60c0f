from __future__ import annotations

import pytest

from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in import build_torch


class Ghost:
    """Stands for the ghosts that another module makes."""

    __sm120_opaque__ = True

    def __init__(self, name):
        self.name = name

    def __int__(self):
        raise ValueError(f"{self.name} is a ghost")

    __index__ = __int__

    def __sm120_asked__(self, question):
        raise ValueError(f"{self.name} is a ghost, asked {question.format(self.name)}")


@pytest.fixture
def execution():
    return Execution()


@pytest.fixture
def modules(execution):
    return build_torch(execution, Ghost)


@pytest.fixture
def torch(modules):
    return modules["torch"]
