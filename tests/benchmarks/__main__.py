"""Runs the benchmarks and prints one table: `python -m tests.benchmarks [name ...]`.

Times are compared within one run and never asserted: the machines are noisy.
"""

from __future__ import annotations

import sys
from importlib import import_module

from .table import Row, as_text

BENCHMARKS = ("export_cost", "growth", "contract", "page", "comparing", "fixing", "running")


def main(names: list[str]) -> int:
    """Runs the named benchmarks, or all."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
        return 2
    rows: list[Row] = []
    for name in names or BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += import_module(f"{__package__}.{name}").run()
    print(as_text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
