"""Runs the benchmarks and prints one table: `python -m tests.benchmarks [name ...]`.

One that fails, or crashes, is a row of the table that says why, and the others go on. Times are
compared within one run and never asserted: the machines are noisy.
"""

from __future__ import annotations

import sys

from .measuring import measured
from .table import as_text

BENCHMARKS = (
    "export_cost",
    "growth",
    "opening",
    "contract",
    "soundness",
    "alarms",
    "page",
    "first_sight",
    "large",
    "large_records",
    "comparing",
    "differing",
    "identical",
    "first_hour",
    "five_tasks",
    "sharing",
    "memory",
    "fixing",
    "reported_failures",
    "assisting",
    "failure_cost",
    "running",
    "counting",
    "giants",
    "sliding",
    "kernels",
    "delegating",
    "watching",
    "numeric_faults",
    "quantizing",
    "querying",
    "generating",
    "between",
    "reproducing",
    "house",
)


def main(names: list[str]) -> int:
    """Runs the named benchmarks, or all; 1 if one of them failed, 2 if there is none of a name."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
        return 2
    rows = measured(names or BENCHMARKS)
    print(as_text(rows))
    return int(any(row.verdict == "failed" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
