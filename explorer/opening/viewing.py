"""Opens a program that exists, without exporting it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

from explorer.exploration import Exploration
from explorer.session.given_program import Call, entry_of, programs_in, refuse_inputs
from explorer.session.session import Session
from explorer.text.attempt_text import cut
from explorer.text.escape import harmless

if TYPE_CHECKING:
    from explorer.results.pte import PteFile
    from explorer.results.stages import StagesResult
    from explorer.sets.programs import Programs


def view(
    program: Any,
    inputs: tuple[Any, ...] | Mapping[str, Any] | None = None,
    *,
    title: str = "",
) -> Exploration | Programs | PteFile | StagesResult | list[StagesResult] | list[PteFile]:
    """Opens a program that exists, from any source. Nothing is exported, and nothing is run.

    Graph, source, signature, shapes, query, diff and HTML work for all of them. Verify, Run and
    Watch work for an ExportedProgram; checks that need the eager model are skipped.

    Args:
        program: an `ExportedProgram` of any dialect: training, core ATen, edge, after passes; a
            `torch.fx.GraphModule`; a dict of them, ExecuTorch's `EdgeProgramManager` or
            transformers' `ExportedModel`, as a set; or the path of a `.pt2` file, or of a folder
            or `.zip` of several, as `explorer.load` opens it. An AOTInductor package without a
            program, or a TORCH_TRACE folder, shows its kernels. An ExecuTorch `.pte` file shows its
            methods, delegates and memory plan.
        inputs: inputs to run an ExportedProgram with, if it has no example or to replace it:
            positional arguments as a tuple, or keyword arguments as a dict.
        title: its title; its class by default.

    Raises:
        ArchiveError: the file cannot be read.
        PteError: it is not a `.pte` file.
        TypeError: it is not a program, or a GraphModule or a set is given `inputs`.
    """
    from explorer.opening.loading import load
    from explorer.opening.places import find_path

    if isinstance(program, Exploration):
        return program
    if isinstance(program, str | Path):
        refuse_inputs(inputs, "a file")
        path = find_path(program)
        return _open_path(path) or load(path)
    call = None if inputs is None else _call(inputs)
    if programs_in(program) is not None:
        refuse_inputs(inputs, "several programs")
        return view_several(program, title)
    return _open(program, title, call)


def _open_path(path: Path) -> PteFile | StagesResult | list[StagesResult] | list[PteFile] | None:
    """A `.pte` file, those of a folder, or the kernels of a folder or a package without programs.

    None of any other path.
    """
    from explorer.opening.folders import open_pte_export
    from explorer.results.pte import PteFile
    from explorer.results.stages import read_stages
    from export_engine.archive import ArchiveError, holds_export, list_programs, program_names
    from export_engine.pte import PteError, is_etdump, is_pte
    from export_engine.stages import holds_stages

    if is_pte(path) or (path.suffix == ".pte" and path.is_file() and not is_zipfile(path)):
        return PteFile(path)
    if is_etdump(path):
        raise PteError(
            f"{path.name} holds the times of a run. Open the program that ran: "
            f'explorer.view("model.pte").read_run({str(path)!r}, "etrecord.bin").'
        )
    if holds_export(path):
        return open_pte_export(path)
    if path.is_dir():
        if holds_stages(path):
            return read_stages(path)
        if list_programs(path):
            return None
        raise ArchiveError(_refuse_folder(path))
    try:
        has_program = bool(program_names(path))
    except ArchiveError:
        has_program = False
    return None if has_program or not holds_stages(path) else read_stages(path)


def _refuse_folder(path: Path) -> str:
    """The contents of a folder that can be opened."""
    if any(path.glob("archive_format")) or any(path.glob("*/archive_format")):
        return f"{path.name} is an unpacked .pt2 file. Pass the path of the .pt2 file itself."
    files = sorted(file.name for file in path.iterdir() if file.suffix in (".pt2", ".pte"))
    if files:
        return harmless(f"{path.name} is a folder. Pass one of its files: {cut(', '.join(files))}")
    return f"{path.name} is a folder without a program: no export.json, no trace of TORCH_TRACE."


def view_several(given: Any, title: str = "") -> Programs:
    """A dict of programs, or ExecuTorch's `EdgeProgramManager`, as a set; see `view`."""
    from explorer.sets.programs import Programs

    several = programs_in(given) or {}
    explorations = {
        name: _open(value, f"{title or 'program'}: {name}") for name, value in several.items()
    }
    return Programs(explorations, title=title or type(given).__name__)


def _open(program: Any, title: str, call: Call | None = None) -> Exploration:
    return Exploration(Session([entry_of(program, title, call)]))


def _call(inputs: object) -> Call:
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, tuple | list):
        return tuple(inputs), {}
    raise TypeError(
        f"inputs is a {type(inputs).__name__}. Pass the positional arguments as a tuple, or "
        "keyword arguments as a dict: explorer.view(program, (x,))"
    )
