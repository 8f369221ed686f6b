"""Reads an ETDump by the schema of ExecuTorch 1.5: how long each instruction of a run took."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import msgspec

from export_engine.pte.flatbuffer import Buffer, PteError, Table

_MARK, _HEAD, _MOST_BYTES = b"ED00", 12, 1 << 30
_CALLS = ("OPERATOR_CALL", "DELEGATE_CALL")
_NANOSECONDS = 1e-3


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """The times of an instruction, or of an op of the delegate that it calls."""

    name: str
    """`OPERATOR_CALL`, `DELEGATE_CALL`; of a delegate's op its own name."""
    microseconds: list[float]
    """One for each call, if the runtime's clock counts nanoseconds, as it does on hosts."""
    parts: list[Timed] = []
    """The delegate's own ops, in order."""

    @property
    def typical(self) -> float:
        """The median of the calls, in microseconds."""
        return median(self.microseconds)


class _Event(msgspec.Struct, frozen=True):
    name: str
    instruction: int
    is_inner: bool
    microseconds: float


def is_etdump(path: str | Path) -> bool:
    """Whether a file has an ETDump's mark. False if it cannot be read."""
    try:
        with Path(path).open("rb") as opened:
            return _start_of(opened.read(_HEAD)) >= 0
    except OSError:
        return False


def _start_of(head: bytes) -> int:
    """Where the flatbuffer begins: its size may come first; -1 where it is none of these."""
    return next((at for at in (0, 4) if head[at + 4 : at + 8] == _MARK), -1)


def read_etdump(path: str | Path) -> dict[int, Timed]:
    """Per instruction of the method that ran, its times; values that were kept are not read.

    Raises:
        PteError: it is not an ETDump, or not a whole one.
        OSError: it cannot be read.
    """
    file = Path(path)
    if not is_etdump(file):
        raise PteError(f"{file.name} is not an ETDump: it lacks ExecuTorch's mark, `ED00`.")
    if file.stat().st_size > _MOST_BYTES:
        raise PteError(f"{file.name} has more than {_MOST_BYTES:,} bytes, the limit for this file.")
    data = memoryview(file.read_bytes())
    root = Buffer(data[max(_start_of(bytes(data[:_HEAD])), 0) :]).root()
    times: dict[int, list[float]] = {}
    names: dict[int, str] = {}
    inner: dict[tuple[int, int, str], list[float]] = {}
    for events in root.tables(1, lambda run: run.tables(3, _event)):
        place = 0
        for event in events:
            if event is None or event.instruction < 0:
                continue
            if event.is_inner:
                key = event.instruction, place, event.name
                inner.setdefault(key, []).append(event.microseconds)
                place += 1
            elif event.name in _CALLS:
                times.setdefault(event.instruction, []).append(event.microseconds)
                names[event.instruction] = event.name
                place = 0
    return {
        at: Timed(
            name=names[at],
            microseconds=times[at],
            parts=[
                Timed(name=name, microseconds=took)
                for (own, _, name), took in sorted(inner.items())
                if own == at
            ],
        )
        for at in sorted(times)
    }


def _event(table: Table) -> _Event | None:
    event = table.table(0)
    if event is None:
        return None
    is_inner = event.number(3, default=-1) >= 0 or bool(event.text(4))
    took = event.number(7, "<Q") - event.number(6, "<Q")
    instruction = event.number(2, default=-1)
    name = event.text(4) if is_inner and event.text(4) else event.text(0)
    return _Event(name, instruction, is_inner, took * _NANOSECONDS)
