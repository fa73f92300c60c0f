"""The operations on tensors that compute; apart, since most targets need none of them."""

from __future__ import annotations

from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.complex_parts import COMPLEX_PARTS
from pytest_sm120.stand_ins.torch_stand_in.contents_needed import CONTENTS_NEEDED
from pytest_sm120.stand_ins.torch_stand_in.einsum import EINSUM
from pytest_sm120.stand_ins.torch_stand_in.extremes import CHOOSING
from pytest_sm120.stand_ins.torch_stand_in.further_views import FURTHER_VIEWS
from pytest_sm120.stand_ins.torch_stand_in.joining import JOINING
from pytest_sm120.stand_ins.torch_stand_in.matrices import LINEAR, MATRICES
from pytest_sm120.stand_ins.torch_stand_in.padding import PAD
from pytest_sm120.stand_ins.torch_stand_in.pointwise import POINTWISE
from pytest_sm120.stand_ins.torch_stand_in.putting import PUTTING
from pytest_sm120.stand_ins.torch_stand_in.reductions import REDUCTIONS
from pytest_sm120.stand_ins.torch_stand_in.repeating import REPEATING
from pytest_sm120.stand_ins.torch_stand_in.running import RUNNING
from pytest_sm120.stand_ins.torch_stand_in.scattering import SCATTERING
from pytest_sm120.stand_ins.torch_stand_in.searching import SEARCHING
from pytest_sm120.stand_ins.torch_stand_in.selection import SELECTION
from pytest_sm120.stand_ins.torch_stand_in.softmax import SOFTMAX
from pytest_sm120.stand_ins.torch_stand_in.values import unknown_operation

COMPUTING = (
    *POINTWISE,
    *JOINING,
    *MATRICES,
    *EINSUM,
    *REDUCTIONS,
    *CHOOSING,
    *REPEATING,
    *RUNNING,
    *SEARCHING,
    *SELECTION,
    *SOFTMAX,
    *SCATTERING,
    *COMPLEX_PARTS,
    *CONTENTS_NEEDED,
    *FURTHER_VIEWS,
    *PUTTING,
)


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Do what ``torch.nn.functional.linear`` does."""
    return LINEAR.run("torch.nn.functional.linear", input, weight, bias)


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Do what ``torch.nn.functional.pad`` does."""
    return PAD.run("torch.nn.functional.pad", input, pad, mode, value)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return the input; what is dropped while training is not followed."""
    if training and p:
        raise unknown_operation("torch.nn.functional.dropout while training")
    return input


#: What torch.nn.functional shares with torch itself.
SHARED = ("relu", "sigmoid", "tanh", "softmax", "log_softmax")
