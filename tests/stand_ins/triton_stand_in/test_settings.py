"""What a target sets before a launch, and a launch of the record tier never needs."""

from __future__ import annotations

import pytest

from tests.stand_ins.bench import Bench


def test_allocator_of_descriptors_is_accepted_and_never_asked(bench: Bench) -> None:
    target = bench.load(
        """
        import triton

        @triton.jit
        def kernel(x_ptr):
            pass

        def run(x, allocator):
            triton.set_allocator(allocator)
            kernel[(1,)](x)
        """
    )
    target.run(bench.tensor(8), lambda *_: pytest.fail("nothing of this size was known"))
    [record] = bench.recording.records()
    assert record in bench.recording.launches()
