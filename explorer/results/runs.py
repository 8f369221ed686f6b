"""Runs of a session's program, here or on another machine: `ex.run()`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from explorer.session.session import FixError, Session
from explorer.text.run_text import profile_lines, run_lines

if TYPE_CHECKING:
    from explorer.page.messages import Setups
    from export_engine.progress import Progress
    from export_engine.record import Profile, Record, RunRow
    from export_engine.run import Plan


class Runs:
    """The results of running a program: a row per device, inputs and backend."""

    def __init__(self, rows: Sequence[RunRow]) -> None:
        """Make one.

        Args:
            rows: the runs, in order.
        """
        self.rows = tuple(rows)

    @property
    def ok(self) -> bool:
        """Whether every run that was possible here agrees with eager."""
        return all(row.outcome in ("agrees", "unavailable") for row in self.rows)

    def __repr__(self) -> str:
        return "\n".join(run_lines(self.rows)) or "Nothing was run."


class OpCosts:
    """The cost of a program's ops."""

    def __init__(self, record: Record) -> None:
        """Make one.

        Args:
            record: one with a profile.
        """
        self._record = record

    @property
    def profile(self) -> Profile:
        """The figures, per node of the main graph."""
        assert self._record.profile is not None
        return self._record.profile

    def __repr__(self) -> str:
        return "\n".join(profile_lines(self._record))


def run(
    session: Session,
    number: int,
    plan: Plan,
    on: Any = None,
    progress: Callable[[Progress], None] | None = None,
) -> Runs:
    """Runs the program of an attempt, and adds the rows to its Record.

    Args:
        session: whose attempt.
        number: the attempt's.
        plan: what to run. Without a folder, compiled programs live as long as this process.
        on: an ipyparallel client, to run on its engines; None: here.
        progress: called before each run.

    Raises:
        FixError: it has no program, or the plan asks for something that does not exist.
        KeyboardInterrupt: interrupted; finished rows are kept.
    """
    from export_engine.run import run as run_here

    attempt = session.require_exported(number, "run", progress)
    record = session.entries[number].record
    rows: list[RunRow] = []
    try:
        if on is None:
            run_here(attempt, record, plan, rows.append, progress)
        else:
            from explorer.results.distributed import run_on

            run_on(on, attempt, record, plan, rows.append, progress)
    except (ValueError, MemoryError) as error:
        raise FixError(str(error)) from error
    finally:
        if rows:
            kept = session.entries[number].runs
            session.keep(number, runs=(*kept, *rows))
    return Runs(rows)


def profile(
    session: Session,
    number: int,
    device: str = "cpu",
    inputs: Any = None,
    sizes: Any = None,
    progress: Callable[[Progress], None] | None = None,
) -> OpCosts:
    """Measures the cost of each op of an attempt's program, and adds it to its Record.

    Raises:
        FixError: it has no program, the program raises an error, or there is no such device,
            input or size.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.run import ProgramFailed
    from export_engine.run import profile as profile_here

    attempt = session.require_exported(number, "run", progress)
    record = session.entries[number].record
    try:
        result = profile_here(attempt, record, device, inputs, sizes, progress)
    except (ValueError, MemoryError, ProgramFailed) as error:
        raise FixError(str(error)) from error
    session.keep(number, profile=result)
    return OpCosts(session.entries[number].record)


class Backends(dict[str, str | None]):
    """Why each backend, by name, cannot run on a device here; None if it can."""

    def __repr__(self) -> str:
        return "\n".join(
            f"{'–' if why else '✓'} {name:<12} {why or 'can run here'}".rstrip()
            for name, why in self.items()
        )


def backends(device: str = "cpu") -> Backends:
    """The backends that can run on a device of this machine, and what the others lack. `print` it.

    Raises:
        ValueError: torch has no such device.
    """
    from export_engine.run import backends as known
    from export_engine.run import full_name, missing_device, missing_for

    named = full_name(device)
    absent = missing_device(named)
    return Backends(
        {backend.name: absent or missing_for(backend, named) for backend in known().values()}
    )


def available() -> Setups:
    """The devices here, and why each backend cannot run on them."""
    from explorer.page.messages import BackendHere, DelegateHere, Setups
    from export_engine.delegate import delegation_backends, why_missing
    from export_engine.run import backends, devices, missing_for, without_values

    here = devices()
    items = [
        BackendHere(
            backend.name,
            backend.title,
            [missing_for(backend, device) for device in here],
            without_values(backend),
        )
        for backend in backends().values()
    ]
    delegates = [
        DelegateHere(backend.name, backend.title, why_missing(backend))
        for backend in delegation_backends().values()
    ]
    return Setups(here, items, delegates)
