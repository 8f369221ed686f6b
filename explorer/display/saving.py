"""Writes what a session shows into a file of the kind that its suffix names."""

from __future__ import annotations

from pathlib import Path

from explorer.session.session import Session
from explorer.text.validate_options import check_writable
from export_engine.plain_errors import WrongArgument

NEEDED: dict[str, str | None] = {
    ".html": None,
    ".htm": None,
    ".json": None,
    ".pt2": "program",
    ".py": "program",
}
"""By suffix, what an export that failed lacks for this file; of a picture, its graph."""


def make_suffix_error(path: str | Path, known: str) -> WrongArgument:
    """The error of a file name that says nothing of what to write."""
    return WrongArgument(f"{Path(path).name}: save() writes files that end in {known}.")


def save(session: Session, path: str | Path, kind: str, *, values: bool, full: bool) -> Path:
    """Writes a file of the current attempt; see `Exploration.save`.

    Raises:
        ValueError: there is no such suffix, and what `Exploration.save` says.
    """
    match kind:
        case ".pt2":
            from explorer.session.opened_file import save_signed

            return save_signed(
                session.require_exported(session.current, "save"), session.entry.kept, path
            )
        case ".html" | ".htm":
            from explorer.display.report import write_report

            return write_report(session, path, values=values)
        case ".json":
            from export_engine.record import to_json

            file = Path(path)
            check_writable(file)
            file.write_bytes(to_json(session.entry.record if values else session.entry.kept))
            return file
        case ".py":
            from export_engine.reproduce import write_export_script

            script = write_export_script(session.require_exported(session.current, "save"))
            file = Path(path)
            check_writable(file)
            file.write_text(script, encoding="utf-8")
            return file
        case suffix:
            from explorer.text.dot import FORMATS, save_graph

            if suffix not in FORMATS:
                raise make_suffix_error(path, ".pt2, .py, .html, .json, .svg, .pdf, .png or .dot")

            return save_graph(session.entry.record, path, full)
