"""A program that the user has already, opened without exporting it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration
from explorer.session.given_program import Call, entry_of, is_program, refuse_inputs
from explorer.session.session import Session

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
    """Opens a program that exists, whatever made it. Nothing is exported and nothing is run.

    Graph, source, signature, shapes, query, diff and HTML work for all of them. Verify, Run and
    Watch work for an ExportedProgram; what needs the eager model is not checked.

    Args:
        program: an `ExportedProgram` of any dialect: training, core ATen, edge, after passes; a
            `torch.fx.GraphModule`; a dict of them, ExecuTorch's `EdgeProgramManager` or
            transformers' `ExportedModel`, as a set; or the path of a `.pt2` file, or of a folder
            that transformers' exporters wrote, as `explorer.load` opens it. Of an AOTInductor
            package without a program, and of a folder of TORCH_TRACE: the kernels, as
            `explorer.read_stages` gives them. Of ExecuTorch's `.pte` file: its methods, delegates
            and memory plan.
        inputs: what to run an ExportedProgram with where it has no example, or another: positional
            arguments as a tuple, or keyword arguments as a dict.
        title: what to call it; its class by default.

    Raises:
        ArchiveError: the file cannot be read.
        PteError: it is no `.pte` file.
        TypeError: it is not a program, or a GraphModule or a set is given `inputs`.
    """
    from explorer.opening.loading import load

    if isinstance(program, Exploration):
        return program
    if isinstance(program, str | Path):
        refuse_inputs(inputs, "a file")
        if Path(program).suffix == ".pte":
            from explorer.results.pte import PteFile

            return PteFile(program)
        return _open_path(Path(program)) or load(program)
    call = None if inputs is None else _call(inputs)
    if programs_in(program) is not None:
        refuse_inputs(inputs, "several programs")
        return view_several(program, title)
    return _open(program, title, call)


def _open_path(path: Path) -> StagesResult | list[StagesResult] | list[PteFile] | None:
    """The `.pte` files or kernels of a folder, or the kernels of a package without a program.

    None of any other path.
    """
    from explorer.opening.transformers_folder import open_pte_export
    from explorer.results.stages import read_stages
    from export_engine.archive import ArchiveError, holds_export, program_names
    from export_engine.stages import holds_stages

    if holds_export(path):
        return open_pte_export(path)
    if path.is_dir():
        return read_stages(path)
    try:
        has_program = bool(program_names(path))
    except ArchiveError:
        has_program = False
    return None if has_program or not holds_stages(path) else read_stages(path)


def view_several(given: Any, title: str = "") -> Programs:
    """A dict of programs, or ExecuTorch's `EdgeProgramManager`, as a set; see `view`."""
    from explorer.sets.programs import Programs

    several = programs_in(given) or {}
    explorations = {
        name: _open(value, f"{title or 'program'}: {name}") for name, value in several.items()
    }
    return Programs(explorations, title=title or type(given).__name__)


def programs_in(given: Any) -> dict[str, Any] | None:
    """The programs of a dict, or of an object that holds several under names.

    ExecuTorch's `EdgeProgramManager` has `methods` and `exported_program(name)`, transformers'
    `ExportedModel` has `components`, each with a `program`.
    """
    components = getattr(given, "components", None)
    if isinstance(components, Mapping):
        given = {
            name: getattr(component, "program", None) for name, component in components.items()
        }
    if isinstance(given, Mapping) and given and all(map(is_program, given.values())):
        return dict(given)
    methods, get = getattr(given, "methods", None), getattr(given, "exported_program", None)
    if is_program(given) or methods is None or not callable(get):
        return None
    names = methods() if callable(methods) else methods
    return {name: get(name) for name in sorted(names)}


def _open(program: Any, title: str, call: Call | None = None) -> Exploration:
    return Exploration(Session([entry_of(program, title, call)]))


def _call(inputs: object) -> Call:
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, tuple | list):
        return tuple(inputs), {}
    raise TypeError(
        f"inputs is a {type(inputs).__name__}. Give the positional arguments as a tuple, or "
        "keyword arguments as a dict: explorer.view(program, (x,))"
    )
