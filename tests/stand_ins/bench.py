"""Loads targets that a test writes down as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

from pytest_sm120.arch import DEFAULT_ARCH, Arch
from pytest_sm120.recorder.recording import Recording
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.loading import Loader
from pytest_sm120.stand_ins.target_files import CompiledFiles
from pytest_sm120.stand_ins.torch_stand_in import input_tensor


class Bench:
    """A loader with a folder of its own as its root."""

    def __init__(
        self, root: Path, arch: Arch = DEFAULT_ARCH, real_packages: Iterable[str] = ()
    ) -> None:
        self.root = root
        self.execution = Execution(arch=arch)
        self.loader = Loader(self.execution, root, real_packages, CompiledFiles())

    @property
    def recording(self) -> Recording:
        return self.execution.recording

    def write(self, path: str, source: str) -> Path:
        """Write a file below the root; a package folder gets its __init__.py by its own call."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(source), encoding="utf-8")
        return file

    def load(
        self,
        source: str | None = None,
        path: str = "target.py",
        *,
        provide: Mapping[str, object] | None = None,
        folder_provide: Mapping[str, object] | None = None,
        real: Iterable[str] = (),
        name: str | None = None,
    ) -> Any:
        """Write the source, if one is given, and load the file."""
        if source is not None:
            self.write(path, source)
        return self.loader.load(
            path,
            provide=provide or {},
            folder_provide=folder_provide or {},
            real=real,
            name=name,
        )

    def tensor(self, *shape: int, dtype: str = "float32", device: str = "cuda:0") -> Any:
        """An input tensor of unknown contents."""
        return input_tensor(self.execution, shape, dtype, device, None)

    def close(self) -> None:
        self.loader.close()
