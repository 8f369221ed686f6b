"""The `.pt2` files of a folder, or of a zip file, as a checkpoint's components are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from export_engine.archive import limits
from export_engine.archive.errors import ArchiveError
from export_engine.archive.zip_members import read_members

_SUFFIX = ".pt2"


def list_programs(path: Path) -> list[str]:
    """The `.pt2` files of a folder, down to its subfolders, or of a zip file.

    Raises:
        ArchiveError: there are more than are read, or the zip file is damaged.
    """
    if path.is_dir():
        files = [*path.glob(f"*{_SUFFIX}"), *path.glob(f"*/*{_SUFFIX}")]
        names = sorted(file.relative_to(path).as_posix() for file in files if file.is_file())
    elif path.suffix == ".zip":
        with read_members(path) as members:
            names = sorted(name for name in members if name.endswith(_SUFFIX))
    else:
        return []
    if len(names) > limits.PROGRAMS:
        raise ArchiveError(
            f"{path.name} holds {len(names):,} .pt2 files; at most {limits.PROGRAMS} are opened. "
            "Open one of them."
        )
    return names


def unpack_programs(path: Path, names: Sequence[str], folder: Path) -> list[Path]:
    """Writes files of a zip file below a folder, each in one of its own; returns their paths.

    Raises:
        ArchiveError: the zip file is damaged, or it unpacks to far more than its size.
    """
    most = max(limits.UNPACKED, limits.UNPACKED_RATIO * path.stat().st_size)
    files = []
    with read_members(path) as members:
        for number, name in enumerate(names):
            file = folder / str(number) / PurePosixPath(name.replace("\\", "/")).name
            file.parent.mkdir()
            file.write_bytes(members.read(name, most))
            files.append(file)
    return files
