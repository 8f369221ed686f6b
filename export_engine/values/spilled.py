"""Tensors of a run on disk: written as the run goes, read when they are asked for.

They are in a folder of their own, which goes with the run that wrote them: when nothing holds that
any more, when Python ends, and at once where the run ends in an error or is interrupted.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import torch

from export_engine.values.steps import is_plain

_LEFT_FREE = 64 * 2**20
"""Bytes of the disk that are never taken."""


class Spilled:
    """The tensors of one run, as files."""

    def __init__(self, folder: str | Path) -> None:
        """Make a folder for them.

        Args:
            folder: where; it is there.

        Raises:
            ValueError: there is no such folder, or nothing can be written in it.
        """
        parent = Path(folder).expanduser()
        if not parent.is_dir():
            raise ValueError(f"The folder {parent} for tensors does not exist. Create it first.")
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="watched-", dir=parent))
        except OSError as error:
            raise ValueError(f"Cannot write to {parent}: {error.strerror}.") from error
        self.bytes = 0
        """Bytes of the files."""
        self._sizes: dict[Path, int] = {}
        self._removed = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @property
    def count(self) -> int:
        """How many ops have a file."""
        return len(self._sizes)

    def write(self, graph: int, node: int, value: Any) -> None:
        """Writes what a node gave, in place of what it gave before.

        Raises:
            ValueError: the disk is full.
        """
        if not is_plain(value):
            return
        if shutil.disk_usage(self.folder).free - value.nbytes < _LEFT_FREE:
            raise ValueError(
                f"The disk of {self.folder.parent} is full after "
                f"{self.bytes / 1e9:.2g} GB of tensors. Leave out `spill`."
            )
        path = self._path(graph, node)
        # A clone, since a view would be saved with all that it is a view of.
        torch.save(value.detach().cpu().clone(), path)
        size = path.stat().st_size
        self.bytes += size - self._sizes.get(path, 0)
        self._sizes[path] = size

    def read(self, graph: int, node: int) -> torch.Tensor | None:
        """A node's output; None if it was not written."""
        path = self._path(graph, node)
        if path not in self._sizes or not path.exists():
            return None
        tensor: torch.Tensor = torch.load(path, map_location="cpu", weights_only=True)
        return tensor

    def remove(self) -> None:
        """Removes the folder."""
        self._removed()

    def _path(self, graph: int, node: int) -> Path:
        return self.folder / f"{graph}-{node}.pt"
