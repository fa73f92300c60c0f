"""Which calls allocate a tensor, and of which dtype, as a declared table."""

from __future__ import annotations

import difflib
import re

from pytest_sm120.errors import UsageError
from pytest_sm120.tensors.dtypes import ALIASES

#: torch functions that return a new tensor -> the dtype they fall back to, where torch
#: documents one. The dtype of the others comes from an argument or a global default.
_FUNCTIONS: dict[str, str | None] = {
    **dict.fromkeys(("empty", "zeros", "ones", "full", "empty_strided", "empty_permuted")),
    **dict.fromkeys(("empty_like", "zeros_like", "ones_like", "full_like")),
    **dict.fromkeys(("rand", "randn", "rand_like", "randn_like", "randint_like")),
    **dict.fromkeys(("arange", "eye", "linspace", "logspace", "tensor")),
    "randint": "int64",
    "randperm": "int64",
}

#: Constructors from before ``dtype=`` existed; also under ``torch.cuda``.
_CONSTRUCTORS: dict[str, str | None] = {
    "Tensor": None,
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "BoolTensor": "bool",
}

_METHODS = (
    "new_empty",
    "new_zeros",
    "new_ones",
    "new_full",
    "new_tensor",
    "new_empty_strided",
)

#: Canonical name of every allocation -> the dtype when the call names none.
_DEFAULT_DTYPE: dict[str, str | None] = {
    **{f"torch.{name}": dtype for name, dtype in _FUNCTIONS.items()},
    **{f"torch.{name}": dtype for name, dtype in _CONSTRUCTORS.items()},
    **{f"torch.cuda.{name}": dtype for name, dtype in _CONSTRUCTORS.items() if dtype},
    **{f"Tensor.{name}": None for name in _METHODS},
}

#: Python types that torch takes for a dtype, at Python's own width.
_PYTHON_TYPES = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}

# A pattern, so that the next float8 or int4 of torch is known on the day it comes.
_DTYPE = re.compile(
    r"bool|bfloat16|u?int\d+|float\d+(_e\d+m\d+\w*)?|complex\d+|qu?int\d+(x\d+)?|bits\d+(x\d+)*"
)


def allocation_name(dotted: str, *, from_import: bool) -> str | None:
    """The canonical name when a call of ``dotted`` allocates a tensor, ``None`` otherwise.

    A method counts on any receiver. A function counts only when its name starts from an import:
    the parameter ``torch`` of a function is somebody else's.
    """
    last = dotted.rpartition(".")[2]
    if last in _METHODS and last != dotted:
        return f"Tensor.{last}"
    return dotted if from_import and dotted in _DEFAULT_DTYPE else None


def default_dtype(allocation: str) -> str | None:
    """The dtype of an allocation that names none, ``None`` when the text does not tell."""
    return _DEFAULT_DTYPE[allocation]


def dtype_name(dotted: str) -> str | None:
    """``"float16"`` for ``"torch.half"``; ``None`` when ``dotted`` names no dtype."""
    if dotted in _PYTHON_TYPES:
        return _PYTHON_TYPES[dotted]
    module, _, name = dotted.rpartition(".")
    return _canonical_dtype(name) if module == "torch" else None


def _canonical_dtype(name: str) -> str | None:
    name = ALIASES.get(name, name)
    return name if _DTYPE.fullmatch(name) else None


def asked_dtype(asked: str) -> str:
    """The dtype that a query asks for, plain; a name that no dtype has raises ``UsageError``."""
    dtype = _canonical_dtype(asked.removeprefix("torch."))
    if dtype is None:
        raise UsageError(
            f"allocations(dtype={asked!r}) asks for a dtype that torch does not have.",
            limit='A dtype is named without its module, for example "uint8" or "float8_e4m3fn".',
            remedy="Correct the name; a query that can match nothing would pass any test.",
        )
    return dtype


def check_asked_call(asked: str) -> None:
    """Raise ``UsageError`` when ``asked`` is neither an allocation nor the last part of one."""
    last_parts = {name.rpartition(".")[2] for name in _DEFAULT_DTYPE}
    if asked in _DEFAULT_DTYPE or asked in last_parts:
        return
    last = asked.rpartition(".")[2]
    close = difflib.get_close_matches(last, sorted(last_parts))
    hint = f" The closest are {', '.join(close)}." if close else ""
    raise UsageError(
        f"allocations(call={asked!r}) asks for a call that allocates no tensor.",
        limit='An allocation is named like "torch.zeros", "zeros" or "Tensor.new_empty".' + hint,
        remedy="Correct the name, or ask for any other call by calls(name).",
    )
