"""The docs' table of what ran on which torch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

SUPPORTED = ("2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0")
NEEDS_THE_CLONE = (
    "tests/test_wheel.py",
    "tests/test_conda_recipe.py",
    "tests/test_docs.py",
    "tests/test_house.py",
    "tests/test_release_files.py",
    "tests/browser",
)
"""They check the sources and the page, which no torch changes."""
_WITHOUT = tuple(f"--ignore={each}" for each in NEEDS_THE_CLONE)
ALL = "all but the page's"
SUITES = {
    ALL: ("-m", "not browser", *_WITHOUT),
    "fast": ("-m", "not slow and not browser", *_WITHOUT),
    "slow": ("-m", "slow and not browser", *_WITHOUT),
}
"""What the docs call them, and the arguments of pytest."""


class Result(NamedTuple):
    """What came of one environment."""

    torch: str
    python: str
    ran: str
    passed: int
    failed: int
    left_out: str
    """What this torch lacks, and how many tests were skipped, with the reasons; or why none ran."""
    date: str = ""
    """When it ran: `2026-11-22`."""
    lacks: int = 0
    """How many private names of torch's are missing that something needs, those apart that this
    torch is known to lack."""

    def row(self) -> str:
        """A row of the docs' table."""
        tests = f"{self.passed:,} of {self.passed + self.failed:,}" if self.ran else "none"
        ran = f"`{self.ran}`" if self.ran.startswith("-") else self.ran
        cells = (self.torch, self.python, ran, tests, self.left_out, self.date)
        return f"| {' | '.join(each.replace('|', '/') or '–' for each in cells)} |"

    @property
    def ok(self) -> bool:
        """Whether tests ran, none failed, and this torch has all that we need of it."""
        return self.passed > 0 and self.failed == 0 and not self.lacks


HEAD = "| torch | Python | ran | passed | left out | on |\n|---|---|---|---|---|---|"


def with_results(page: str, results: Sequence[Result]) -> str:
    """The page with what ran put into its table; only a torch that is supported has a row.

    A row goes if the same ran again, or all did. That a torch could not be had is no news where it
    has run before.
    """
    start = page.index(HEAD) + len(HEAD) + 1
    end = page.index("\n\n", start)
    rows = {_key(row): row for row in page[start:end].splitlines()}
    for result in results:
        torch, python, ran = key = _key(result.row())
        same = [each for each in rows if each[:2] == (torch, python)]
        if result.torch not in SUPPORTED or (ran == "–" and any(each[2] != "–" for each in same)):
            continue
        for each in same:
            if ran == ALL or each[2] == "–":
                del rows[each]
        rows[key] = result.row()
    return page[:start] + "\n".join(rows[key] for key in sorted(rows, key=_place)) + page[end:]


def _key(row: str) -> tuple[str, str, str]:
    """The torch, the Python and what ran, of a row."""
    torch, python, ran = row.split("|")[1:4]
    return torch.strip(), python.strip(), ran.strip()


def _place(key: tuple[str, str, str]) -> tuple[list[int], int, str]:
    named = list(SUITES)
    numbers = [int(number) for number in re.findall(r"\d+", " ".join(key[:2]))]
    return numbers, named.index(key[2]) if key[2] in named else len(named), key[2]
