"""Programs: a set of programs that belong together, each of them an Exploration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.display.saving import make_suffix_error
from explorer.exploration import Exploration
from explorer.old_names import OldSetNames
from explorer.session.given_program import entry_of, is_program
from explorer.session.joined import JoinedSession
from explorer.session.session import FixError, Session
from explorer.text.escape import harmless
from explorer.text.validate_options import check_writable
from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import GraphModule

    from explorer.text.release_verdict import Release
    from export_engine.archive import ExportMetadata, HeldWeight
    from export_engine.attempt import Exported
    from export_engine.programs import Component, Link
    from export_engine.progress import Progress
    from export_engine.record import (
        GenerationPlan,
        GenerationTrial,
        ProgramSet,
        Seam,
        SetFinding,
        WeightRow,
    )
    from export_engine.verify import Verified


def _make_explorations(programs: object, title: str) -> dict[str, Exploration]:
    if not isinstance(programs, Mapping):
        kind = type(programs).__name__
        raise TypeError(f"Expected a dict of programs, got {kind}. Pass {{name: program}}.")
    if not programs:
        raise WrongArgument("A set needs at least one program.")
    return {
        name: _show(program, f"{title or 'program'}: {name}") for name, program in programs.items()
    }


def _show(program: Any, title: str) -> Exploration:
    if isinstance(program, Exploration):
        return program
    if not is_program(program):
        raise TypeError(
            f"{type(program).__name__} is not a program. Pass an Exploration, an ExportedProgram "
            "or a GraphModule: explorer.view opens a file, explorer.explore exports a model."
        )
    return Exploration(Session([entry_of(program, title)]))


class Programs(Mapping[str, Exploration], OldSetNames):
    """A set of programs, in the order in which they are called first.

    Show it by leaving it on the last line of a cell. `kit["decode"]` is the Exploration of one
    program; `kit.seams` lists the tensors between them, `kit.findings` the mismatches.
    """

    def __init__(
        self,
        programs: Mapping[str, Exploration | ExportedProgram | GraphModule],
        *,
        title: str = "",
        links: Sequence[Link] = (),
        facts: Mapping[str, Mapping[str, Any]] | None = None,
        weights: Mapping[str, Mapping[str, HeldWeight]] | None = None,
        trials: Sequence[GenerationTrial] = (),
        notes: Sequence[str] = (),
        recorded: Mapping[str, ExportMetadata] | None = None,
    ) -> None:
        """Make one; `explorer.explore_many` and `explorer.load` do.

        Args:
            programs: by name, in the order in which they are called first: an Exploration, an
                ExportedProgram or a GraphModule.
            title: of the set.
            links: what example calls show to flow between them.
            facts: per program, what is known of its calls: fields of `programs.Component`.
            weights: per program of a file, what it holds.
            trials: generations that were run.
            notes: sentences about the set.
            recorded: per program, what an exporter of transformers recorded of it.

        Raises:
            ValueError: there is no program.
            TypeError: it is not a mapping, or one of them is not a program.
        """
        self._programs = _make_explorations(programs, title)
        self._title = title
        self._links = list(links)
        self._facts = {name: dict(fact) for name, fact in (facts or {}).items()}
        self._weights = dict(weights or {})
        self._trials = list(trials)
        self._notes = list(notes)
        self.recorded = dict(recorded or {})
        """Per program of a folder that transformers wrote: its kwargs, specs and constants."""
        self._known: tuple[Any, ProgramSet] | None = None
        self.session = self._join_sessions()

    def _join_sessions(self, shown: str = "") -> JoinedSession:
        """All attempts of all programs, for the view: first one that failed, if there is one."""
        members = {name: program.session for name, program in self._programs.items()}
        failed = next((name for name, program in self._programs.items() if not program.ok), "")
        return JoinedSession(members, lambda: self.record, shown or failed or next(iter(members)))

    def __getitem__(self, name: str) -> Exploration:
        if name not in self._programs:
            raise KeyError(f"There is no program {name!r}; available: {', '.join(self._programs)}.")
        return self._programs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._programs)

    def __len__(self) -> int:
        return len(self._programs)

    @property
    def ok(self) -> bool:
        """Whether every program exported."""
        return all(program.ok for program in self._programs.values())

    @property
    def record(self) -> ProgramSet:
        """The data of the set, in addition to each program's Record."""
        key = [
            (name, program.session.current, program.session.entry.revision)
            for name, program in self._programs.items()
        ]
        key.append(("", len(self._trials), len(self._links)))
        if self._known is None or self._known[0] != key:
            from export_engine.programs import build_set

            components = [self._component(name) for name in self._programs]
            program_set = build_set(
                self.title, components, self._links, self._trials, notes=self._notes
            )
            self._known = key, program_set
        return self._known[1]

    def _component(self, name: str) -> Component:
        from export_engine.programs import Component

        entry = self._programs[name].session.entry
        held = self._weights.get(name)
        if held is None:
            held = self._held(name)
        return Component(name, entry.record, held, **self._facts.get(name, {}))

    def _held(self, name: str) -> Mapping[str, HeldWeight]:
        """The weights of a program in memory; none of one that failed, of a file or a graph."""
        session = self._programs[name].session
        if not session.entry.ok or session.entry.stored.in_file:
            return {}
        from export_engine.attempt import Exported
        from export_engine.programs import weights_of

        attempt = session.attempt(session.current, "compare")
        return weights_of(attempt.program) if isinstance(attempt, Exported) else {}

    @property
    def title(self) -> str:
        """The title of the set."""
        return self._title or " · ".join(self._programs)

    @property
    def seams(self) -> list[Seam]:
        """The tensors that flow between programs."""
        return self.record.seams

    @property
    def weights(self) -> list[WeightRow]:
        """Weights that several programs have."""
        return self.record.weights

    @property
    def findings(self) -> list[SetFinding]:
        """What is wrong or surprising between programs, most severe first."""
        return self.record.findings

    def add(self, name: str, exploration: Exploration) -> None:
        """Adds a program, or replaces the one of this name.

        Raises:
            ValueError: the name is not valid in a file.
        """
        check_name(name)
        self._programs[name] = exploration
        self._facts.pop(name, None)
        self._weights.pop(name, None)
        self._links = links_of(self._programs)
        self._known = None
        self.session = self._join_sessions(name)

    def trust(self) -> Programs:
        """Trusts the file that the set was loaded from; see `Exploration.trust`."""
        for program in self._programs.values():
            program.trust()
        return self

    def verify(
        self, sizes: int = 8, progress: Callable[[Progress], None] | None = None
    ) -> dict[str, Verified]:
        """Checks torch.export's guarantees on each program that exported; by name.

        Raises:
            NotTrusted: a program is in an untrusted file.
            KeyboardInterrupt: interrupted; finished checks are kept.
        """
        return {
            name: program.verify(sizes, progress)
            for name, program in self._programs.items()
            if program.ok
        }

    def release_report(self) -> Release:
        """Whether the set can be shipped, as far as was checked. `print` the result.

        It sums up each program, the connections and the generations, and runs nothing.
        """
        from explorer.text.set_release_verdict import set_release_of

        return set_release_of(self.record, self._records()).called(self.session.name)

    def save(self, path: str | Path, *, kind: str = "") -> Path:
        """Writes a file; its suffix decides the format.

        - `.pt2`: all programs, with shared weights stored once. torch reads it
          (`torch.export.pt2_archive.load_pt2`), `explorer.load` shows it.
        - `.html`: one file with the whole set, to read without a kernel or a network.
        - `.json`: the set, for other tools: `set`, and the Record of each of `programs`.

        Args:
            path: where to.
            kind: a suffix such as `.html`, to use instead of the name's.

        Raises:
            ArchiveError: torch cannot save one of them, or the file cannot be written.
            FixError: a program failed to export, and the file needs it.
            FrontEndMissing: the front end was not built.
            NotTrusted: a program is in an untrusted file.
            OSError: the file cannot be written.
            ValueError: there is no such suffix.
        """
        match kind or Path(path).suffix.lower():
            case ".html" | ".htm":
                from explorer.display.report import write_report

                return write_report(self.session, path)
            case ".json":
                from export_engine.record import set_to_json

                file = Path(path)
                check_writable(file)
                records = {
                    name: exploration.session.entry.kept for name, exploration in self.items()
                }
                file.write_bytes(set_to_json(self.record, records))
                return file
            case ".pt2":
                return self._save_programs(path)
            case _:
                raise make_suffix_error(path, ".pt2, .html or .json")

    def _save_programs(self, path: str | Path) -> Path:
        from explorer.session.opened_file import save_set_signed
        from export_engine.archive import KeptSet

        failed = [name for name, program in self._programs.items() if not program.ok]
        if failed:
            raise FixError(
                f"{', '.join(failed)} failed to export, so the set has no program of that name. "
                "Fix it, or leave it out, and save again."
            )
        record = self.record
        kept = KeptSet(
            order=list(self._programs),
            roles={
                component.name: component.role for component in record.components if component.role
            },
            links=[tuple(link) for link in self._links],  # type: ignore[misc]
            trials=self._trials,
        )
        return save_set_signed(
            self._collect_exported(), self._records(), kept, path, self._generation()
        )

    def _generation(self) -> GenerationPlan | None:
        """How the programs generate without a model; None where nothing is known of it."""
        return None

    def _collect_exported(self) -> dict[str, Exported]:
        return {
            name: program.session.require_exported(program.session.current, "save")
            for name, program in self._programs.items()
        }

    def _records(self) -> dict[str, Any]:
        return {name: program.record for name, program in self._programs.items()}

    def _repr_mimebundle_(self, **options: Any) -> Any:
        from widgets import FrontEndMissing

        try:
            from explorer.display.widget import widget_of

            widget = widget_of(self.session, self._static())
            return widget._repr_mimebundle_(**options)
        except FrontEndMissing as missing:
            return self._static(note=str(missing))

    def _static(self, **options: str) -> dict[str, str]:
        """The fallback where no widget runs."""
        from explorer.text.static_picture import static_html

        entry = self.session.entry
        page = static_html(entry.record, "all", [repr(self)], **options)
        return {"text/plain": repr(self), "text/html": page}

    def __repr__(self) -> str:
        from explorer.text.set_text import set_text

        return harmless(set_text(self.record, self._records()))


_LONGEST_NAME = 100
"""Characters: a name is part of file names."""


def check_name(name: object) -> None:
    """Raises ValueError if a program cannot have this name."""
    from export_engine.archive import NAME

    if not isinstance(name, str) or len(name) > _LONGEST_NAME or not NAME.fullmatch(name):
        raise WrongArgument(
            f"{str(name)[:_LONGEST_NAME]!r} is not a valid program name: use up to "
            f"{_LONGEST_NAME} letters, digits, `_`, `.` and `-`."
        )


def links_of(programs: Mapping[str, Exploration]) -> list[Link]:
    """Connections that the examples of programs show."""
    from export_engine.attempt import Exported
    from export_engine.programs import links_by_value

    attempts = {name: program.session.entry.attempt for name, program in programs.items()}
    return links_by_value(
        {name: attempt for name, attempt in attempts.items() if isinstance(attempt, Exported)}
    )
