"""From several calls, or a file of several programs, to a set of Explorations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration
from explorer.opening.exporting import explore
from explorer.session.entry import Entry
from explorer.session.session import Session
from explorer.sets.loaded_programs import LoadedPrograms, says_why_not
from explorer.sets.programs import Programs, check_name, links_of

if TYPE_CHECKING:
    from export_engine.progress import Progress

_SHAPE = '{name: (model, args), with kwargs and shapes after: (model, args, kwargs, "x: batch, _")}'


def explore_many(
    programs: Mapping[str, Any],
    *,
    strict: bool = False,
    fix: bool = False,
    title: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> Programs:
    """Exports several calls as one set; one that fails shows its own failure.

    Args:
        programs: per name the call: `(model, args)`, `(model, args, kwargs)` or `(model, args,
            kwargs, dynamic_shapes)`; or an Exploration. In the order in which they are called.
        strict: trace the bytecode instead of running the Python.
        fix: apply fixes that are not lossy to what does not export.
        title: of the set.
        progress: called on each module that tracing enters, and as fixes are tried.

    Raises:
        TypeError: no mapping is given, an entry is not a call, or its arguments do not fit.
        ShapesError: dynamic shapes do not fit their call.
        ValueError: there is no program, or a name that a file cannot hold.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    _check_programs(programs)
    explorations = {}
    for name, program in programs.items():
        if isinstance(program, Exploration):
            explorations[name] = program
            continue
        model, args, *rest = program
        explorations[name] = explore(
            model,
            args,
            rest[0] if rest else None,
            dynamic_shapes=rest[1] if len(rest) > 1 else None,
            strict=strict,
            fix=fix,
            title=f"{name}(…)",
            progress=progress,
        )
    return Programs(explorations, title=title, links=links_of(explorations))


def _check_programs(programs: object) -> None:
    """Raises TypeError or ValueError before anything is exported."""
    if not isinstance(programs, Mapping):
        kind = type(programs).__name__
        raise TypeError(f"Expected a dict of programs, got a {kind}. Pass {_SHAPE}")
    for name, program in programs.items():
        check_name(name)
        _check_call(name, program)


def _check_call(name: str, given: Any) -> None:
    """Raises TypeError before anything is exported."""
    if isinstance(given, Exploration):
        return
    if not isinstance(given, tuple | list) or not 2 <= len(given) <= 4 or not callable(given[0]):
        kind = type(given).__name__
        raise TypeError(f"{name!r} is a {kind}, not a call. Pass {_SHAPE}")
    if not isinstance(given[1], tuple | list):
        raise TypeError(
            f"The arguments of {name!r} are a {type(given[1]).__name__}. Pass them as a tuple: "
            f"{_SHAPE}"
        )


def load_set(path: str | Path, *, trusted: bool = False) -> LoadedPrograms:
    """Opens a `.pt2` file of several programs as data; see `explorer.load`."""
    from explorer.session.opened_file import read_set_file

    files, read_set = read_set_file(path, trusted=trusted)
    from export_engine.programs import Link

    explorations = {
        name: Exploration(Session([Entry("loaded", opened)])) for name, opened in files.items()
    }
    kept = read_set.kept
    return LoadedPrograms(
        explorations,
        read_set.plan,
        title=Path(path).name,
        links=[Link(*link) for link in kept.links],
        facts={name: {"role": role} for name, role in kept.roles.items() if name in explorations},
        weights={name: program.weights for name, program in read_set.programs.items()},
        trials=kept.trials,
        notes=[says_why_not(read_set.plan)] if read_set.plan.why_not and kept.roles else [],
    )
