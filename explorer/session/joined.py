"""The sessions of a set's programs as one, for the view: it shows attempts of all programs.

Attempts are numbered as they come, so a number stays that of its attempt. Each of them is still an
attempt of its own program's session, and whatever is done to it is done there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from explorer.session.entry import Entry
from explorer.session.session import FixError, Session
from explorer.session.variable_names import find_variable

if TYPE_CHECKING:
    from explorer.page.messages import AttemptHead
    from explorer.session.session import Table
    from export_engine.attempt import Attempt, Exported
    from export_engine.fixes import AutofixReport
    from export_engine.progress import Report
    from export_engine.record import GenerationTrial, ProgramSet
    from export_engine.verify import Verified


class JoinedSession(Session):
    """Several sessions, seen as one."""

    def __init__(
        self, members: dict[str, Session], described: Callable[[], ProgramSet], shown: str
    ) -> None:
        """Make one.

        Args:
            members: the session of each program, by its name.
            described: gives the set as it is now.
            shown: the program to show first.
        """
        self._members = members
        self._described = described
        self._places: list[tuple[str, int]] = []
        self._joined: dict[int, tuple[Entry, Entry]] = {}
        self._shown = shown
        self.generates: Callable[[str, Report | None], list[GenerationTrial]] | None = None
        """Generates by a backend; None for a set that was not cut from a `generate()`."""
        self._listeners: list[Callable[[], None]] = []
        self._muted = False
        for member in members.values():
            member.watch(self._tell_all)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All attempts of all programs, in the order in which they were first seen."""
        for name, member in self._members.items():
            total = sum(place[0] == name for place in self._places)
            self._places += [(name, number) for number in range(total, len(member.entries))]
        return tuple(self._entry(number) for number in range(len(self._places)))

    def _entry(self, number: int) -> Entry:
        """An attempt, labelled with its program and with its parent's number here."""
        name, local = self._places[number]
        own = self._members[name].entries[local]
        pair = self._joined.get(number)
        if pair is None or pair[0] is not own:
            parent = self._places.index((name, own.parent)) if own.parent >= 0 else -1
            result = replace(own, label=name, parent=parent)
            known_parts = ("_described", "findings", "record", "encoded", "release")
            kept = {text: own.__dict__[text] for text in known_parts if text in own.__dict__}
            result.__dict__.update(kept)
            self._joined[number] = own, result
        return self._joined[number][1]

    @property
    def current(self) -> int:  # type: ignore[override]
        """The attempt that the shown program has."""
        _ = self.entries
        return self._places.index((self._shown, self._members[self._shown].current))

    def _at(self, number: int) -> tuple[Session, int]:
        _ = self.entries
        name, local = self._places[number]
        return self._members[name], local

    def _act(self, number: int) -> tuple[Session, int]:
        """The same, of an action that makes another attempt: its program is the one to show."""
        member, local = self._at(number)
        self._shown = self._places[number][0]
        return member, local

    def _number(self, member: Session, local: int) -> int:
        """The number here of an attempt of a program."""
        _ = self.entries
        name = next(name for name, session in self._members.items() if session is member)
        return self._places.index((name, local))

    @property
    def entry(self) -> Entry:
        """The current attempt."""
        return self.entries[self.current]

    @property
    def other_verdicts(self) -> list[str]:
        """None: the other attempts are those of other programs."""
        return []

    def numbers(self) -> list[int]:
        """Per program, the number of the attempt that it has."""
        return [self._number(member, member.current) for member in self._members.values()]

    @property
    def name(self) -> str:
        """The set's variable name in the user's Python; `kit` if no variable holds it."""
        return find_variable(self) or "kit"

    def heads(self) -> list[AttemptHead]:
        """As of a session, with the name of each program: `kit['decode']`."""
        name = self.name
        return [entry.head(f"{name}[{entry.label!r}]") for entry in self.entries]

    def state(self) -> dict[str, Any]:
        """A widget's initial data: the attempts, and the set around them."""
        return {**super().state(), "programs": self.programs()}

    def programs(self) -> dict[str, Any]:
        """The set, and which attempt each program has, as plain data."""
        import msgspec

        state = {"set": msgspec.to_builtins(self.record), "attempts": self.numbers()}
        return {**state, "backends": self._backends if self.generates else []}

    @property
    def record(self) -> ProgramSet:
        """The set as it is now."""
        return self._described()

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` whenever a program has more or other attempts; returns how to stop."""
        self._listeners.append(changed)
        return lambda: self._listeners.remove(changed) if changed in self._listeners else None

    def notify(self) -> None:
        """Tells views that more is known of the set."""
        self._tell_all()

    def _tell_all(self) -> None:
        for listener in list(self._listeners):
            listener()

    def generate(self, backend: str, progress: Report | None = None) -> str:
        """Generates with the programs by a backend; how it went, as a sentence.

        Raises:
            FixError: the set was not cut from a model's `generate()`.
        """
        if self.generates is None:
            raise FixError("Only a set that explorer.explore_generation made can generate.")
        trials = self.generates(backend, progress)
        same = sum(trial.outcome == "same" for trial in trials)
        return f"{same} of {len(trials)} generations have the same tokens as generate()."

    def use(self, number: int) -> None:
        """Makes an attempt the one of its program, and shows that program."""
        member, local = self._act(number)
        member.use(local)

    def apply(self, number: int, fixes: Sequence[int], progress: Report | None = None) -> int:
        """Applies fixes of an attempt; see `Session.apply`."""
        member, local = self._act(number)
        return self._number(member, member.apply(local, fixes, progress))

    def autofix(self, number: int, progress: Report | None = None) -> AutofixReport:
        """Applies lossless fixes to an attempt; see `Session.autofix`."""
        member, local = self._act(number)
        return member.autofix(local, progress)

    def decompose(self, number: int, table: Table, progress: Report | None = None) -> int:
        """Decomposes an attempt; see `Session.decompose`."""
        member, local = self._act(number)
        return self._number(member, member.decompose(local, table, progress))

    def convert(self, number: int, progress: Report | None = None) -> int:
        """Exports an attempt with the other form of shapes; see `Session.convert`."""
        member, local = self._act(number)
        return self._number(member, member.convert(local, progress))

    def verify(self, number: int, sizes: int, progress: Report | None = None) -> Verified:
        """Checks the guarantees of an attempt; see `Session.verify`."""
        member, local = self._at(number)
        return member.verify(local, sizes, progress)

    def require_exported(
        self, number: int, wanted: str, progress: Report | None = None
    ) -> Exported:
        """An attempt with a program; see `Session.require_exported`."""
        member, local = self._at(number)
        return member.require_exported(local, wanted, progress)

    def trust(self, number: int) -> None:
        """Trusts the file of an attempt; see `Session.trust`."""
        member, local = self._at(number)
        member.trust(local)

    def attempt(self, number: int, wanted: str, progress: Report | None = None) -> Attempt:
        """An attempt, whether or not it has a program; see `Session.attempt`."""
        member, local = self._at(number)
        return member.attempt(local, wanted, progress)

    def add_other(self, entry: Entry, number: int, name: str) -> int:
        """Adds a program to compare with; see `Session.add_other`."""
        member, local = self._at(number)
        return self._number(member, member.add_other(entry, local, name))

    def keep(self, number: int, **found: Any) -> None:
        """Adds results to an attempt and its Record."""
        member, local = self._at(number)
        member.keep(local, **found)

    @cached_property
    def _backends(self) -> list[dict[str, Any]]:
        """Backends that a set can generate with, as plain data; sent with each change."""
        from export_engine.run import RepeatedBackend, backends, missing_for

        return [
            {"name": backend.name, "title": backend.title, "missing": missing_for(backend, "cpu")}
            for backend in backends().values()
            if isinstance(backend, RepeatedBackend)
        ]
