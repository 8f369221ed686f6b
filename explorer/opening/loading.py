"""From a file to an Exploration, or to a set of them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import overload

from explorer.exploration import Exploration
from explorer.opening.exploring_sets import load_set
from explorer.opening.folders import open_folder
from explorer.opening.places import find_path
from explorer.session.entry import Entry
from explorer.session.opened_file import read_file
from explorer.session.session import Session
from explorer.sets.loaded_programs import LoadedPrograms
from export_engine.archive import program_names


@overload
def load(path: str | Path, *, model: str, trusted: bool = False) -> Exploration: ...
@overload
def load(
    path: str | Path, *, model: str | None = None, trusted: bool = False
) -> Exploration | LoadedPrograms: ...
def load(
    path: str | Path, *, model: str | None = None, trusted: bool = False
) -> Exploration | LoadedPrograms:
    """Opens a `.pt2` file as data. Nothing in it is run, and torch is not imported.

    Args:
        path: the file; a folder of several, as transformers' exporters write it, or a zip file of
            one. Or an address: `file:///model.pt2`, or `hf://owner/name/model.pt2` for a file in
            huggingface_hub's local cache. Nothing is downloaded.
        model: the program to open in a file with several, `decode`; by default all of them, as a
            set: `explorer.load(path)["decode"]`.
        trusted: you trust the file, so its program may be loaded when needed: `ex.program`, Verify,
            Run,
        Decompose. A hostile file can then run code. Files you saved on this machine with `ex.save`
        are trusted.

    Raises:
        ArchiveError: there is no such file or program, or it is not an archive of a program.
        TypeError: it is not a path.
    """
    if not isinstance(path, str | PathLike):
        raise TypeError(
            f"{type(path).__name__} is not a path. explorer.view opens an existing program."
        )
    file = find_path(path)
    kit = open_folder(file, trusted=trusted)
    if kit is not None:
        return kit if model is None else kit[model]
    if model is None and len(program_names(file)) > 1:
        return load_set(file, trusted=trusted)
    return Exploration(Session([Entry("loaded", read_file(file, trusted=trusted, model=model))]))
