"""From a folder with programs, or a zip file of them, to a set: also transformers' exports."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from explorer.exploration import Exploration
from explorer.session.entry import Entry
from explorer.session.opened_file import read_file
from explorer.session.session import Session
from explorer.sets.loaded_programs import LoadedPrograms
from explorer.text.escape import harmless
from export_engine.archive import (
    ArchiveError,
    holds_export,
    list_programs,
    read_export,
    unpack_export,
    unpack_programs,
)

if TYPE_CHECKING:
    from explorer.results.pte import PteFile

_WHY_NOT = "transformers' exporters do not record the order in which programs are called."


_NO_ORDER = "These files do not record the order in which programs are called."


def open_folder(path: Path, *, trusted: bool = False) -> LoadedPrograms | None:
    """The programs of a folder as a set, with what their exporter recorded. Nothing is run.

    Args:
        path: the folder, or a zip file of it.
        trusted: whether the caller trusts it.

    Returns:
        None of a file that is itself a program, or has none.

    Raises:
        ArchiveError: it cannot be read, or its programs are not ExportedPrograms.
    """
    exported = holds_export(path)
    files = [] if exported else list_programs(path)
    if not exported and not files:
        return None
    if path.is_dir():
        if exported:
            return _open_export(path, path.name, trusted)
        return _join_files(path.name, files, [path / file for file in files], trusted)
    unpacked = TemporaryDirectory(prefix="export-explorer-")
    folder = Path(unpacked.name)
    if exported:
        unpack_export(path, folder)
        loaded_programs = _open_export(folder, path.name, trusted)
    else:
        unpacked_files = unpack_programs(path, files, folder)
        loaded_programs = _join_files(path.name, files, unpacked_files, trusted)
    weakref.finalize(loaded_programs, unpacked.cleanup)
    return loaded_programs


def _open_export(folder: Path, title: str, trusted: bool) -> LoadedPrograms:
    from export_engine.record import GenerationPlan

    export = read_export(folder)
    if export.export_format != "dynamo":
        raise ArchiveError(_other_format(folder, export.export_format))
    files = {
        name: read_file(folder / component.file, trusted=trusted)
        for name, component in export.components.items()
    }
    recorded = {name: component.metadata for name, component in export.components.items()}
    return LoadedPrograms(
        {name: Exploration(Session([Entry("loaded", file)])) for name, file in files.items()},
        GenerationPlan(why_not=_WHY_NOT),
        title=title,
        notes=[
            harmless(f"`{name}`: {export_metadata.sentence}")
            for name, export_metadata in recorded.items()
        ],
        recorded=recorded,
    )


def _join_files(
    title: str, names: Sequence[str], files: Sequence[Path], trusted: bool
) -> LoadedPrograms:
    """A set of files that nothing joins.

    Args:
        title: of the set.
        names: of the files in their folder.
        files: where they are.
        trusted: whether the caller trusts them.
    """
    from export_engine.record import GenerationPlan

    opened = {
        name: read_file(file, trusted=trusted)
        for name, file in zip(_name_components(names), files, strict=True)
    }
    return LoadedPrograms(
        {name: Exploration(Session([Entry("loaded", file)])) for name, file in opened.items()},
        GenerationPlan(why_not=_NO_ORDER),
        title=title,
    )


def _name_components(names: Sequence[str]) -> list[str]:
    """Names for programs of files: the file's name, or the folder's if all folders differ.

    `unet/model.pt2` and `vae/model.pt2` are unet and vae.
    """
    paths = [PurePosixPath(name) for name in names]
    for candidates in ([path.stem for path in paths], [path.parent.name for path in paths]):
        if len({*candidates}) == len(paths) and all(candidates):
            return candidates
    return [name.removesuffix(".pt2").replace("/", ".") for name in names]


def open_pte_export(path: Path) -> list[PteFile] | None:
    """The `.pte` files of a folder; None where its programs are of another format."""
    from explorer.results.pte import PteFile

    if not path.is_dir():
        return None
    export = read_export(path)
    if export.export_format != "executorch":
        return None
    return [PteFile(path / component.file) for component in export.components.values()]


def _other_format(path: Path, kind: str) -> str:
    if kind == "executorch":
        return f"{path.name} holds .pte programs. Open it with explorer.view({str(path)!r})."
    return harmless(
        f"{path.name} holds programs of the format {kind[:80]}, which cannot be read here. "
        "Export with DynamoExporter or ExecutorchExporter."
    )
