"""The contract of what each launch of one kernel is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_sm120.contracts.keys import describe
from pytest_sm120.contracts.steps import PlannedStep
from pytest_sm120.errors import UsageError
from pytest_sm120.tensors.arrangements import ARRANGEMENTS
from pytest_sm120.tensors.dtypes import find_dtype

#: An argument's name; for a call into what is not there also its position.
Name = str | int
#: What a launch was given: numbers as they are, tensors with shape, strides, dtype and device.
Given = Mapping[Name, Any]


@dataclass(frozen=True)
class KernelArguments:
    """What each launch of a kernel is given; ``sm120.check`` tests it with different inputs.

    A callee that is not there, such as a function of another package, counts as a kernel; its
    positional arguments are named by their position. Raises UsageError when a field cannot be
    understood.
    """

    #: The kernel function's name, or the dotted name of a callee or its end.
    kernel: str
    #: Arguments that must hold zeros when the kernel starts: names, or a mapping from each name to
    #: how many of its first bytes, or to a function of what the launch is given that returns that.
    #: ``"accumulated"`` stands for all that the kernel's text changes with atomics.
    zeroed: str | Sequence[Name] | Mapping[Name, int | Callable[[Given], int]] = ()
    #: Whether the kernel leaves zeros there itself when it ends.
    self_resets: bool = False
    #: Kernels whose launch leaves zeros in all that it is given.
    zeroing_kernels: Sequence[str] = ()
    #: For each tensor, by what the kernel multiplies the index of each dimension: the name of the
    #: parameter, or the number that its text takes for granted; None where it uses no stride.
    strides: Mapping[Name, Sequence[Name | None]] = field(default_factory=dict)
    #: In which ways inputs are laid out to test ``strides``, besides the dense one.
    arrangements: Sequence[Literal["padded", "transposed"]] = ("padded", "transposed")
    #: For each number, what it must be: a function of what the launch is given.
    sizes: Mapping[Name, Callable[[Given], int]] = field(default_factory=dict)
    #: For each tensor, how many bytes from its first one on the kernel may touch: a function of
    #: what the launch is given.
    needs_bytes: Mapping[Name, Callable[[Given], int]] = field(default_factory=dict)
    #: For each tensor its dtype, or the dtypes that are right.
    dtypes: Mapping[Name, str | Sequence[str]] = field(default_factory=dict)
    #: Further dtypes to call drive with, as ``drive(size, device, dtype=...)``: each call must be
    #: refused, or what it gives must be converted.
    other_dtypes: Sequence[str] = ()

    def __post_init__(self) -> None:
        _refuse_no_kernel(self.kernel)
        if not any((self.zeroed, self.strides, self.sizes, self.needs_bytes, self.dtypes)):
            raise UsageError(
                f"KernelArguments({self.kernel!r}) promises nothing.",
                limit="It is judged on zeroed=, strides=, sizes=, needs_bytes= and dtypes=.",
                remedy='Name what the kernel counts on, e.g. zeroed=["counters"].',
            )
        for arrangement in self.arrangements:
            _refuse_unknown_arrangement(arrangement)
        for names in (*map(self.dtypes_of, self.dtypes), self.other_dtypes):
            for name in names:
                find_dtype(name)

    @property
    def title(self) -> str:
        """How messages name the contract: by the kernel."""
        return f"the arguments of {self.kernel}"

    def dtypes_of(self, name: Name) -> list[str]:
        """Return the dtypes that are right for a tensor."""
        right = self.dtypes[name]
        return [right] if isinstance(right, str) else list(right)

    @property
    def zeroed_names(self) -> list[Name] | None:
        """The arguments that must hold zeros; None where the kernel's text says which."""
        if self.zeroed == "accumulated":
            return None
        return [self.zeroed] if isinstance(self.zeroed, str) else list(self.zeroed)

    def zeroed_bytes(self, name: Name, given: Given) -> int | None:
        """Return how many of an argument's first bytes must be zero, None for all of them."""
        if not isinstance(self.zeroed, Mapping):
            return None
        wanted = self.zeroed[name]
        return evaluate("zeroed", name, wanted, given) if callable(wanted) else wanted

    def more_steps(self, first: PlannedStep) -> list[PlannedStep]:
        """Return the calls that the contract asks for besides those that every contract has."""
        arranged = [
            first._replace(name=mode, mode=mode, may_refuse=True)
            for mode in (self.arrangements if self.strides else ())
        ]
        converted = [
            first._replace(
                name=f"as {dtype}", mode="ordinary", keywords={"dtype": dtype}, may_refuse=True
            )
            for dtype in self.other_dtypes
        ]
        return [*arranged, *converted]


def evaluate(what: str, name: Name, wanted: Callable[[Given], int], given: Given) -> int:
    """Return what a function of the contract says of a launch; UsageError when it raises."""
    try:
        return wanted(given)
    except Exception as error:
        known = ", ".join(map(str, given))
        raise UsageError(
            f"KernelArguments({what}=) raised {describe(error)} for {name!r}.",
            limit=f"The function takes what the launch is given, which is: {known}.",
            remedy='Write it as in sizes={"width": lambda args: args["table"].shape[1]}.',
        ) from error


def _refuse_no_kernel(kernel: object) -> None:
    if not (isinstance(kernel, str) and kernel):
        raise UsageError(
            f"KernelArguments({kernel!r}) does not name a kernel.",
            limit="A kernel is named by its function, as recorded launches are.",
            remedy='Write its name as a text, e.g. KernelArguments("_page_split_kernel", ...).',
        )


def _refuse_unknown_arrangement(arrangement: object) -> None:
    if arrangement not in ARRANGEMENTS:
        raise UsageError(
            f"KernelArguments(arrangements=) names {arrangement!r}.",
            limit=f"Known are {' and '.join(map(repr, ARRANGEMENTS))}.",
            remedy="Leave arrangements= out to try both.",
        )
