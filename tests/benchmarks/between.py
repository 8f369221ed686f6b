"""Sets of programs: faults that are planted between them, clean twins, and real sets end to end.

Each set that is not as it should be is printed with what was said of it.
"""

from __future__ import annotations

from collections.abc import Callable

import explorer
from tests.planted_caches import CACHES
from tests.planted_in_place import IN_PLACE
from tests.planted_orders import ORDERS
from tests.planted_sets import PLANTED, Calls
from tests.planted_shifts import SHIFTS
from tests.real_sets import RealSet, diffusion, two_towers

from .table import Row, failed


def run() -> list[Row]:
    """The table's rows."""
    planted = {**PLANTED, **CACHES, **IN_PLACE, **ORDERS, **SHIFTS}
    missed = [case for case, each in planted.items() if not _found(case, each.faulty)]
    alarms = [case for case, each in planted.items() if _alarms(case, each.clean)]
    return [
        Row(
            f"{len(planted)} sets with a fault between programs",
            "found",
            1 - len(missed) / len(planted),
            "share",
            least=1.0,
            means="by a finding of the right kind: sizes, ranges, caches and their order, "
            "positions, weights, scales, constants",
        ),
        Row(
            f"{len(planted)} sets without a fault",
            "alarms",
            len(alarms),
            most=0,
            means="a finding more severe than a note, in the twin of a faulty set",
        ),
        _real("a diffusion pipeline: text encoder, denoiser, decoder", diffusion),
        _real("two towers and their scores", two_towers),
    ]


def _told(kit: explorer.Programs) -> list[str]:
    return [each.kind for each in kit.findings if each.severity != "note"]


def _found(case: str, calls: Callable[[], Calls]) -> bool:
    told = _told(explorer.explore_many(calls()))
    if case.partition(":")[0] in told:
        return True
    print(f"{case}, planted: {', '.join(told) or 'nothing'} is said", flush=True)
    return False


def _alarms(case: str, calls: Callable[[], Calls]) -> bool:
    kit = explorer.explore_many(calls())
    if kit.ok and not _told(kit):
        return False
    print(f"{case}, clean: {', '.join(_told(kit)) or repr(kit)}", flush=True)
    return True


def _real(subject: str, made: Callable[[], RealSet]) -> Row:
    """How far a real set, run end to end by its programs, is from its modules."""
    try:
        real = made()
        kit = explorer.explore_many(real.calls)
        programs = {name: each.program.module() for name, each in kit.items()}
        apart = max(
            float((real.run(programs, rows) - real.run(real.modules, rows)).abs().max())
            for rows in (1, 2, 5)
        )
    except Exception as error:  # noqa: BLE001 - a set that does not run is a row that says why
        return failed(subject, error)
    said = f"{len(kit.seams)} seams, {len(_told(kit))} findings; at 1, 2 and 5 rows"
    return Row(
        subject,
        "largest difference from eager, end to end",
        apart,
        most=1e-4,
        means=said,
    )
