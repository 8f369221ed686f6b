"""From a model that generates to the set of its programs, and generation by that set."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.exploration import Exploration
from explorer.session.entry import Entry
from explorer.session.joined import JoinedSession
from explorer.session.notebook_cells import cell_names
from explorer.session.session import FixError, Session
from explorer.sets.loaded_programs import check_tokens, flat_programs
from explorer.sets.programs import Programs, links_of
from export_engine.defects import log_internal_error

if TYPE_CHECKING:
    from torch import Tensor

    from export_engine.attempt import Attempt, Request
    from export_engine.generation import CallApart, Cut, CutComponent, OpApart
    from export_engine.progress import Progress
    from export_engine.record import GenerationPlan, GenerationTrial
    from export_engine.run import RepeatedBackend


class _NotCompiled(RuntimeError):
    """A backend that cannot compile a program. The message is a sentence."""

    def __init__(self, message: str, component: int) -> None:
        super().__init__(message)
        self.component = component


class Generations(list["GenerationTrial"]):
    """Generations by the programs, in order: a list that prints as a table."""

    @property
    def ok(self) -> bool:
        """Whether every generation that could run has the same tokens as `generate()`."""
        return all(trial.outcome in ("same", "unavailable") for trial in self)

    def __repr__(self) -> str:
        from explorer.text.generation_text import generation_lines

        return "\n".join(generation_lines(self)) or "Nothing was generated."


class GenerationPrograms(Programs):
    """The programs of one `generate()`: a set that can be run end to end."""

    def __init__(
        self,
        programs: Mapping[str, Exploration],
        made: Cut,
        inputs: Mapping[str, Any],
        narrowed: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        """Make one; `explorer.explore_generation` does.

        Args:
            programs: by name, in the order in which they are called first.
            made: the model, cut.
            inputs: what its `generate()` takes.
            narrowed: per program that did not export with every size dynamic, why, and what was
                done.
            options: as `Programs` takes them.
        """
        self._narrowed = dict(narrowed or {})
        self._cut = made
        self._inputs = dict(inputs)
        super().__init__(programs, **options)

    def _join_sessions(self, shown: str = "") -> JoinedSession:
        session = super()._join_sessions(shown)
        session.generates = lambda backend, progress: self.generate(
            backend=backend, progress=progress
        )
        return session

    def generate(
        self,
        tokens: int = 16,
        *,
        backend: str | Sequence[str] = "program",
        sizes: Sequence[tuple[int, int]] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Generations:
        """Generates greedily with the programs, and compares with the model's own `generate()`.

        The results are kept: the view and `print(kit)` show them.

        Args:
            tokens: how many new tokens.
            backend: `program`, which runs the graphs with torch; `aoti` (compiled ahead, weights
                shared), `onnx`, `executorch`; several; or `all`. A backend that is not installed
                becomes a trial with the reason.
            sizes: rows and prompt tokens, `[(1, 7), (4, 12)]`; by default the inputs' own, one
                row, more rows, and longer and shorter prompts, within the bounds of the set.
            progress: called before each generation.

        Raises:
            FixError: a program failed to export, there is no such backend, or tokens or sizes are
                not numbers.
            KeyboardInterrupt: interrupted; finished generations are kept.
        """
        from export_engine.generation import sizes_to_try

        check_tokens(tokens)
        failed = [name for name, exploration in self.items() if not exploration.ok]
        if failed:
            raise FixError(f"{', '.join(failed)} failed to export, so the set cannot generate.")
        wanted = (
            sizes_to_try(self._inputs, self._cut.bounds, tokens) if sizes is None else _pairs(sizes)
        )
        generations = Generations()
        try:
            with _containers_registered(self._cut):
                for repeated_backend in find_repeated_backends(backend):
                    for trial in self._by(repeated_backend, tokens, wanted, progress):
                        generations.append(trial)
                        self._trials.append(trial)
        finally:
            self.session.notify()
        return generations

    def _generation(self) -> GenerationPlan:
        """How the programs generate without the model; found by generating with them."""
        from export_engine.generation import plan_generation

        return plan_generation(self._cut, flat_programs(self, "save"), self._inputs)

    def _by(
        self,
        backend: RepeatedBackend,
        tokens: int,
        sizes: Sequence[tuple[int, int]],
        progress: Callable[[Progress], None] | None,
    ) -> Iterator[GenerationTrial]:
        from export_engine.generation import first_op_apart, try_generation
        from export_engine.record import GenerationTrial
        from export_engine.run import missing_for

        missing = missing_for(backend, "cpu")
        if missing:
            yield GenerationTrial("", backend.name, "unavailable", tokens, missing)
            return

        def locate(apart: CallApart) -> OpApart:
            session = self[apart.component].session
            attempt = session.require_exported(session.current, "compare")
            return first_op_apart(attempt, session.entry.record, apart, backend.name)

        with tempfile.TemporaryDirectory() as folder:
            try:
                called = self._load_backend(backend, Path(folder), progress)
            except _NotCompiled as error:
                yield GenerationTrial(
                    "", backend.name, "failed", tokens, str(error), component=error.component
                )
                return
            for trial in try_generation(
                self._cut, called, self._inputs, tokens, sizes, backend.name, locate, progress
            ):
                yield self._name_sizes(trial)

    def _name_sizes(self, trial: GenerationTrial) -> GenerationTrial:
        """A trial that went wrong with the program's names of sizes for torch's, and the reason."""
        if trial.outcome not in ("failed", "differs") or trial.component < 0:
            return trial
        from msgspec.structs import replace

        from export_engine.generation import describe_hidden_state
        from export_engine.record import in_user_names

        component = self._cut.components[trial.component]
        name = component.name
        sentence = in_user_names(trial.sentence, self[name].record.symbols)
        why = self._narrowed.get(name, "") if trial.outcome == "failed" else ""
        if component.keeps:  # no size would help
            why = describe_hidden_state(name, component.keeps)
        return replace(trial, sentence=f"{sentence.rstrip('.')}. {why}" if why else sentence)

    def _load_backend(
        self, backend: RepeatedBackend, folder: Path, progress: Callable[[Progress], None] | None
    ) -> dict[str, Callable[..., Any]]:
        """The callable of each component, with a backend."""
        from export_engine.progress import Progress
        from export_engine.run import Job, name_symbols, refusing_first, sentence_of

        result: dict[str, Callable[..., Any]] = {}
        for number, component in enumerate(self._cut.components):
            if progress:
                progress(Progress(number, len(self), f"{backend.title}: {component.name}"))
            session, own = self[component.name].session, folder / component.name
            own.mkdir()
            job = Job(
                program=session.require_exported(session.current, "run").program,
                model=component.module,
                args=component.request.args,
                kwargs=component.request.kwargs,
                device="cpu",
                folder=own,
                names=name_symbols(session.entry.record),
            )
            try:
                loaded = backend.load(job)
            except Exception as error:
                log_internal_error(error, f"compiling a set for {backend.name}")
                text = sentence_of(error, backend.title, "cpu", "compile", f"`{component.name}`")
                raise _NotCompiled(text, number) from error
            record = session.entry.record
            result[component.name] = (
                loaded  # torch's module asks itself
                if backend.name == "program"
                else refusing_first(loaded, job.program, record)
            )
        return result


def find_repeated_backends(names: str | Sequence[str]) -> list[RepeatedBackend]:
    """The backends of these names that can run a program call after call; `all` are all of them.

    Raises:
        FixError: there is no such backend, or it runs a program for fixed inputs only.
    """
    from export_engine.run import RepeatedBackend, backends

    able = {
        name: backend
        for name, backend in backends().items()
        if isinstance(backend, RepeatedBackend)
    }
    if names == "all":
        return list(able.values())
    wanted = [part.strip() for part in names.split(",")] if isinstance(names, str) else names
    unknown = [backend for backend in wanted if backend not in able]
    if unknown or not wanted:
        text = (
            f"There is no backend {unknown[0]!r} that generates"
            if unknown
            else ("Pass the name of a backend")
        )
        raise FixError(f"{text}. Available: {', '.join(able)}; or all.")
    return [able[backend] for backend in dict.fromkeys(wanted)]


def explore_generation(
    model: Any,
    inputs: Mapping[str, Any] | Tensor,
    *,
    bounds: str = "",
    title: str = "",
    cells: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> GenerationPrograms:
    """Cuts a model that generates into programs, and exports each with dynamic shapes.

    A real `generate()` is observed at three sizes; its modules' outermost calls are the programs.
    The model is unchanged afterwards. Cache classes stay registered as pytrees, since calling a
    program needs that.

    Args:
        model: a transformers model that generates, or a model with the same `generate()`.
        inputs: the arguments of `generate()`: `tokenizer(text, return_tensors="pt")`; a tensor is
            its `input_ids`.
        bounds: bounds of the sizes that vary, in the short language for shapes: `batch[..4],
            prompt[..64], past[..128]`. ExecuTorch plans memory from the upper bounds. `past` is the
            length of the cache passed to a call.
        title: of the set.
        cells: Python's file name of each notebook cell, and the name to show for it; by default
            those of the notebook that runs this.
        progress: called with each observation, and with each module that tracing enters.

    Raises:
        CutError: the model does not generate, or not with these inputs.
        ShapesError: the bounds do not follow the language, or name no size that varies.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    import torch

    from export_engine.generation import cut

    if isinstance(inputs, torch.Tensor):
        inputs = {"input_ids": inputs}
    result = cut(model, inputs, progress, bounds)
    with _containers_registered(result):
        return _export_all(result, model, inputs, title, cells, progress)


def _containers_registered(cut: Cut) -> AbstractContextManager[object]:
    """The classes of caches as containers for a while: other calls do not need them."""
    from export_engine.attempt import install_setups

    setups = [setup for component in cut.components for setup in component.request.setups]
    return install_setups(list(dict.fromkeys(setups)))


def _export_all(
    result: Cut,
    model: Any,
    inputs: Mapping[str, Any],
    title: str,
    cells: Mapping[str, str] | None,
    progress: Callable[[Progress], None] | None,
) -> GenerationPrograms:
    """The set of the programs that a model was cut into, each exported."""
    programs, narrowed = {}, {}
    for component in result.components:
        programs[component.name], why = _export_component(
            component, cell_names() if cells is None else dict(cells), progress
        )
        if why:
            narrowed[component.name] = why
    facts = {
        component.name: {
            "role": component.role,
            "varying": component.varying,
            "arguments": component.arguments,
        }
        for component in result.components
    }
    return GenerationPrograms(
        programs,
        result,
        inputs,
        narrowed,
        title=title or f"{type(model).__name__}.generate(…)",
        links=links_of(programs),
        facts=facts,
        notes=[*result.notes, *narrowed.values()],
    )


def _pairs(sizes: object) -> list[tuple[int, int]]:
    """Rows and prompt tokens; raises FixError where one of them is something else."""
    pairs = []
    for size in sizes if isinstance(sizes, Iterable) else [sizes]:
        match size:
            case (int(rows), int(prompt)) if min(rows, prompt) > 0:
                pairs.append((rows, prompt))
            case _:
                raise FixError(
                    f"{size!r} is not a size to generate at. Pass rows and prompt tokens, "
                    "sizes=[(1, 7), (4, 12)]."
                )
    return pairs


def _export_component(
    component: CutComponent,
    cells: dict[str, str],
    progress: Callable[[Progress], None] | None,
) -> tuple[Exploration, str]:
    """A component, exported, and a sentence about it where its sizes are not simply named.

    First with its sizes named, as the model is and as transformers traces it; then with lossless
    fixes; then with the sizes left to torch.
    """
    from export_engine.attempt import Failed
    from export_engine.capture import capture
    from export_engine.fixes import explain

    named = [
        request.with_changes(cells=cells) for request in (component.request, *component.fallbacks)
    ]
    automatic = named.pop()
    for request in named:
        attempt = capture(request, progress)
        if not isinstance(attempt, Failed):
            return _make_exploration(request, attempt), ""
    assert isinstance(attempt, Failed)
    failed = _make_exploration(request, explain(attempt, progress))
    why = _why(component.name, failed)
    report = failed.session.autofix(failed.session.current, progress)
    if failed.ok:
        titles = ", ".join(step.fix.title for step in report.kept)
        return failed, f"{why} It exports with these fixes: {titles}."
    attempt = capture(automatic, progress)
    if not isinstance(attempt, Failed):
        return _make_exploration(automatic, attempt), f"{why} torch chose its sizes instead."
    return failed, ""


def _make_exploration(request: Request, attempt: Attempt) -> Exploration:
    return Exploration(Session([Entry.of(attempt, request.mode)]))


def _why(name: str, failed: Exploration) -> str:
    """The failure of a component with all sizes dynamic, and its line."""
    from export_engine.source import find_last_user_frame

    record = failed.record
    assert record.failure is not None
    frame = find_last_user_frame(record, record.failure.stack)
    place = f" ({frame.name}:{frame.line})" if frame else ""
    text = record.failure.sentence.rstrip(".")
    return f"With every size dynamic, `{name}` does not export: {text}{place}."
