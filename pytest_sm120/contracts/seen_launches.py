"""What the driven calls show of one kernel: every launch of it, with what it was given."""

from __future__ import annotations

from typing import NamedTuple

from pytest_sm120.contracts.kernel_arguments import Given, KernelArguments, Name
from pytest_sm120.contracts.steps import Driven, DrivenStep, PlannedStep
from pytest_sm120.errors import UsageError
from pytest_sm120.recorder.recording import Recording, names_match
from pytest_sm120.recorder.records import Call, Launch, Record, TensorView


class SeenLaunch(NamedTuple):
    """One launch of the contract's kernel, or one call of it where it is not there."""

    plan: PlannedStep
    record: Launch | Call
    given: Given

    @property
    def text(self) -> str:
        """``launches _kernel`` or ``calls name``, with the function that does it in front."""
        record = self.record
        done = f"launches {record.kernel}" if isinstance(record, Launch) else f"calls {record.name}"
        return f"{record.function} {done}"

    def tensor(self, name: Name) -> TensorView:
        """Return the tensor that an argument is; UsageError when it is none."""
        value = self.value(name)
        if not isinstance(value, TensorView):
            raise UsageError(
                f"{self.record.site}: {self.text} with {name} = {value!r}, which is no tensor.",
                limit="zeroed=, strides=, needs_bytes= and dtypes= are about tensors.",
                remedy="Name the argument that is the tensor.",
            )
        return value

    def value(self, name: Name) -> object:
        """Return what an argument is; UsageError when there is none of this name."""
        if name not in self.given:
            raise UsageError(
                f"{self.record.site}: {self.text}, and it has no argument {name!r}.",
                limit=f"It is given {', '.join(map(str, self.given)) or 'nothing'}.",
                remedy="Correct the name in the contract.",
            )
        return self.given[name]


class SeenLaunches(NamedTuple):
    """Everything that the clauses on arguments judge."""

    contract: KernelArguments
    launches: tuple[SeenLaunch, ...]
    #: Everything that was recorded in the test, by order.
    records: list[Record]
    steps: tuple[DrivenStep, ...]


def look_at_launches(
    contract: KernelArguments, driven: Driven, recording: Recording
) -> SeenLaunches:
    """Find the kernel's launches in the driven steps.

    Raises UsageError when there is none though the calls went through.
    """
    launches = [
        SeenLaunch(step.plan, record, _given_to(record))
        for step in driven.steps
        for record in step.step.records()
        if isinstance(record, (Launch, Call)) and _is_meant(record, contract.kernel)
    ]
    if not launches and driven.error is None:
        raise _explain_no_launch(contract, driven)
    return SeenLaunches(contract, tuple(launches), recording.records(), driven.steps)


def _is_meant(record: Launch | Call, kernel: str) -> bool:
    empty = isinstance(record, Launch) and record.empty
    return not empty and names_match(_name_of(record), kernel)


def _shown(record: Launch | Call) -> str:
    empty = isinstance(record, Launch) and record.empty
    return _name_of(record) + (" with a grid of no programs" if empty else "")


def _name_of(record: Launch | Call) -> str:
    return record.kernel if isinstance(record, Launch) else record.name


def _given_to(record: Launch | Call) -> Given:
    given: dict[Name, object] = {}
    given.update(enumerate(record.args) if isinstance(record, Call) else record.args)
    given.update(record.kwargs if isinstance(record, Call) else {})
    return given


def _explain_no_launch(contract: KernelArguments, driven: Driven) -> UsageError:
    records = [record for step in driven.steps for record in step.step.records()]
    seen = dict.fromkeys(_shown(record) for record in records if isinstance(record, (Launch, Call)))
    return UsageError(
        f"drive launched no {contract.kernel}, so there are no arguments to judge.",
        limit=f"It launched or called {', '.join(seen) or 'nothing'}.",
        remedy="Correct the kernel's name in the contract, or let drive take the path that"
        " launches it.",
    )
