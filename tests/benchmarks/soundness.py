"""Whether what is said of a program is true: planted faults, clean models, and sizes tried.

The faults, the clean models and the sizes are those of the tests.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.findings import find_findings
from export_engine.record import Record, probe_sizes
from export_engine.shapes import Shapes
from export_engine.torch_internals import copy_program
from export_engine.verify import call
from export_engine.verify.fresh_inputs import fresh_request

from .. import planted
from ..engine import test_findings, test_guarantees, test_probe
from ..models import CASES
from .export_cost import request_of
from .table import Row

TUPLES = 60
"""Sizes that are tried of each program."""


def run() -> list[Row]:
    """The table's rows."""
    return [_planted(), _edited(), _alarms(), *_probed()]


def _planted() -> Row:
    """Models with a fault that torch.export does not tell of."""
    plants = planted.plants()
    caught = 0
    for plant in plants:
        attempt = test_findings.exported(plant, faulty=True)
        kinds = [finding.kind for finding in find_findings(attempt, describe(attempt))]
        clean = test_findings.exported(plant, faulty=False)
        caught += plant.kind in kinds and not find_findings(clean, describe(clean))
    return Row(
        f"{len(plants)} faulty models",
        "planted faults found, and none in the clean twin",
        caught / len(plants),
        "share",
        least=1,
        means="Findings names each fault, and stays silent on the same model without it",
    )


def _edited() -> Row:
    """Programs made wrong after their export."""
    clean = test_guarantees.small()
    caught = 0
    for fault in test_guarantees.FAULTS:
        program = copy_program(clean.program)
        for name in ("_state_dict", "_constants", "_range_constraints"):
            setattr(program, name, dict(getattr(program, name)))
        fault.edit(program)
        program.graph_module.recompile()
        found = test_guarantees.checked(replace(clean, program=program))
        caught += fault.caught_by in [each.name for each in found.broken]
    faults = len(test_guarantees.FAULTS)
    return Row(
        f"{faults} faulty programs",
        "planted faults caught by Verify",
        caught / faults,
        "share",
        least=1,
        means="each breaks the guarantee that it should break",
    )


def _alarms() -> Row:
    """Findings on models that are all right."""
    names = [name for name in CASES if name != "llama32"]  # long, and of layers that are alike
    count = 0
    for name in names:
        for strict in (False, True):
            attempt = capture(replace(request_of(CASES[name]()), strict=strict))
            assert isinstance(attempt, Exported), name
            count += len(describe(attempt).findings)
    return Row(
        f"{len(names)} clean models, both modes",
        "false alarms",
        count,
        "findings",
        most=0,
        means="Findings says nothing of a model that is all right",
    )


def _probed() -> Iterable[Row]:
    """What Try sizes says, beside really calling the program."""
    tried = silent = wrong = models = 0
    for case in test_probe.cases():
        models += 1
        shapes = Shapes.parse(case.shapes) if case.shapes else None
        request = Request(
            target=case.target, args=case.args, dynamic_shapes=shapes, strict=case.strict
        )
        attempt = capture(request)
        assert isinstance(attempt, Exported), case.name
        record, module = describe(attempt), attempt.program.module()
        for sizes in test_probe.tuples(record, random.Random(case.name), TUPLES):
            tried += 1
            said = probe_sizes(record.probe, sizes).verdict
            if said == "unchecked":
                silent += 1
            else:
                wrong += (said == "accepted") is not _taken(module, request, record, sizes)
    of = f"{models} models"
    yield Row(
        of, "size tuples tried", tried, "tuples", least=1000, means="sizes typed into Try sizes"
    )
    yield Row(
        of,
        "of these, verdicts that the call gainsays",
        wrong,
        "tuples",
        most=0,
        means="no accepted size is rejected by the program, and no refused one accepted",
    )
    yield Row(
        of,
        "of these, without a verdict",
        silent,
        "tuples",
        means="outside of the contract, and let through all the same: Try sizes says so",
    )


def _taken(module: Any, request: Request, record: Record, sizes: list[int]) -> bool:
    """Whether the program itself takes these sizes."""
    wanted: dict[str, list[int]] = {}
    for size, entry in zip(sizes, record.probe.inputs, strict=True):
        wanted.setdefault(record.signature.inputs[entry.entry].path, []).append(size)
    try:
        call(module, fresh_request(request, wanted, 0), 0)
    except Exception:  # noqa: BLE001 - what is looked for
        return False
    return True
