"""The output of transformers' exporters: a folder of programs, and `export.json` about them.

`ExportedModel.save_pretrained` of `transformers/exporters/base.py` is the source of the form. Its
classes are not imported: names of files are checked, and the rest is shown.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from export_engine.archive import limits
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import check
from export_engine.archive.zip_members import read_members

MANIFEST = "export.json"


class ExportMetadata(msgspec.Struct):
    """An exporter's record of one program."""

    architecture: str | None = None
    packages: dict[str, str] = {}
    export_dtype: str | None = None
    export_device: str | None = None
    kwargs: dict[str, Any] = {}
    """Per keyword argument its rank, shape and dtype, its leaves, or the class of a container."""
    in_spec: str | None = None
    out_spec: str | None = None
    in_constants: dict[str, Any] = {}
    """Arguments that were traced as constants."""
    out_constants: list[Any] = []

    @property
    def sentence(self) -> str:
        """Which model it is of, and which arguments it was traced with."""
        texts = [self.architecture or "a model", self.export_dtype, self.export_device]
        version = self.packages.get("transformers")
        by = f", by transformers {version}" if version else ""
        traced = ", ".join(
            f"{name}={self.in_constants[name]!r}"
            if name in self.in_constants
            else f"{name} {_shape_of(kind)}"
            for name, kind in self.kwargs.items()
        )
        return f"{', '.join(filter(None, texts))}{by}. Traced with {traced or 'no arguments'}."


class Component(msgspec.Struct):
    """One program of an export."""

    file: str
    metadata: ExportMetadata = msgspec.field(default_factory=ExportMetadata)


class TransformersExport(msgspec.Struct):
    """`export.json`."""

    export_format: str
    components: dict[str, Component]
    schema_version: int = 1


def holds_export(path: Path) -> bool:
    """Whether it is a folder, or a zip file of one, that transformers' exporters wrote."""
    if path.is_dir():
        return (path / MANIFEST).is_file()
    if path.suffix != ".zip":
        return False
    with read_members(path) as members:
        return MANIFEST in members


def read_export(folder: Path) -> TransformersExport:
    """What is in a folder. Nothing in it is run.

    Raises:
        ArchiveError: there is no such `export.json`, or it names files outside of the folder.
    """
    try:
        with (folder / MANIFEST).open("rb") as file:
            text = file.read(limits.CONFIG_BYTES + 1)
    except OSError as error:
        raise ArchiveError(f"{folder / MANIFEST} cannot be read: {error.strerror}.") from error
    return _decode(text, folder.name)


def unpack_export(path: Path, folder: Path) -> None:
    """Writes the programs of a zip file, and `export.json`, into a folder.

    Raises:
        ArchiveError: it is not such a file, or it unpacks to far more than its size.
    """
    with read_members(path) as members:
        text = members.read(MANIFEST, limits.CONFIG_BYTES)
        most = max(limits.UNPACKED, limits.UNPACKED_RATIO * path.stat().st_size)
        for component in _decode(text, path.name).components.values():
            (folder / component.file).write_bytes(members.read(component.file, most))
    (folder / MANIFEST).write_bytes(text)


def _decode(text: bytes, title: str) -> TransformersExport:
    if len(text) > limits.CONFIG_BYTES:
        raise ArchiveError(f"{MANIFEST} of {title} is too large: {limits.CONFIG_BYTES:,} bytes.")
    check(text, f"{MANIFEST} of {title}")
    try:
        transformers_export = msgspec.json.decode(text, type=TransformersExport)
    except msgspec.MsgspecError as error:
        raise ArchiveError(
            f"{MANIFEST} of {title} is not what transformers' exporters write: {error}."
        ) from error
    if not 0 < len(transformers_export.components) <= limits.PROGRAMS:
        raise ArchiveError(
            f"{title} holds {len(transformers_export.components)} "
            f"programs; 1 to {limits.PROGRAMS} are read."
        )
    for name, component in transformers_export.components.items():
        if (
            Path(component.file).name != component.file
            or "\\" in component.file
            or component.file in ("", ".", "..")
        ):
            raise ArchiveError(
                f"{title} is not opened: its program {name[:80]!r} is in {component.file[:80]!r}, "
                "outside of the folder."
            )
    return transformers_export


def _shape_of(kind: Any) -> str:
    """`int64[1, 8]`, `DynamicCache`."""
    if not isinstance(kind, dict):
        return ""
    if "shape" in kind:
        return f"{kind.get('dtype', '')}{kind['shape']}"
    if isinstance(kind.get("leaves"), dict):
        leaves = (f"{key}: {_shape_of(value)}" for key, value in kind["leaves"].items())
        return f"{{{', '.join(leaves)}}}"
    return str(kind.get("container", ""))
