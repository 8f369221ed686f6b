"""From a model that generates to the set of its programs, and generation by that set."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration
from explorer.exporting import explored
from explorer.programs import Programs
from explorer.session import FixError

if TYPE_CHECKING:
    from export_engine.generation import Cut, CutComponent
    from export_engine.progress import Progress
    from export_engine.record import GenerationTrial

BACKENDS = ("program", "aoti")
"""What a generation can run its programs by."""


class GenerationPrograms(Programs):
    """The programs of one `generate()`: a set that can be run end to end."""

    def __init__(
        self,
        programs: Mapping[str, Exploration],
        made: Cut,
        inputs: Mapping[str, Any],
        **options: Any,
    ) -> None:
        """Make one; `explorer.explore_generation` does.

        Args:
            programs: by name, in the order in which they are called first.
            made: the model, cut.
            inputs: what its `generate()` takes.
            options: as `Programs` takes them.
        """
        super().__init__(programs, **options)
        self._cut = made
        self._inputs = dict(inputs)

    def generate(
        self,
        tokens: int = 16,
        *,
        backend: str = "program",
        sizes: Sequence[tuple[int, int]] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> list[GenerationTrial]:
        """Generates greedily with the programs, and compares with the model's own `generate()`.

        The results are kept: the view and `print(kit)` show them.

        Args:
            tokens: how many new tokens.
            backend: `program`, which runs the graphs with torch, or `aoti`, which compiles them
                ahead first.
            sizes: rows and prompt tokens, `[(1, 7), (4, 12)]`; by default the inputs' own, one
                row, more rows, and longer and shorter prompts.
            progress: told before each generation.

        Raises:
            FixError: a program failed to export, or there is no such backend.
            KeyboardInterrupt: interrupted; what has ended is kept.
        """
        from export_engine.generation import sizes_to_try, tried

        if backend not in BACKENDS:
            raise FixError(f"There is no backend {backend!r}; there are {', '.join(BACKENDS)}.")
        failed = [name for name, each in self.items() if not each.ok]
        if failed:
            raise FixError(f"{', '.join(failed)} failed to export, so the set cannot generate.")
        wanted = sizes_to_try(self._inputs) if sizes is None else list(sizes)
        found = []
        with ExitStack() as folders:
            folder = Path(folders.enter_context(tempfile.TemporaryDirectory()))
            called = {name: self._called(name, backend, folder) for name in self}
            trials = tried(
                self._cut, called, self._inputs, tokens, wanted, backend, progress=progress
            )
            for each in trials:
                found.append(each)
                self._trials.append(each)
        self.session.changed()
        return found

    def _called(self, name: str, backend: str, folder: Path) -> Callable[..., Any]:
        session = self[name].session
        program = session.exported(session.current, "run").program
        if backend == "program":
            return program.module()
        from export_engine.torch_internals import compiled_package, loaded_package, missing_packages

        missing = missing_packages()
        if missing:
            raise FixError(missing)
        return loaded_package(compiled_package(program, folder / f"{name}.pt2"))


def explore_generation(
    model: Any,
    inputs: Mapping[str, Any],
    *,
    title: str = "",
    cells: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> GenerationPrograms:
    """Cuts a model that generates into programs, and exports each with the sizes that vary.

    A real `generate()` is observed at three sizes; its modules' outermost calls are the programs.
    The model is as it was afterwards. Classes of caches stay registered as pytrees, since a program
    cannot be called without.

    Args:
        model: one of transformers' that generates, or one with such a `generate()`.
        inputs: what `generate()` takes: `tokenizer(text, return_tensors="pt")`.
        title: of the set.
        cells: Python's file name of each notebook cell, and the name to show for it.
        progress: told what is observed, and of each module that tracing enters.

    Raises:
        CutError: the model does not generate, or not with these inputs.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.generation import cut

    made = cut(model, inputs, progress)
    programs = {each.name: _exported(each, dict(cells or {}), progress) for each in made.components}
    facts = {
        each.name: {"role": each.role, "varying": each.varying, "arguments": each.arguments}
        for each in made.components
    }
    return GenerationPrograms(
        programs,
        made,
        inputs,
        title=title or f"{type(model).__name__}.generate(…)",
        facts=facts,
        notes=made.notes,
    )


def _exported(
    component: CutComponent,
    cells: dict[str, str],
    progress: Callable[[Progress], None] | None,
) -> Exploration:
    """A component, exported: with its sizes named, else with them left to torch."""
    first = explored(component.request.with_changes(cells=cells), progress=progress)
    if first.ok:
        return first
    other = explored(component.fallback.with_changes(cells=cells), progress=progress)
    return other if other.ok else first
