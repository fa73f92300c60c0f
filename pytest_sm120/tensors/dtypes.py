"""The number formats of torch as data."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_sm120.errors import UsageError


@dataclass(frozen=True, eq=False, repr=False)
class DType:
    """One dtype. There is one object for each, so identity is equality, as in torch."""

    #: Plain name, e.g. ``"uint8"``.
    name: str
    #: Bytes of one element.
    itemsize: int
    #: ``"bool"``, ``"uint"``, ``"int"``, ``"float"`` or ``"complex"``.
    kind: str

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    @property
    def is_floating_point(self) -> bool:
        """Whether this is a real floating-point format."""
        return self.kind == "float"

    @property
    def is_complex(self) -> bool:
        """Whether this is a complex format."""
        return self.kind == "complex"

    @property
    def is_signed(self) -> bool:
        """Whether negative values exist. The scale format e8m0 counts as signed, as in torch."""
        return self.kind in ("int", "float", "complex")


# Sizes after the table "Data types" of torch.Tensor's documentation, torch 2.13.
_TABLE = """
bool:1:bool uint8:1:uint uint16:2:uint uint32:4:uint uint64:8:uint
int8:1:int int16:2:int int32:4:int int64:8:int
float16:2:float bfloat16:2:float float32:4:float float64:8:float
float8_e4m3fn:1:float float8_e5m2:1:float float8_e4m3fnuz:1:float float8_e5m2fnuz:1:float
float8_e8m0fnu:1:float float4_e2m1fn_x2:1:float
complex32:4:complex complex64:8:complex complex128:16:complex
"""

DTYPES: dict[str, DType] = {
    name: DType(name, int(size), kind)
    for name, size, kind in (entry.split(":") for entry in _TABLE.split())
}

#: Second names that torch gives to a dtype.
ALIASES: dict[str, str] = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
}

_BUILTIN_TYPES: dict[object, str] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    complex: "complex128",
}


def find_dtype(spelling: object) -> DType:
    """Return the dtype that ``"uint8"``, ``"torch.uint8"``, a numpy or a torch dtype names.

    Python's ``bool``, ``int``, ``float`` and ``complex`` mean what torch takes them for.
    Raises UsageError when the spelling names none.
    """
    if isinstance(spelling, DType):
        return spelling
    builtin = _BUILTIN_TYPES.get(spelling) if isinstance(spelling, type) else None
    text = builtin or str(getattr(spelling, "name", spelling))
    short = text.rpartition(".")[2]
    found = DTYPES.get(ALIASES.get(short, short))
    if found is None:
        raise UsageError(
            f"{spelling!r} is not a dtype that torch has.",
            limit=f"Known are {', '.join(DTYPES)}.",
            remedy="Name the dtype as a string without torch, e.g. dtype='uint8'.",
        )
    return found
