"""The Session: the attempts of one view, each made from an earlier one, or the first.

An attempt is never changed and none is lost. The current one, whose program the user has, changes
only to something better or by the user's choice.

Every Record is kept, and the programs of the last few attempts. An older program is rebuilt when it
is needed: its request is exported again, or its parent decomposed again.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.session.entry import Entry
from explorer.session.internal_errors import find_defect
from explorer.session.live_attempt import LiveAttempt
from explorer.session.stored import BorrowedAttempt, CannotLoad
from explorer.session.variable_names import find_variable
from export_engine.plain_errors import PlainError

if TYPE_CHECKING:
    from explorer.page.messages import AttemptHead
    from explorer.session.stored import StoredAttempt
    from export_engine.attempt import Attempt, Exported
    from export_engine.delegate import DelegationFix
    from export_engine.findings import Finding
    from export_engine.fixes import AutofixReport
    from export_engine.progress import Report
    from export_engine.record import Record
    from export_engine.verify import Verified

    CheckTwin = Callable[
        [Verified, Record, int, Report | None], tuple[Verified, tuple[Finding, ...]]
    ]

    Table = str | Mapping[Any, Callable[..., Any]]


HELD = 3
"""How many programs a session keeps: those of the attempts that were made or used last."""


class FixError(PlainError, RuntimeError):
    """A fix cannot be applied. The current attempt stays."""


class NotTrusted(FixError):
    """The program of an untrusted file was requested."""


def no_such_fix(offered: int, name: str = "ex") -> str:
    """That fixes were asked for by numbers that an attempt does not have."""
    if not offered:
        return "This attempt offers no fixes."
    numbers = "1 fix, number 0" if offered == 1 else f"{offered} fixes, numbers 0 to {offered - 1}"
    return f"This attempt offers {numbers}: {name}.apply_fixes(0)."


class Session:
    """Attempts in the order they were made. Never empty."""

    def __init__(self, entries: list[Entry]) -> None:
        """Make one.

        Args:
            entries: the attempts to begin with.
        """
        self._entries = list(entries)
        self._watchers: list[Callable[[], None]] = []
        self.cell = ""
        """The text of the notebook cell whose `%export` made it, as typed; empty if not known."""
        self.guided: object = None
        """The guide that walked it through, which lives as long as it."""
        self.check_twin: CheckTwin | None = None
        """For a model without weights: verifies its small twin, and compares their layers."""
        exported = [n for n, entry in enumerate(entries) if entry.ok]
        self.current = exported[0] if exported else 0
        """The attempt that the user has: the first that exported, else the first."""
        self._last_used: list[int] = [*range(len(entries)), self.current]
        """Numbers of attempts, the one whose program was used last at the end."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All attempts, the oldest first."""
        return tuple(self._entries)

    @property
    def entry(self) -> Entry:
        """The current attempt."""
        return self._entries[self.current]

    @property
    def other_verdicts(self) -> list[str]:
        """A line for each attempt that is not the current one."""
        return [entry.record.verdict for entry in self._entries if entry is not self.entry]

    @property
    def name(self) -> str:
        """The result's variable name in the user's Python; `ex` if no variable holds it."""
        return find_variable(self) or "ex"

    def heads(self) -> list[AttemptHead]:
        """Facts about each attempt that a view has before its Record arrives."""
        name = find_variable(self)
        return [entry.head(name) for entry in self.entries]

    def state(self) -> dict[str, Any]:
        """The summary of each attempt, which a widget has from the start."""
        import msgspec

        return {
            "attempts": msgspec.to_builtins(self.heads()),
            "current": self.current,
            "record": b""
            if self.entry.has_values
            else self.entry.encoded,  # a notebook may keep it
        }

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` whenever an attempt is added or another becomes current.

        Returns:
            A function that stops it.
        """
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed) if changed in self._watchers else None

    def use(self, number: int) -> None:
        """Makes an attempt the current one."""
        self.current = number
        self._use(number)
        self._tell()

    def apply(self, number: int, fixes: Sequence[int], progress: Report | None = None) -> int:
        """Applies fixes of an attempt together.

        Args:
            number: the attempt's.
            fixes: the fixes' numbers among those it offers.
            progress: called while it runs.

        Returns:
            The new attempt's number. It is current if it exported, or if nothing had yet.

        Raises:
            FixError: there are no such fixes, or they cannot be combined.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.attempt import Failed
        from export_engine.fixes import apply_fixes, explain

        attempt = self.attempt(number, "fix", progress)
        offered = self._entries[number].fixes
        if not fixes or not all(0 <= fix < len(offered) for fix in fixes):
            raise FixError(no_such_fix(len(offered), self.name))
        chosen = [offered[fix] for fix in sorted(set(fixes))]
        try:
            result = apply_fixes(attempt, chosen, progress)
        except Exception as error:
            titles = "; ".join(fix.title for fix in chosen)
            defect = find_defect(error, f"applying {titles}")
            if defect is not None:
                raise defect from error
            raise FixError(f"This cannot be applied ({titles}): {error}") from error
        if isinstance(result, Failed):
            result = explain(result, progress)
        return self._add([(result, "; ".join(fix.title for fix in chosen))], number)

    def autofix(self, number: int, progress: Report | None = None) -> AutofixReport:
        """Applies lossless fixes to an attempt until it exports or none is left.

        Raises:
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.fixes import autofix

        report = autofix(self.attempt(number, "fix", progress), progress)
        if report.kept:
            self._add([(step.attempt, step.fix.title) for step in report.kept], number)
        return report

    def decompose(self, number: int, table: Table, progress: Report | None = None) -> int:
        """Decomposes the program of an attempt; the new attempt becomes current.

        Args:
            number: the attempt's.
            table: what to decompose: a text in the short language, `core -linear`, or functions by
                op, as `run_decompositions` takes them.
            progress: called while it runs.

        Returns:
            The new attempt's number; an equal earlier one is reused.

        Raises:
            FixError: it has no program, the table is invalid, or torch cannot decompose it.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        attempt = self.require_exported(number, "decompose", progress)
        from export_engine.attempt import DecompositionTable, TableError
        from export_engine.transform import DecomposeError, decompose

        try:
            wanted = DecompositionTable.of(table)
            for earlier, entry in enumerate(self._entries):
                if entry.parent == number and entry.stored.table == wanted:
                    self.use(earlier)
                    return earlier
            result = decompose(attempt, wanted, progress)
        except (TableError, DecomposeError) as error:
            raise FixError(str(error)) from error
        return self._add([(result, f"Decomposed: {wanted}")], number)

    def convert(self, number: int, progress: Report | None = None) -> int:
        """Exports the call of an attempt with its shapes in the other form: Dims or a ShapesSpec.

        Conditions that no Dim can express are left out.

        Returns:
            The new attempt's number; an equal earlier one is reused. The current attempt does not
            change.

        Raises:
            FixError: it has no program or no dynamic shapes, or this torch has no ShapesSpec.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.attempt import Failed
        from export_engine.fixes import explain, try_request
        from export_engine.shapes import other_form
        from export_engine.torch_internals import missing_shapes_spec

        request = self.require_exported(number, "convert", progress).request
        shapes = request.shapes if request else None
        if request is None or shapes is None:
            raise FixError("This attempt has no dynamic shapes to convert.")
        form = other_form(shapes)
        if form is None:
            raise FixError(missing_shapes_spec())
        converted = shapes.to_spec() if form == "ShapesSpec" else shapes.closest_dims()[0]
        step = f"As {form}: {converted}"
        for earlier, entry in enumerate(self._entries):
            if (entry.parent, entry.step) == (number, step):
                return earlier
        result = try_request(request.with_changes(shapes=converted), progress)
        if isinstance(result, Failed):
            result = explain(result, progress)
        return self._add([(result, step)], number, use=False)

    def export_with(self, number: int, shapes: str, progress: Report | None = None) -> int:
        """Exports the call of an attempt again, with other shapes.

        Args:
            number: the attempt's.
            shapes: in the short language.
            progress: called while it runs.

        Returns:
            The new attempt's number. It is current if it exported.

        Raises:
            FixError: the attempt has no call.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.attempt import Failed
        from export_engine.fixes import explain, try_request
        from export_engine.shapes import Shapes

        request = self.attempt(number, "export", progress).request
        if request is None:
            raise FixError("This program was not exported from a call.")
        result = try_request(request.with_changes(shapes=Shapes.parse(shapes)), progress)
        if isinstance(result, Failed):
            result = explain(result, progress)
        return self._add([(result, f"With {shapes}")], number)

    def verify(self, number: int, sizes: int, progress: Report | None = None) -> Verified:
        """Checks the guarantees of an attempt's program, and adds them to its Record.

        Raises:
            FixError: it has no program.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        attempt = self.require_exported(number, "verify", progress)
        from export_engine.fixes import find_wrong_size
        from export_engine.verify import verify

        record = self._entries[number].record
        verified = verify(attempt, record, sizes, progress)
        differences: tuple[Finding, ...] = ()
        if self.check_twin is not None:
            verified, differences = self.check_twin(verified, record, sizes, progress)
        wrong = find_wrong_size(attempt, verified, progress)
        self.keep(number, verified=verified, verify_findings=(*wrong, *differences))
        return verified

    def require_exported(
        self, number: int, wanted: str, progress: Report | None = None
    ) -> Exported:
        """An attempt with a program; one that was dropped, or of a trusted file, is made now.

        The classes that its calls need as containers are registered from now on.

        Args:
            number: the attempt's.
            wanted: what the program is needed for: `verify`.
            progress: called while it is made; without it, one line on stderr says so.

        Raises:
            FixError: it has none, or cannot be rebuilt.
            NotTrusted: it is of an untrusted file.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        attempt = self.attempt(number, wanted, progress)
        from export_engine.attempt import Exported, GivenGraph

        if isinstance(attempt, GivenGraph):
            raise FixError(
                f"There is no program to {wanted}: a {attempt.given} cannot be run as a program. "
                "It can be viewed, queried, compared and saved as a page."
            )
        if not isinstance(attempt, Exported):
            raise FixError(f"There is no program to {wanted}: the export failed.")
        for setup in attempt.request.setups if attempt.request is not None else ():
            if setup.stays:
                setup.install()
        return attempt

    def generate(self, backend: str, progress: Report | None = None) -> str:
        """Generates with a set of programs; see `JoinedSession.generate`.

        Raises:
            FixError: this is one program.
        """
        raise FixError(
            "A single program cannot generate. explorer.explore_generation splits a model into "
            "programs that can."
        )

    def trust(self, number: int) -> None:
        """Trusts the file that was opened as data, and loads its program.

        Raises:
            FixError: the file has changed, or torch cannot load its program.
        """
        stored = self._entries[number].stored
        if stored.in_file:
            self._load(number, stored.trust_file(), None)

    def attempt(self, number: int, wanted: str, progress: Report | None = None) -> Attempt:
        """An attempt, whether or not it has a program; see `exported`.

        Raises:
            FixError: its program cannot be loaded or rebuilt.
            NotTrusted: it is of an untrusted file.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        stored = self._entries[number].stored
        if stored.untrusted:
            raise NotTrusted(
                f"There is no program to {wanted}: {stored.untrusted} was opened as data. "
                "Loading its program can run code from a hostile file. If you know who made it, "
                f"trust it: {self.name}.trust(), explorer.load(path, trusted=True), or "
                "--trusted."
            )
        attempt = self._load(number, stored, progress)
        self._use(number)
        return attempt

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt, oldest first; with `--both`, one per mode.

        A file counts once its program is loaded. Programs of older attempts that were dropped are
        rebuilt, all of them; `entries` has the Records without that.

        Raises:
            FixError: a program cannot be rebuilt.
        """
        entries = list(enumerate(self._entries))
        numbers = [number for number, entry in entries if not entry.stored.in_file]
        return tuple(self.attempt(number, "list") for number in numbers)

    @property
    def fixed_source(self) -> dict[str, str]:
        """The full text of each file or cell that code fixes of the current attempt changed.

        The files themselves are unchanged.
        """
        request = self.entry.request
        return {edit.file: edit.after for edit in request.edits} if request else {}

    def _load(self, number: int, stored: StoredAttempt, progress: Report | None) -> Attempt:
        """An attempt with its program, which the session holds from now on."""
        if stored.live is not None:
            return stored.live
        in_file = stored.in_file
        if stored.is_slow:
            self._announce(number, progress)
        parent = self._entries[number].parent
        try:
            result = stored.load(
                lambda: self.require_exported(parent, "decompose", progress), progress
            )
        except CannotLoad as error:
            raise FixError(
                str(error)
                if in_file
                else f"Attempt {number + 1} cannot be rebuilt: {error}. Its Record can "
                "still be read; export the call again for a program."
            ) from error
        held = stored if stored.is_borrowed else LiveAttempt(result)
        self._entries[number] = self._entries[number].with_attempt(held, in_file)
        if in_file:
            self._tell()
        return result

    def _announce(self, number: int, progress: Report | None) -> None:
        """Says that a program is exported again."""
        from export_engine.progress import Progress

        text = f"Attempt {number + 1} is rebuilt: only the last {HELD} programs are kept"
        if progress is not None:
            progress(Progress(0, 0, text))
        else:
            sys.stderr.write(f"{text}.\n")

    def _use(self, number: int) -> None:
        """Notes that an attempt was made or used, and releases programs used long before."""
        self._last_used = [
            *(used for used in self._last_used if used != number),
            number,
        ]
        held = {self.current, *self._last_used[-HELD:]}
        dropped = [
            (other, light)
            for other, entry in enumerate(self._entries)
            if other not in held and (light := entry.drop()) is not entry
        ]
        for other, light in dropped:
            self._entries[other] = light
        if dropped:
            gc.collect()  # programs refer to themselves, and Python counts objects, not megabytes

    def add_stage(self, made: Attempt, parent: int, step: str) -> int:
        """Adds what a backend made of an attempt's program; what is current stays so.

        Returns:
            Its number; it takes the place of an earlier one of the same step.
        """
        for number, entry in enumerate(self._entries):
            if (entry.parent, entry.step) == (parent, step):
                self._entries[number] = Entry.of(made, "", parent, step)
                return number
        return self._add([(made, step)], parent, use=False)

    def add_rewritten(self, parent: int, fix: DelegationFix, purpose: str) -> int:
        """Adds an attempt as a fix for delegation rewrote it; it becomes current.

        Returns:
            Its number.
        """
        from dataclasses import replace

        result = replace(fix.attempt, agreement=fix.agreement)
        return self._add([(result, f"{purpose}: {fix.title}")], parent)

    def lend(self, number: int | None = None) -> Entry:
        """An attempt, by default the current one, as the Entry of another session.

        This one keeps its program and rebuilds it where it was dropped.
        """
        number = self.current if number is None else number
        entry = self.entries[number]
        is_given = entry.record.mode == "given"
        step = entry.record.title if is_given else f"{entry.record.title}, {entry.label}"
        return entry.with_place(stored=BorrowedAttempt(self, number), parent=-1, step=step)

    def add_other(self, entry: Entry, number: int, name: str) -> int:
        """Adds a program of another session, to be compared with an attempt.

        Args:
            entry: the other program, as its session lends it.
            number: the attempt's.
            name: what the other is called.

        Returns:
            Its number; it takes the place of an earlier one of the same name. The current
            attempt does not change.
        """
        at = next((n for n, other in enumerate(self._entries) if _is_other(other, name)), None)
        if at is None:
            self._entries.append(entry.with_place(parent=number, step=name))
        else:
            revision = max(self._entries[at].revision, entry.revision) + 1
            self._entries[at] = entry.with_place(parent=number, step=name, revision=revision)
        self._tell()
        return len(self._entries) - 1 if at is None else at

    def keep(self, number: int, **found: Any) -> None:
        """Adds results to an attempt and its Record."""
        self._entries[number] = self._entries[number].with_results(**found)
        self._tell()

    def _add(self, made: list[tuple[Attempt, str]], parent: int, *, use: bool = True) -> int:
        """Appends a chain of attempts, each with what was done; the last may become current."""
        new: list[Entry] = []
        for attempt, step in made:
            entry = Entry.of(attempt, "", parent, step)
            entry.head()  # if one cannot be described, none is added
            parent = len(self._entries) + len(new)
            new.append(entry)
        self._entries.extend(new)
        if use and (self._entries[parent].ok or not self.entry.ok):
            self.current = parent
        self._use(parent)
        self._tell()
        return parent

    def _tell(self) -> None:
        for watcher in list(self._watchers):
            watcher()


def _is_other(entry: Entry, name: str) -> bool:
    """Whether it is a program of another session that goes by this name."""
    return isinstance(entry.stored, BorrowedAttempt) and entry.step == name
