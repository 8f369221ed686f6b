"""An entry of a session from a program that the user has already. Nothing is exported."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explorer.session.entry import Entry
from explorer.session.notebook_cells import cell_names

if TYPE_CHECKING:
    import torch

    from export_engine.attempt import Attempt

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and keyword arguments."""


def entry_of(program: Any, title: str = "", call: Call | None = None) -> Entry:
    """The Entry of a program that the user has; see `view`.

    Args:
        program: an ExportedProgram or a GraphModule.
        title: what to call it.
        call: the positional and keyword arguments to run it with, where not with its example.

    Raises:
        TypeError: it is neither an ExportedProgram nor a GraphModule.
    """
    from export_engine.attempt import Exported, GivenGraph, GraphProgram
    from export_engine.torch_internals import with_example
    from export_engine.trace import Recording

    if not is_program(program):
        raise TypeError(
            f"{type(program).__name__} is not a program. Pass an ExportedProgram, a "
            "GraphModule, a dict of them, or the path of a .pt2 file; explorer.explore exports "
            "a model."
        )
    kind = kind_of(program)
    attempt: Attempt
    cells = cell_names()
    if kind == "GraphModule":
        refuse_inputs(call, "a GraphModule")
        attempt = GivenGraph(
            request=None,
            recording=Recording(),
            program=GraphProgram(program),
            title=title or type(program).__name__,
            given=kind,
            cells=cells,
        )
    else:
        held = program if call is None else with_example(program, *call)
        attempt = Exported(
            request=None,
            recording=Recording(),
            program=held,
            title=title or "program",
            given=kind,
            cells=cells,
        )
    return Entry.of(attempt)


def is_exported_program(given: object) -> bool:
    """Whether it is an ExportedProgram. Imports no torch."""
    torch = sys.modules.get("torch")  # where it was not imported, nothing of it is given
    return torch is not None and isinstance(given, torch.export.ExportedProgram)


def is_program(given: object) -> bool:
    """Whether it is an ExportedProgram or a GraphModule. Imports no torch."""
    torch = sys.modules.get("torch")
    is_graph = torch is not None and isinstance(given, torch.fx.GraphModule)
    return is_graph or is_exported_program(given)


def programs_in(given: Any) -> dict[str, Any] | None:
    """The programs of a dict, or of an object that holds several under names.

    ExecuTorch's `EdgeProgramManager` has `methods` and `exported_program(name)`, transformers'
    `ExportedModel` has `components`, each with a `program`.
    """
    components = _read_attribute(given, "components")
    if isinstance(components, Mapping):
        given = {
            name: getattr(component, "program", None) for name, component in components.items()
        }
    if isinstance(given, Mapping) and given and all(map(is_program, given.values())):
        return {name if isinstance(name, str) else repr(name): given[name] for name in given}
    methods, get = (_read_attribute(given, name) for name in ("methods", "exported_program"))
    if is_program(given) or methods is None or not callable(get):
        return None
    names = methods() if callable(methods) else methods
    return {name: get(name) for name in sorted(names)}


def _read_attribute(given: Any, name: str) -> Any:
    """An attribute that is there; a `__getattr__` of the user's own may raise whatever it likes."""
    has_it = hasattr(type(given), name) or name in getattr(given, "__dict__", {})
    return getattr(given, name, None) if has_it else None


def kind_of(program: torch.export.ExportedProgram | torch.fx.GraphModule) -> str:
    """What to call it: an edge program is ExecuTorch's dialect of an ExportedProgram."""
    import torch

    if isinstance(program, torch.fx.GraphModule):
        return "GraphModule"
    return "edge program" if program.dialect == "EDGE" else "ExportedProgram"


def refuse_inputs(inputs: object, kind: str) -> None:
    """Raises TypeError where inputs were given for what takes none."""
    if inputs is not None:
        raise TypeError(f"inputs were given for {kind}, but only an ExportedProgram accepts them.")
