"""A seen key fits a wanted one exactly, as part of a path, or not at all."""

from __future__ import annotations

import pytest

from pytest_sm120.contracts.keys import rank_of_key
from pytest_sm120.tensors.devices import Device


@pytest.mark.parametrize(
    ("seen", "wanted", "rank"),
    [
        ("split:cuda:0", "split:cuda:0", 0),
        (("ws", Device("cuda:0")), ("ws", "cuda:0"), 0),
        (("ws", "cuda:0"), ("ws", Device("cuda:0")), 0),
        (0, 0, 0),
        ("_cache['cuda:0']", "_cache['cuda:0']", 0),
        ("_cache[('ws', 'cuda:0')]", ("ws", "cuda:0"), 1),
        ("_cache['ws:cuda:0']", "ws:cuda:0", 1),
        ("_cache[0]", 0, 1),
        ("state.buffer", "buffer", 1),
        ("state.buffer['cuda:0'][1]", "buffer", 1),
        ("ws:cuda:0[1]", "ws:cuda:0", 1),
        ("('ws', 'cuda:0')[0]", ("ws", "cuda:0"), 1),
        ("ws:cuda:01", "ws:cuda:0", None),
        ("my_ws:cuda:0", "ws:cuda:0", None),
        ("state.buffers", "buffer", None),
        ("_cache[('ws', 'cuda:1')]", ("ws", "cuda:0"), None),
        (("ws", "cuda:0"), "ws", None),
        (1, 0, None),
    ],
)
def test_rank_of_key(seen, wanted, rank):
    assert rank_of_key(seen, wanted) == rank
