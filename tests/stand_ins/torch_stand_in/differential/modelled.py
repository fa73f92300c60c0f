"""Every operation that the stand-in for torch models, listed from its own tables."""

from __future__ import annotations

from typing import NamedTuple

from pytest_sm120.stand_ins.torch_stand_in import namespace
from pytest_sm120.stand_ins.torch_stand_in.computing import COMPUTING
from pytest_sm120.stand_ins.torch_stand_in.operators import OPERATORS
from pytest_sm120.stand_ins.torch_stand_in.questions import QUESTIONS
from pytest_sm120.stand_ins.torch_stand_in.tables import OPERATIONS
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor


class Modelled(NamedTuple):
    """One way to call one operation."""

    #: As messages and the documentation spell it, e.g. ``"torch.cat"`` or ``"Tensor.add_"``.
    spelling: str
    #: ``"function"``, ``"method"``, ``"in place"``, ``"attribute"`` or ``"operator"``.
    form: str
    #: The operation's row, e.g. ``"add"`` for ``"Tensor.add_"``.
    name: str

    def call(self, arguments: str) -> str:
        """Return the Python expression; ``arguments`` stand after the tensor ``t``.

        Arguments that start with ``=`` are all there are, the tensor included.
        """
        prefix, _, attribute = self.spelling.rpartition(".")
        if self.form == "operator":
            return self._operator(arguments)
        if self.form == "attribute":
            return f"t.{self.name}"
        if arguments.startswith("="):
            return f"{prefix if prefix != 'Tensor' else 't'}.{attribute}({arguments[1:]})"
        if prefix == "Tensor":
            return f"t.{attribute}({arguments})"
        return f"{prefix}.{attribute}(t, {arguments})" if arguments else f"{self.spelling}(t)"

    def _operator(self, arguments: str) -> str:
        if self.name in BUILT_IN:
            return f"{BUILT_IN[self.name]}(t)"
        plain = self.name.replace("__r", "__", 1)
        if plain != self.name and plain in OPERATORS:
            return f"operator.{plain}({arguments}, t)"
        return f"operator.{self.name}(t, {arguments})" if arguments else f"operator.{self.name}(t)"


#: Python's own functions that ask a tensor something, by the method they call.
BUILT_IN = {
    "__len__": "len",
    "__iter__": "list",
    "__bool__": "bool",
    "__int__": "int",
    "__float__": "float",
    "__complex__": "complex",
    "__index__": "operator.index",
}


def list_modelled() -> list[Modelled]:
    """Return all of them, sorted by spelling."""
    found = []
    for row in (*OPERATIONS, *COMPUTING):
        if row.function:
            found.append(Modelled(f"torch.{row.name}", "function", row.name))
        if row.method:
            found.append(Modelled(f"Tensor.{row.name}", "method", row.name))
        if row.in_place is not None:
            found.append(Modelled(f"Tensor.{row.name}_", "in place", row.name))
    found += [Modelled(f"torch.{name}", "function", name) for name in QUESTIONS]
    found += [Modelled(f"torch.{name}", "function", name) for name in FACTORIES]
    found += _list_members({row.name for row in found if row.spelling.startswith("Tensor.")})
    found += [
        Modelled(f"torch.nn.functional.{name}", "function", name)
        for name in namespace.LATER["torch.nn.functional"]()
    ]
    dunders = (*OPERATORS, *BUILT_IN, "__getitem__", "__setitem__")
    found += [Modelled(f"Tensor.{dunder}", "operator", dunder) for dunder in dunders]
    return sorted(set(found))


def _list_members(rows: set[str]) -> list[Modelled]:
    """Return the methods and attributes that the class Tensor has besides its tables."""
    names = {name for name in dir(Tensor) if not name.startswith("_")} - rows
    attributes = {name for name in names if not callable(getattr(Tensor, name))}
    of_tables = {f"{name}_" for name in rows}
    return [
        Modelled(f"Tensor.{name}", "attribute" if name in attributes else "method", name)
        for name in names - of_tables
    ]


#: Functions that make tensors out of no tensor: those bound to a test that are no switches.
FACTORIES = tuple(
    name
    for name in namespace.BOUND["torch"]
    if not name.startswith(("get_", "set_", "is_", "manual_"))
    and not name.endswith(("_mode", "_grad", "info"))
)
