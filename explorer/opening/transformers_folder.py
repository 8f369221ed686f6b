"""From a folder that transformers' exporters wrote, or a zip file of one, to a set."""

from __future__ import annotations

import weakref
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from explorer.exploration import Exploration
from explorer.session.entry import Entry
from explorer.session.opened_file import read_file
from explorer.session.session import Session
from explorer.sets.loaded_programs import LoadedPrograms
from explorer.text.escape import harmless
from export_engine.archive import ArchiveError, read_export, unpack_export

if TYPE_CHECKING:
    from explorer.results.pte import PteFile

_WHY_NOT = "transformers' exporters do not record how their programs are called in turn."


def open_export(path: Path, *, trusted: bool = False) -> LoadedPrograms:
    """The programs of a folder as a set, with what their exporter recorded. Nothing is run.

    Args:
        path: the folder, or a zip file of it.
        trusted: whether the caller trusts it.

    Raises:
        ArchiveError: it cannot be read, or its programs are not ExportedPrograms.
    """
    if path.is_dir():
        return _open_folder(path, path.name, trusted)
    unpacked = TemporaryDirectory(prefix="export-explorer-")
    unpack_export(path, Path(unpacked.name))
    loaded_programs = _open_folder(Path(unpacked.name), path.name, trusted)
    weakref.finalize(loaded_programs, unpacked.cleanup)
    return loaded_programs


def _open_folder(folder: Path, title: str, trusted: bool) -> LoadedPrograms:
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
        f"{path.name} holds programs of the format {kind[:80]}, which are not read here. Export "
        "with DynamoExporter or ExecutorchExporter."
    )
