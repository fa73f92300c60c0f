"""Each name of the fixture, as a test uses it."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from pytest_sm120.errors import UsageError

SCRATCH = """
import torch

def grow(holder, count):
    holder.buffer = torch.zeros(count, dtype=torch.int32, device="cuda:0")
    return holder.buffer
"""


@pytest.fixture
def module(sm120, tmp_path):
    target = tmp_path / "grow.py"
    target.write_text(SCRATCH, encoding="utf-8")
    return sm120.load(target, name="pool.grow")


def test_load_gives_the_module_the_name_that_was_asked_for(module):
    assert module.__name__ == "pool.grow"


def test_tensor_and_values_are_no_allocations(sm120, module):
    tensor = sm120.tensor((2, 3), dtype="float16", device="cuda:1", strides=(4, 1))
    values = sm120.values([[1, -1]], dtype="int32", device="cuda:0")
    assert (tensor.shape, tensor.stride(), str(tensor.device)) == ((2, 3), (4, 1), "cuda:1")
    assert values.shape == (1, 2)
    assert sm120.recording.allocations() == []


def test_tensor_takes_its_strides_from_the_shape_when_none_are_given(sm120):
    assert sm120.tensor((2, 3)).stride() == (3, 1)


def test_numpy_gives_the_contents_back(sm120):
    values = sm120.numpy(sm120.values([[1, -1]], dtype="int32"))
    assert values.dtype == "int32" and values.tolist() == [[1, -1]]


def test_numpy_gives_float32_for_a_format_that_numpy_lacks(sm120):
    values = sm120.numpy(sm120.values([1.5], dtype="bfloat16"))
    assert values.dtype == "float32" and values.tolist() == [1.5]


def test_registry_records_the_key(sm120, module):
    buffers = sm120.registry()
    buffers["ws"] = module.grow(SimpleNamespace(), 4)
    assert [store.key for store in sm120.recording.stores("ws")] == ["ws"]


def test_watch_returns_the_object_and_finds_its_attribute(sm120, module):
    holder = SimpleNamespace()
    assert sm120.watch(holder) is holder
    module.grow(holder, 4)
    [made] = sm120.recording.allocations()
    assert made.registered_as == "buffer"


def test_step_collects_its_own_block(sm120, module):
    module.grow(SimpleNamespace(), 4)
    with sm120.step("grow") as step:
        module.grow(SimpleNamespace(), 8)
    assert [made.shape for made in step.allocations()] == [(8,)]


def test_source_reads_the_text_in_the_record_tier(sm120, module):
    [made] = sm120.source(module.__file__).allocations()
    assert (made.call, made.function) == ("torch.zeros", "grow")


def test_capture_is_what_the_target_sees(sm120, module):
    with sm120.session.capture():
        assert module.torch.cuda.is_current_stream_capturing()
    assert not module.torch.cuda.is_current_stream_capturing()


def test_inference_mode_is_what_the_target_sees(sm120, module):
    with sm120.session.inference_mode():
        assert module.torch.is_inference_mode_enabled()
    assert not module.torch.is_inference_mode_enabled()


def test_tier_and_arch_say_where_the_run_stands(sm120):
    assert repr(sm120) == "<sm120: tier record, arch sm_120>"
    assert sm120.session.tier == sm120.tier


def test_load_from_a_second_thread_is_refused_also_when_it_is_the_first(sm120, tmp_path):
    target = tmp_path / "grow.py"
    target.write_text(SCRATCH, encoding="utf-8")
    errors = []

    def load():
        try:
            sm120.load(target)
        except UsageError as error:
            errors.append(str(error))

    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
    assert errors == [
        f"sm120.load({str(target)!r}) was called from a second thread. The fixture belongs to the "
        "thread that runs the test, since a load changes sys.modules for the whole process. Load "
        "in the test itself, and hand the module to the threads."
    ]
    assert sm120.load(target)


def test_target_can_be_called_from_several_threads(sm120, module):
    threads = [
        threading.Thread(target=module.grow, args=(SimpleNamespace(), count)) for count in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = sm120.recording.allocations()
    assert sorted(each.shape for each in made) == [(0,), (1,), (2,), (3,)]
