"""What is known of a trial once it has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

Outcome = Literal["exported", "fixed", "failed", "call failed", "time", "memory", "crashed", "lost"]
"""`fixed`: exported after fixes that are not lossy. `call failed`: the model was not made, or its
call not accepted. `time`, `memory`: ended at a limit. `crashed`: the process died. `lost`: what ran
the process died."""
GOOD: tuple[Outcome, ...] = ("exported", "fixed")


class BackendRow(msgspec.Struct, frozen=True, kw_only=True):
    """A program run with a backend."""

    backend: str
    outcome: str
    """As `ex.run` has it: `agrees`, `differs`, `failed`, `unavailable`."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a trial."""

    key: str
    name: str
    group: str = ""
    mode: str = ""
    shapes: str = ""
    label: str = ""
    outcome: Outcome
    sentence: str = ""
    """Why it did not export; of a program, its verdict."""
    code: str = ""
    """The code of the diagnosis, even if fixes cured it: `EX111`."""
    kind: str = ""
    place: str = ""
    """The line that failed: `model.py:12`."""
    fixes: list[str] = []
    """Titles of the fixes that cured it; of a failure, those on offer."""
    agrees: Literal["agrees", "differs", "not checked"] = "not checked"
    agreement: str = ""
    """The comparison with eager, with the sizes."""
    sizes: int = 0
    """At how many sizes or calls the program was compared with eager."""
    guarantees: dict[str, str] = {}
    """The verdict per guarantee, if they were checked."""
    findings: list[str] = []
    """Codes of findings."""
    ops: dict[str, int] = {}
    """How often each op is called."""
    symbols: dict[str, str] = {}
    """The range of each symbolic size."""
    flops: str = ""
    """A formula of the named sizes."""
    parameters: int = 0
    backends: list[BackendRow] = []
    seconds: float = 0.0
    """Of the whole trial."""
    export_seconds: float = 0.0
    peak: int = 0
    """The most memory of the process, in bytes."""
    torch: str = ""
    page: str = ""
    """The HTML file with its view."""
    stage: str = ""
    """The stage in which a limit ended it: `export`, `check`, `run`."""

    @property
    def ok(self) -> bool:
        """Whether there is a program, nothing differs, and each run agrees."""
        runs = all(backend.outcome in ("agrees", "unavailable") for backend in self.backends)
        held = "broken" not in self.guarantees.values()
        return self.outcome in GOOD and self.agrees != "differs" and runs and held


def headline(rows: Sequence[Row]) -> str:
    """How many trials ended how: `12 trials: 9 exported, 2 fixed, 1 failed.`."""
    counts = Counter(row.outcome for row in rows).most_common()
    return f"{len(rows)} trials: {', '.join(f'{n} {name}' for name, n in counts) or 'none'}."


def by_code(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows by the code of their failure, the most frequent first; cured ones are in it."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.code:
            groups.setdefault(row.code, []).append(row)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))


class GroupCounts(msgspec.Struct, frozen=True):
    """How the trials of a group ended, such as of a library."""

    group: str
    trials: int
    exported: int
    """As torch.export alone has it."""
    fixed: int
    """More that export with fixes which are not lossy."""
    agree: int
    """Of all that export, those that match eager at every size that was compared."""


def count_groups(rows: Sequence[Row]) -> list[GroupCounts]:
    """The counts of each group, by name; those of all rows last."""
    groups = sorted({row.group for row in rows})
    chosen = [(group, [row for row in rows if row.group == group]) for group in groups]
    return [
        GroupCounts(
            group or "none",
            len(members),
            sum(row.outcome == "exported" for row in members),
            sum(row.outcome == "fixed" for row in members),
            sum(row.outcome in GOOD and row.agrees == "agrees" for row in members),
        )
        for group, members in [*chosen, ("all", rows)]
    ]
