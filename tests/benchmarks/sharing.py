"""What is kept and shared: the size of a report, and what broken files cost.

Files are cut and spoilt in the same way as in the tests; each must be refused with a sentence or
opened, soon.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import explorer
from export_engine.archive import ArchiveError, load
from export_engine.describe import describe

from ..models import CASES, branching
from .table import Row

MEGABYTE = 1e6
REPORT = 2.0
"""Megabytes."""
LONGEST = 10.0
"""Seconds."""
CUTS, FLIPS = 100, 200


def run() -> list[Row]:
    """The table's rows."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_reports(Path(folder)), *_spoilt(Path(folder))]


def _reports(folder: Path) -> Iterable[Row]:
    for name, budget in (("branching", None), ("bert2", None), ("gpt2_12", REPORT)):
        case = CASES[name]()
        explored = explorer.explore(
            case.model, case.args, dict(case.kwargs), dynamic_shapes=case.shapes, title=name
        )
        size = explored.save(folder / f"{name}.html").stat().st_size
        yield Row(
            name,
            "report in one HTML file",
            size / MEGABYTE,
            "MB",
            most=budget,
            means="the whole view, to be sent and opened without a kernel or a network",
        )


def _spoilt(folder: Path) -> Iterable[Row]:
    """Files cut anywhere, and with some bits turned over."""
    case = branching()
    explored = explorer.explore(case.model, case.args, dynamic_shapes=case.shapes)
    good = explored.save(folder / "good.pt2").read_bytes()
    numbers = random.Random(0)
    files = [good[: numbers.randrange(len(good))] for _ in range(CUTS)]
    for _ in range(FLIPS):
        data = bytearray(good)
        for _ in range(numbers.choice((1, 1, 8, 64))):
            data[numbers.randrange(len(data))] ^= 1 << numbers.randrange(8)
        files.append(bytes(data))
    crashes, slowest = 0, 0.0
    for data in files:
        path = folder / "spoilt.pt2"
        path.write_bytes(data)
        started = time.perf_counter()
        try:
            describe(load(path))
        except ArchiveError:
            pass
        except Exception:  # noqa: BLE001 - what is counted
            crashes += 1
        slowest = max(slowest, time.perf_counter() - started)
    of = f"{len(files)} spoilt .pt2 files"
    yield Row(
        of,
        "crashes",
        crashes,
        "files",
        most=0,
        means="each is refused with a sentence, or opens",
    )
    yield Row(of, "slowest", slowest, "s", most=LONGEST, means="no file keeps one waiting for long")
