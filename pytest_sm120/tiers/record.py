"""The record tier: the target runs with stand-ins, and everything it does is recorded."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_sm120.arch import Arch
from pytest_sm120.errors import UsageError
from pytest_sm120.recorder.holders import Registry, WatchedObject
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.recorder.saved_state import save_state
from pytest_sm120.stand_ins.execution import Execution, numbers
from pytest_sm120.stand_ins.loading import Loader
from pytest_sm120.stand_ins.target_files import CompiledFiles
from pytest_sm120.stand_ins.torch_stand_in import (
    Tensor,
    contents,
    input_tensor,
    input_values,
)
from pytest_sm120.tensors.layouts import contiguous_strides

if TYPE_CHECKING:
    import numpy

T = TypeVar("T")


class RecordSession:
    """What one test does in the record tier, from its first load until it is closed."""

    tier = "record"

    def __init__(
        self,
        *,
        root: Path,
        arch: Arch,
        real_packages: Iterable[str],
        files: CompiledFiles,
        thread: int | None = None,
    ) -> None:
        """``thread`` identifies the only one that may load; None stands for the present one."""
        self.execution = Execution(
            arch=arch,
            definition_of=files.definition_of,
            effects_of_kernels=files.effects_of_kernels,
        )
        self._loader = Loader(self.execution, root, real_packages, files)
        self._watched: list[WatchedObject] = []
        self._arrange: Callable[[Sequence[int]], tuple[int, ...]] = contiguous_strides
        self._thread = threading.get_ident() if thread is None else thread

    @property
    def recording(self) -> Recording:
        """Everything the targets did so far."""
        return self.execution.recording

    @property
    def targets(self) -> tuple[ModuleType, ...]:
        """The modules loaded so far, ``real=`` siblings included."""
        return self._loader.targets

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        provide: Mapping[str, object],
        folder_provide: Mapping[str, object],
        real: Iterable[str],
        name: str | None,
    ) -> ModuleType:
        """Run a target file and return its module.

        Raises UsageError when called from another thread than the test's: sys.modules belongs to
        the whole process.
        """
        if threading.get_ident() != self._thread:
            raise UsageError(
                f"sm120.load({os.fspath(path)!r}) was called from a second thread.",
                limit="The fixture belongs to the thread that runs the test, since a load changes "
                "sys.modules for the whole process.",
                remedy="Load in the test itself, and hand the module to the threads.",
            )
        return self._loader.load(
            path, provide=provide, folder_provide=folder_provide, real=real, name=name
        )

    def tensor(
        self, shape: Iterable[int], dtype: object, device: object, strides: Sequence[int] | None
    ) -> Tensor:
        """Return an input of unknown contents; it does not count as an allocation."""
        steps = None if strides is None else tuple(strides)
        return input_tensor(self.execution, tuple(shape), dtype, device, steps, self._arrange)

    def values(self, values: object, dtype: object, device: object) -> Tensor:
        """Return an input whose contents are known; it does not count as an allocation."""
        return input_values(self.execution, values, dtype, device, self._arrange)

    def numpy(self, tensor: Any) -> numpy.ndarray[Any, Any]:
        """Return a tensor's contents; raises UnknownValue when they are not known."""
        import numpy

        known = contents(tensor)
        # numpy has neither bfloat16 nor the float8 formats; float32 holds all of their values.
        native = hasattr(numpy, tensor.dtype.name)
        return numpy.array(known, dtype=tensor.dtype.name if native else "float32")

    def registry(self) -> Registry:
        """Return an empty dict that records what is stored in it, under which key."""
        registry = Registry(self.recording.add_store)
        self.recording.follow(registry)
        return registry

    def watch(self, watched: T) -> T:
        """Record what is stored in an object's attributes from now on; return the object.

        Raises UsageError for what has no attributes of its own, and for a module.
        """
        has_attributes = hasattr(watched, "__dict__") or hasattr(type(watched), "__slots__")
        if isinstance(watched, ModuleType) or not has_attributes:
            raise UsageError(
                f"sm120.watch was given {watched!r}.",
                limit="It watches the attributes of an object, such as the self of a runner.",
                remedy="In place of a dict that holds buffers use sm120.registry(). What a loaded "
                "module keeps in its globals is found without watching.",
            )
        watching = WatchedObject(watched, self.recording.add_store)
        self.recording.follow(watching)
        self._watched.append(watching)
        return watched

    @contextmanager
    def inference_mode(self) -> Iterator[None]:
        """Run a ``with`` block in inference mode, as ``torch.inference_mode()`` does."""
        with self.execution.changed(inference=True, grad=False):
            yield

    def capture(self) -> AbstractContextManager[None]:
        """Run a ``with`` block as if a CUDA graph were being captured."""
        return self.execution.changed(graph=next(numbers))

    def other_stream(self) -> AbstractContextManager[None]:
        """Run a ``with`` block on a stream that no other block and no target has."""
        from pytest_sm120.stand_ins.torch_stand_in.devices import DEVICE_COUNT

        return self.execution.changed(streams=dict.fromkeys(range(DEVICE_COUNT), next(numbers)))

    @contextmanager
    def arranged(self, arrangement: str) -> Iterator[None]:
        """Let ``tensor`` and ``values`` make ``"padded"`` or ``"transposed"`` inputs in a block.

        Tensors of fewer than two dimensions stay as they are, and so do those with strides.
        """
        from pytest_sm120.tensors.arrangements import ARRANGEMENTS

        before, self._arrange = self._arrange, ARRANGEMENTS[arrangement]
        try:
            yield
        finally:
            self._arrange = before

    def save_state(self) -> Callable[[], None]:
        """Return a function that gives registries and module-level caches their present items."""
        return save_state(self.recording.holders)

    def close(self) -> None:
        """Put the process and the watched objects back as they were."""
        for watching in reversed(self._watched):
            watching.release()
        self._loader.close()
