"""torch.nn.Module: parameters, buffers and submodules by attribute, and forward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pytest_sm120.stand_ins.torch_stand_in.parameters import Buffer, Parameter
from pytest_sm120.stand_ins.torch_stand_in.tensor import Tensor
from pytest_sm120.tensors.dtypes import DTYPES

_STORES = ("_parameters", "_buffers", "_modules")


class Module:
    """What host code needs of ``torch.nn.Module``."""

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        put = super().__setattr__
        put("training", True)
        for store in _STORES:
            put(store, {})
        put("_non_persistent_buffers_set", set())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse, as a subclass is meant to define it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what ``forward`` returns."""
        return self.forward(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        store = self._store_for(name, value)
        if store is None:
            super().__setattr__(name, value)
            return
        self.__dict__.pop(name, None)
        for other in _STORES:
            self.__dict__[other].pop(name, None)
        self.__dict__[store][name] = value

    def _store_for(self, name: str, value: Any) -> str | None:
        kind = _store_of_kind(value)
        if kind is not None:
            if "_parameters" not in self.__dict__:
                what = {"_parameters": "parameters", "_modules": "module"}.get(kind, "buffer")
                raise AttributeError(f"cannot assign {what} before Module.__init__() call")
            return kind
        for store in _STORES:
            if name in self.__dict__.get(store, ()):
                _refuse_wrong_kind(store, name, value)
                return store
        return None

    def __getattr__(self, name: str) -> Any:
        for store in _STORES:
            if name in self.__dict__.get(store, ()):
                return self.__dict__[store][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for store in _STORES:
            if name in self.__dict__.get(store, ()):
                del self.__dict__[store][name]
                return
        super().__delattr__(name)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Keep a tensor, or None, under this name."""
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Any) -> None:
        """Keep a parameter, or None, under this name."""
        if hasattr(self, name) and name not in self._parameters:
            raise KeyError(f"attribute '{name}' already exists")
        self._parameters[name] = param

    def add_module(self, name: str, module: Any) -> None:
        """Keep a submodule, or None, under this name."""
        self._modules[name] = module

    register_module = add_module

    def named_modules(self, memo: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Yield the module itself and every submodule with its dotted path."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        seen.add(self)
        yield prefix, self
        for name, module in self.named_children():
            yield from module.named_modules(seen, f"{prefix}.{name}" if prefix else name)

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the direct submodules with their names."""
        seen: list[Any] = []
        for name, module in self._modules.items():
            if module is not None and not any(module is other for other in seen):
                seen.append(module)
                yield name, module

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """Yield the parameters with their dotted paths."""
        return self._named("_parameters", prefix, recurse)

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """Yield the buffers with their dotted paths."""
        return self._named("_buffers", prefix, recurse)

    def _named(self, store: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        owners = self.named_modules(prefix=prefix) if recurse else iter([(prefix, self)])
        for path, owner in owners:
            for name, value in owner.__dict__.get(store, {}).items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def modules(self) -> Iterator[Any]:
        """Yield the module itself and every submodule."""
        return (module for _, module in self.named_modules())

    def children(self) -> Iterator[Any]:
        """Yield the direct submodules."""
        return (module for _, module in self.named_children())

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Yield the parameters."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Yield the buffers."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def state_dict(self) -> dict[str, Any]:
        """Return parameters and persistent buffers by their dotted paths."""
        state = dict(self.named_parameters())
        for path, owner in self.named_modules():
            for name, value in owner._buffers.items():
                if value is not None and name not in owner._non_persistent_buffers_set:
                    state[f"{path}.{name}" if path else name] = value
        return state

    def train(self, mode: bool = True) -> Any:
        """Set training mode on every submodule and return the module."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Any:
        """Leave training mode and return the module."""
        return self.train(False)

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call the function on every submodule, then on the module, and return the module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set whether the parameters need gradients and return the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move or convert every parameter and buffer in place and return the module.

        As in torch a dtype is for floating-point tensors alone.
        """
        from pytest_sm120.stand_ins.torch_stand_in.moving import move_module

        return move_module(self, *args, **kwargs)

    def cuda(self, device: Any = None) -> Any:
        """Move every parameter and buffer to a CUDA device and return the module."""
        return self.to("cuda" if device is None else device)

    def cpu(self) -> Any:
        """Move every parameter and buffer to the CPU and return the module."""
        return self.to("cpu")

    def float(self) -> Any:
        """Convert floating-point parameters and buffers to float32 and return the module."""
        return self.to(DTYPES["float32"])

    def half(self) -> Any:
        """Convert floating-point parameters and buffers to float16 and return the module."""
        return self.to(DTYPES["float16"])

    def bfloat16(self) -> Any:
        """Convert floating-point parameters and buffers to bfloat16 and return the module."""
        return self.to(DTYPES["bfloat16"])

    def extra_repr(self) -> str:
        """Return what the representation says beyond the names."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"


def _store_of_kind(value: Any) -> str | None:
    if isinstance(value, Parameter):
        return "_parameters"
    if isinstance(value, Module):
        return "_modules"
    return "_buffers" if isinstance(value, Buffer) else None


def _refuse_wrong_kind(store: str, name: str, value: Any) -> None:
    wanted = {"_parameters": "parameter", "_buffers": "buffer", "_modules": "child module"}[store]
    if value is not None and not (store == "_buffers" and isinstance(value, Tensor)):
        raise TypeError(f"cannot assign '{type(value).__name__}' object to {wanted} '{name}'")


class Identity(Module):
    """Returns its input."""

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def append(self, module: Any) -> Any:
        """Add a module at the end and return the list."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Any) -> Any:
        """Add modules at the end and return the list."""
        for module in modules:
            self.append(module)
        return self

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        """Return one module, or a list of a slice of them."""
        found = list(self._modules.values())[index]
        return type(self)(found) if isinstance(index, slice) else found


class Sequential(ModuleList):
    """Modules called one after the other."""

    def __init__(self, *modules: Any) -> None:
        super().__init__(modules)

    def __getitem__(self, index: Any) -> Any:
        """Return one module, or a Sequential of a slice of them."""
        found = list(self._modules.values())[index]
        return type(self)(*found) if isinstance(index, slice) else found

    def forward(self, input: Any) -> Any:
        """Return what the last module makes of it."""
        for module in self:
            input = module(input)
        return input
