"""What is no question to a contract is refused with cause, limit and remedy."""

from __future__ import annotations

import sys
from dataclasses import replace
from traceback import extract_tb

import pytest

from pytest_sm120.contracts import check
from pytest_sm120.errors import ContractBroken, UsageError
from tests.contracts.fake_targets import CONTRACT, FakeBench, Options, SplitScratch

ROLES = "They are the sizes of the first, the same, a smaller and a larger call."
SECOND = "The second device is where a buffer of its own is looked for."
WHOLE = (
    f" is not a list of one to four whole numbers from 1 on. {ROLES}"
    " Pass e.g. sizes=(4, 4, 2, 8), or fewer to leave calls out."
)
REFUSED: dict[str, tuple[Options, str]] = {
    "second size": (
        {"sizes": [4, 5]},
        f"sizes=(4, 5): 5 is not equal to 4. {ROLES} Pass e.g. sizes=(4, 4, 2, 8).",
    ),
    "third size": (
        {"sizes": [4, 4, 4]},
        f"sizes=(4, 4, 4): 4 is not smaller than 4. {ROLES} Pass e.g. sizes=(4, 4, 2, 8).",
    ),
    "fourth size": (
        {"sizes": [4, 4, 2, 3]},
        f"sizes=(4, 4, 2, 3): 3 is not larger than 4. {ROLES} Pass e.g. sizes=(4, 4, 2, 8).",
    ),
    "too many sizes": ({"sizes": [4, 4, 2, 8, 9]}, "sizes=[4, 4, 2, 8, 9]" + WHOLE),
    "size of zero": ({"sizes": [0]}, "sizes=[0]" + WHOLE),
    "size of text": ({"sizes": ["4"]}, "sizes=['4']" + WHOLE),
    "no sizes": ({"sizes": []}, "sizes=[]" + WHOLE),
    "one number": ({"sizes": 4}, "sizes=4" + WHOLE),
    "no devices": (
        {"devices": []},
        f"devices=[] does not name one or two devices. {SECOND}"
        " Pass e.g. devices=['cuda:0', 'cuda:1'], or one device in a list.",
    ),
    "device without list": (
        {"devices": "cuda:0"},
        f"devices='cuda:0' does not name one or two devices. {SECOND}"
        " Pass e.g. devices=['cuda:0', 'cuda:1'], or one device in a list.",
    ),
    "device twice": (
        {"devices": ["cuda:0", "cuda"]},
        f"devices=['cuda:0', 'cuda'] names cuda:0 twice. {SECOND} Name two devices, or pass"
        ' devices=["cuda:0"] to leave the second one out.',
    ),
    "no device": (
        {"devices": ["cuda:0", "gpu"]},
        "devices= names 'gpu', which is no device: Expected one of cpu, cuda, ipu, xpu, mkldnn,"
        " opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia,"
        " privateuseone device type at start of device string: gpu. A device is written as torch"
        " writes it. Pass e.g. devices=['cuda:0', 'cuda:1'].",
    ),
}


def refusal(drive, contract=CONTRACT, bench=None, **options):
    with pytest.raises(UsageError) as caught:
        check(contract, drive, bench=bench or FakeBench(), **options)
    return str(caught.value)


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_are_refused_before_anything_is_driven(name):
    options, message = REFUSED[name]
    assert refusal(pytest.fail, **options) == message


def test_key_without_the_device_is_accepted_for_one_device():
    target = SplitScratch(key=lambda device: "split")
    contract = replace(CONTRACT, key="split")
    assert not check(contract, target, bench=target.bench, devices=["cuda:0"]).findings


def test_shape_function_is_asked_before_anything_is_driven():
    def no_shape(size):
        return 1 // (size - 2)

    assert refusal(pytest.fail, replace(CONTRACT, shape=no_shape)) == (
        "Scratch(shape=) returned 0 for the size 4. A shape is a tuple of whole numbers that are"
        " not negative. Return a tuple, with a comma also when it has one dimension: (pages * 4,)."
    )


def test_buffer_that_is_there_already_is_refused():
    target = SplitScratch()
    target(4, "cuda:0")
    assert refusal(pytest.fail, bench=target.bench) == (
        '"split:cuda:0" already holds uint8[16, 16] on cuda:0 before the first step. A contract is'
        " judged from the first allocation on. Check it before anything else drives the target, or"
        " in a test of its own."
    )


def test_empty_placeholder_is_no_buffer():
    target = SplitScratch()
    target.buffers["split:cuda:0"] = target.bench.allocate("torch.empty", (0, 16))
    assert not check(CONTRACT, target, bench=target.bench).findings


def test_check_can_be_made_twice_since_it_leaves_the_holders_as_they_were():
    target = SplitScratch()
    check(CONTRACT, target, bench=target.bench)
    assert target.buffers == {}
    assert not check(CONTRACT, target, bench=target.bench).findings


def test_drive_that_allocates_nothing_is_refused():
    assert refusal(lambda size, device: None) == (
        'drive allocated nothing in the step "first" (size 4 on cuda:0), so there is no buffer to'
        ' hold to the contract for "split:{device}". The first call must be the one that allocates;'
        " tensors made with sm120.tensor are inputs and do not count. Let drive call the function"
        " that allocates, in the module that sm120.load returned, with nothing cached from an"
        " earlier call."
    )


def test_what_was_called_though_it_is_not_there_is_named_when_nothing_is_allocated():
    bench = FakeBench()
    with pytest.raises(UsageError) as caught:
        check(CONTRACT, lambda size, device: bench.call("lib.get_resources"), bench=bench)
    assert caught.value.cause == (
        'drive allocated nothing in the step "first" (size 4 on cuda:0), so there is no buffer to'
        ' hold to the contract for "split:{device}". It called what is neither loaded nor provided:'
        " lib.get_resources()."
    )


def test_thorough_is_refused_without_hypothesis(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert refusal(pytest.fail, thorough=True) == (
        "sm120.check(thorough=True) needs hypothesis, which is not installed. Random orders of"
        " calls are made and shortened by hypothesis. Run pip install hypothesis, or leave"
        " thorough=True out."
    )


def failing_from(target, size):
    def drive(asked, device):
        if asked == size:
            raise RuntimeError("boom")
        return target(asked, device)

    return drive


def broken(drive, target, **options):
    with pytest.raises(ContractBroken) as caught:
        check(CONTRACT, drive, bench=target.bench, **options)
    return caught.value


def test_drive_that_raises_is_named_with_its_step_and_kept_as_the_cause():
    target = SplitScratch()
    error = broken(failing_from(target, 8), target)
    assert str(error) == (
        'The contract for "split:{device}" could not be judged to the end.\n\n'
        'In the step "larger" (size 8 on cuda:0) drive raised RuntimeError: boom. That call and'
        " those after it were not judged."
    )
    assert isinstance(error.__cause__, RuntimeError)
    assert extract_tb(error.__cause__.__traceback__)[1].name == "drive"


def test_steps_before_the_one_that_raised_are_judged():
    target = SplitScratch(call="torch.empty", fill=None)
    error = broken(failing_from(target, 8), target)
    place = target.bench.recording.allocations()[0].site
    assert str(error) == (
        'The contract for "split:{device}" is broken in 1 of 9 clauses.\n\n'
        'In the step "larger" (size 8 on cuda:0) drive raised RuntimeError: boom. That call and'
        " those after it were not judged.\n\n"
        f'1. initial value: {place}: allocate allocates "split:cuda:0" with torch.empty; the'
        " contract asks for zeros. Rows that a launch skips keep what the allocator recycled."
        " Allocate with torch.zeros.\n\n"
        "Cost of the initial value: one memset of 256 bytes per (re)allocation, at size 4."
    )


def test_drive_that_raises_at_once_is_named():
    target = SplitScratch()
    assert str(broken(failing_from(target, 4), target)) == (
        'The contract for "split:{device}" could not be judged to the end.\n\n'
        'In the step "first" (size 4 on cuda:0) drive raised RuntimeError: boom. That call and'
        " those after it were not judged."
    )


def test_frames_between_the_test_and_the_error_are_hidden():
    target = SplitScratch(stored=False)
    frame, hidden = broken(target, target).__traceback__.tb_next, []
    while frame is not None:
        hidden.append(frame.tb_frame.f_locals.get("__tracebackhide__"))
        frame = frame.tb_next
    assert hidden and all(hidden)
