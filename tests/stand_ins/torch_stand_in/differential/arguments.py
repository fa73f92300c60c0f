"""Finds the arguments with which an operation is compared."""

from __future__ import annotations

from pytest_sm120.stand_ins.torch_stand_in.operators import OPERATORS

from . import arguments_of_computations, arguments_of_scattering, arguments_of_views
from .drawing import NOTHING, Arguments
from .modelled import BUILT_IN, Modelled

ARGUMENTS = {
    **arguments_of_views.ARGUMENTS,
    **arguments_of_computations.ARGUMENTS,
    **arguments_of_scattering.ARGUMENTS,
}

#: What cannot be compared, and why.
NOT_COMPARED = {
    "Tensor.cuda": "needs a card; tests/stand_ins/torch_stand_in/test_recording.py has it",
    "Tensor.record_stream": "needs a card",
    "Tensor.as_subclass": "takes a class of the target",
    "Tensor.get_device": "the same for every tensor in host memory",
    "torch.from_numpy": "takes an array of numpy",
    "Tensor.pin_memory": "needs a card",
    "Tensor.data_ptr": "an address; that it tells storages apart is compared for every result",
    **{
        f"Tensor.is_{kind}": "an attribute that only torch builds for that device have"
        for kind in ("hpu", "maia", "mtia", "ipu", "vulkan", "xla", "xpu", "mps")
    },
}


def find_arguments(modelled: Modelled) -> Arguments:
    """Return how it is called; KeyError when nobody has said."""
    for name in (modelled.spelling, modelled.name):
        if name in ARGUMENTS:
            return ARGUMENTS[name]
    if modelled.name in OPERATORS:
        behind = OPERATORS[modelled.name]
        return ARGUMENTS[behind.removesuffix("_")]
    if modelled.form == "attribute" or modelled.name in BUILT_IN or modelled.name in ASKED:
        return NOTHING
    raise KeyError(modelled.spelling)


#: Questions that take nothing.
ASKED = """
dim ndimension numel nelement storage_offset element_size data_ptr untyped_storage
is_floating_point is_complex is_signed is_inference is_tensor tolist item
""".split()
