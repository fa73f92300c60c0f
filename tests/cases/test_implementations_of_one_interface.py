"""Every attribute that a dispatcher reads is there in each implementation that it may be given."""

from __future__ import annotations

from pytest_sm120 import Implementations

BACKENDS = """
    from serving.attention import AttentionImpl

    class SparseImpl(AttentionImpl):
        is_sparse = True

        def __init__(self):
            self.has_dense_prefill = True

    class SparseSm120Impl(AttentionImpl):
        is_sparse = True

        def __init__(self):
            self.workspace = None

    class DenseImpl(AttentionImpl):
        is_sparse = False

    class Layer:
        def __init__(self, impl):
            self.impl = impl

        def prefill(self, count):
            if self.impl.is_sparse and count > 0 and self.impl.has_dense_prefill:
                return "dense"
            return "sparse"
"""
MENDED = BACKENDS.replace(
    "            self.workspace = None",
    "            self.workspace = None\n            self.has_dense_prefill = False",
)


def contract_of(module):
    instances = [module.SparseImpl(), module.SparseSm120Impl(), module.DenseImpl()]
    return Implementations(module.Layer.prefill, called="self.impl", instances=instances)


def test_implementation_that_skips_its_siblings_init_is_told(load, broken):
    module = load(BACKENDS)
    assert broken(contract_of(module)) == (
        "The contract for the implementations that prefill may be given is broken in 1 of 3"
        " clauses.\n\n"
        "1. attributes of SparseSm120Impl: target.py:24: prefill reads self.impl.has_dense_prefill,"
        " and SparseSm120Impl has no such attribute. Its base AttentionImpl is not there to ask."
        " SparseImpl has it. It raises AttributeError as soon as that implementation is chosen. Set"
        " it in SparseSm120Impl, whichever __init__ runs, or load what defines AttentionImpl with"
        " real=."
    )


def test_implementations_that_have_what_is_read_are_accepted(sm120, load):
    result = sm120.check(contract_of(load(MENDED)))
    assert [clause.outcome for clause in result.clauses] == ["held"] * 3
