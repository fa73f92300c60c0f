"""The operations on tensors that host code around kernels uses most: views, copies, writes.

What computes is in ``computing.py``, which is read when a target first asks for one of its names.
"""

from __future__ import annotations

from pytest_sm120.stand_ins.torch_stand_in import copies, creation, pieces, slicing, views, writes
from pytest_sm120.stand_ins.torch_stand_in.operation import Operation

_FUNCTION_AND_METHOD = (
    views.as_strided,
    views.permute,
    views.transpose,
    views.t,
    views.movedim,
    views.unsqueeze,
    views.squeeze,
    views.detach,
    slicing.narrow,
    slicing.select,
    pieces.unbind,
    pieces.split,
    pieces.chunk,
    pieces.unflatten,
    copies.clone,
    copies.reshape,
    copies.flatten,
)

_METHOD = (
    views.view,
    views.view_as,
    views.expand,
    views.expand_as,
    pieces.unfold,
    copies.contiguous,
    copies.to,
    copies.reshape_as,
    creation.new_empty,
    creation.new_zeros,
    creation.new_ones,
    creation.new_full,
    creation.new_tensor,
    creation.new_empty_strided,
    writes.zero_,
    writes.fill_,
    writes.copy_,
    writes.resize_,
    writes.record_stream,
)

_RENAMED = (
    Operation("is_contiguous", copies.is_contiguous_in, function=False),
    Operation("type", copies.type_, function=False),
    Operation("set_", writes.set_data, function=False),
    Operation("pin_memory", writes.share_nothing, function=False),
    Operation("share_memory_", writes.share_nothing, function=False),
    Operation("empty_like", creation.like_empty, method=False),
    Operation("zeros_like", creation.like_zeros, method=False),
    Operation("ones_like", creation.like_ones, method=False),
    Operation("full_like", creation.like_full, method=False),
    Operation("swapaxes", views.transpose),
    Operation("swapdims", views.transpose),
    Operation("moveaxis", views.movedim),
    Operation("ravel", copies.ravel),
)

OPERATIONS = (
    *(Operation(run.__name__, run) for run in _FUNCTION_AND_METHOD),
    *(Operation(run.__name__, run, function=False) for run in _METHOD),
    *_RENAMED,
    *copies.CONVERSIONS,
)
