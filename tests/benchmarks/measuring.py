"""Runs benchmarks, each in a process of its own, so that one that crashes leaves the others be."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context

from .table import Row, failed


def measured(names: Sequence[str], package: str = __package__) -> list[Row]:
    """The rows of all these benchmarks, modules of a package; one that failed says why in a row."""
    rows: list[Row] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                rows += process.submit(rows_of, f"{package}.{name}").result()
        except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
            traceback.print_exception(error)
            rows.append(failed(name, error))
    return rows


def rows_of(module: str) -> list[Row]:
    """The rows of one benchmark, measured in this process."""
    rows: list[Row] = import_module(module).run()
    return rows
