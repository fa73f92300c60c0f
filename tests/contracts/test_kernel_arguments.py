"""KernelArguments that cannot be understood, and what fits no launch, are refused by name."""

from __future__ import annotations

import re

import pytest

from pytest_sm120 import KernelArguments
from pytest_sm120.contracts import check
from pytest_sm120.errors import ContractBroken, UnknownOperation, UsageError
from tests.contracts.fake_targets import Driven, FakeBench, Options

__sm120_target__ = True

REFUSED: dict[str, tuple[Options, str]] = {
    "kernel": (
        {"kernel": ""},
        "KernelArguments('') does not name a kernel. A kernel is named by its function, as recorded"
        " launches are. Write its name as a text, e.g."
        ' KernelArguments("_page_split_kernel", ...).',
    ),
    "nothing": (
        {"zeroed": ()},
        "KernelArguments('kernel') promises nothing. It is judged on zeroed=, strides=, sizes=,"
        ' needs_bytes= and dtypes=. Name what the kernel counts on, e.g. zeroed=["counters"].',
    ),
    "arrangement": (
        {"arrangements": ["sparse"]},
        "KernelArguments(arrangements=) names 'sparse'. Known are 'padded' and 'transposed'. Leave"
        " arrangements= out to try both.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_contract_is_refused_when_a_field_cannot_be_understood(name):
    fields, message = REFUSED[name]
    with pytest.raises(UsageError) as caught:
        KernelArguments(**{"kernel": "kernel", "zeroed": "x", **fields})
    assert str(caught.value) == message


@pytest.mark.parametrize("fields", [{"dtypes": {"x": "int33"}}, {"other_dtypes": ["int33"]}])
def test_contract_is_refused_when_torch_has_no_such_dtype(fields):
    with pytest.raises(UsageError, match="'int33' is not a dtype that torch has"):
        KernelArguments("kernel", zeroed="x", **fields)


def launching(**given):
    bench = FakeBench()

    def drive(size, device, dtype="uint8"):
        values = {name: value(bench, size) for name, value in given.items()}
        bench.launch("kernel", **values)

    return Driven(bench, drive)


def zeros(bench, size):
    return bench.allocate("torch.zeros", (size, 16), fill=0)


def message_of(error, contract, target, **options):
    with pytest.raises(error) as caught:
        check(contract, target, bench=target.bench, **options)
    return re.sub(r"fake_targets\.py:\d+", "fake_targets.py:N", str(caught.value))


WRONG: dict[str, tuple[Options, str]] = {
    "no such argument": (
        {"zeroed": "y"},
        "fake_targets.py:N: launch launches kernel, and it has no argument 'y'. It is given x, n."
        " Correct the name in the contract.",
    ),
    "no tensor": (
        {"zeroed": "n"},
        "fake_targets.py:N: launch launches kernel with n = 4, which is no tensor. zeroed=,"
        " strides=, needs_bytes= and dtypes= are about tensors. Name the argument that is the"
        " tensor.",
    ),
    "strides of another rank": (
        {"strides": {"x": ("n",)}},
        "KernelArguments(strides=) has ('n',) for 'x', which is uint8[4, 16] on cuda:0"
        " (fake_targets.py:N). There is one entry for each dimension: a parameter's name, a number"
        " or None. Write e.g. strides={'x': (\"stride_row\", 1)} for a matrix.",
    ),
    "strides in a text": (
        {"strides": {"x": "nn"}},
        "KernelArguments(strides=) has 'nn' for 'x', which is uint8[4, 16] on cuda:0"
        " (fake_targets.py:N). There is one entry for each dimension: a parameter's name, a number"
        " or None. Write e.g. strides={'x': (\"stride_row\", 1)} for a matrix.",
    ),
    "function that raises": (
        {"sizes": {"n": lambda given: given["m"]}},
        "KernelArguments(sizes=) raised KeyError: 'm' for 'n'. The function takes what the launch"
        ' is given, which is: x, n. Write it as in sizes={"width": lambda args:'
        ' args["table"].shape[1]}.',
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_contract_that_fits_no_launch_is_a_usage_error(name):
    fields, message = WRONG[name]
    target = launching(x=zeros, n=lambda bench, size: size)
    assert message_of(UsageError, KernelArguments("kernel", **fields), target) == message


def test_kernel_that_is_never_launched_is_a_usage_error():
    target = launching(x=zeros)
    assert message_of(UsageError, KernelArguments("other", zeroed="x"), target) == (
        "drive launched no other, so there are no arguments to judge. It launched or called"
        " kernel. Correct the kernel's name in the contract, or let drive take the path that"
        " launches it."
    )


def test_nothing_launched_is_said():
    target = Driven(FakeBench(), lambda size, device: None)
    message = message_of(UsageError, KernelArguments("kernel", zeroed="x"), target)
    assert "It launched or called nothing." in message


def test_error_of_the_drive_is_reported_with_what_was_judged_before():
    bench = FakeBench()

    def drive(size, device):
        bench.launch("kernel", x=zeros(bench, size))
        if size < 4:
            raise KeyError(size)

    target = Driven(bench, drive)
    assert message_of(ContractBroken, KernelArguments("kernel", zeroed="x"), target) == (
        "The contract for the arguments of kernel could not be judged to the end.\n\n"
        'In the step "smaller" (size 2 on cuda:0) drive raised KeyError: 2. That call and those'
        " after it were not judged."
    )


def test_error_that_is_no_refusal_ends_the_further_calls():
    bench = FakeBench()

    def drive(size, device):
        bench.launch("kernel", x=zeros(bench, size))
        if bench.arrangement:
            raise UnknownOperation("not modelled.")

    target = Driven(bench, drive)
    contract = KernelArguments("kernel", strides={"x": (None, 1)})
    assert message_of(ContractBroken, contract, target) == (
        "The contract for the arguments of kernel could not be judged to the end.\n\n"
        'In the step "padded" (size 4 on cuda:0) drive raised UnknownOperation: not modelled. That'
        " call and those after it were not judged."
    )


def test_random_orders_are_refused():
    target = launching(x=zeros)
    contract = KernelArguments("kernel", zeroed="x")
    assert message_of(UsageError, contract, target, thorough=True) == (
        "sm120.check(thorough=True) was asked for KernelArguments. Random orders of calls are"
        " compared with a model of a buffer, which only a Scratch has. Leave thorough=True out."
    )


def test_missing_drive_is_refused():
    with pytest.raises(UsageError) as caught:
        check(KernelArguments("kernel", zeroed="x"), bench=FakeBench())
    assert str(caught.value) == (
        "sm120.check was given KernelArguments without drive=. This contract is judged on what the"
        " code under test does when it is called. Pass drive=lambda size, device: ..., which calls"
        " it once."
    )


def test_what_is_no_contract_is_refused():
    contract: Options = {"kernel": "kernel"}
    with pytest.raises(UsageError) as caught:
        check(contract, print, bench=FakeBench())  # type: ignore[arg-type]  # that is the test
    assert str(caught.value) == (
        "sm120.check was given {'kernel': 'kernel'}. It tests a contract: Scratch,"
        " KernelArguments, Siblings or Implementations. Import one of them from pytest_sm120."
    )


def test_dimension_of_one_element_may_have_any_stride():
    target = launching(
        x=lambda bench, size: bench.allocate("torch.zeros", (1, 16)), n=lambda bench, size: size
    )
    check(KernelArguments("kernel", strides={"x": ("n", 1)}), target, bench=target.bench)


def test_dtype_may_be_one_of_several():
    target = launching(x=zeros)
    contract = KernelArguments("kernel", dtypes={"x": ["int8", "uint8"]})
    result = check(contract, target, bench=target.bench)
    assert str(result) == (
        "The contract for the arguments of kernel holds in all 1 clauses judged.\n"
        "  skipped  zeroed since the last writer  not asked for (zeroed=())\n"
        "  skipped  strides                       not asked for (strides={})\n"
        "  skipped  sizes                         not asked for (sizes={})\n"
        "  skipped  bytes                         not asked for (needs_bytes={})\n"
        "  held     dtypes"
    )
