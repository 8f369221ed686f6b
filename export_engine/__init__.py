"""The export engine: everything that touches torch, and nothing that draws.

    Request ─capture─▶ Attempt ─explain─▶ Attempt with fixes ─describe─▶ Record ─encode─▶ bytes

Importing this package costs no torch import; the first use of a name below does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from export_engine.archive import ArchiveError, load, save
    from export_engine.attempt import Attempt, Exported
    from export_engine.decomposing import DecomposeError, decompose
    from export_engine.decomposition_table import DecompositionTable, TableError
    from export_engine.description import describe
    from export_engine.description.runs import with_runs
    from export_engine.description.verification import with_verification
    from export_engine.diagnosis import Diagnosis
    from export_engine.diff import diff_records
    from export_engine.failed import Failed
    from export_engine.finding import Finding
    from export_engine.findings import find_findings
    from export_engine.fix import Fix
    from export_engine.fixes import explain
    from export_engine.fixes.autofix import AutofixReport, autofix
    from export_engine.fixes.trying import apply_fixes
    from export_engine.guarantee import Guarantee, Verified
    from export_engine.guarantees import verify
    from export_engine.probe import ProbeResult
    from export_engine.progress import Progress
    from export_engine.record import Record
    from export_engine.record_diff import ProgramDiff
    from export_engine.record_runs import Profile, RunRow
    from export_engine.request import Request
    from export_engine.running import Plan, backends, devices, run
    from export_engine.running.profiling import profile
    from export_engine.shapes import Shapes, ShapesError
    from export_engine.tracing import capture
    from export_engine.wire import decode, encode

__all__ = [
    "ArchiveError",
    "Attempt",
    "AutofixReport",
    "DecomposeError",
    "DecompositionTable",
    "Diagnosis",
    "Exported",
    "Failed",
    "Finding",
    "Fix",
    "Guarantee",
    "Plan",
    "ProbeResult",
    "Profile",
    "ProgramDiff",
    "Progress",
    "Record",
    "Request",
    "RunRow",
    "Shapes",
    "ShapesError",
    "TableError",
    "Verified",
    "apply_fixes",
    "autofix",
    "backends",
    "capture",
    "decode",
    "decompose",
    "describe",
    "devices",
    "diff_records",
    "encode",
    "explain",
    "find_findings",
    "load",
    "profile",
    "run",
    "save",
    "verify",
    "with_runs",
    "with_verification",
]

_HOMES = {
    "ArchiveError": "archive",
    "Attempt": "attempt",
    "AutofixReport": "fixes.autofix",
    "DecomposeError": "decomposing",
    "DecompositionTable": "decomposition_table",
    "Diagnosis": "diagnosis",
    "Exported": "attempt",
    "Failed": "failed",
    "Finding": "finding",
    "Fix": "fix",
    "Guarantee": "guarantee",
    "Plan": "running",
    "ProbeResult": "probe",
    "Profile": "record_runs",
    "ProgramDiff": "record_diff",
    "Progress": "progress",
    "Record": "record",
    "Request": "request",
    "RunRow": "record_runs",
    "Shapes": "shapes",
    "ShapesError": "shapes",
    "TableError": "decomposition_table",
    "Verified": "guarantee",
    "apply_fixes": "fixes.trying",
    "autofix": "fixes.autofix",
    "backends": "running",
    "capture": "tracing",
    "decode": "wire",
    "decompose": "decomposing",
    "describe": "description",
    "devices": "running",
    "diff_records": "diff",
    "encode": "wire",
    "explain": "fixes",
    "find_findings": "findings",
    "load": "archive",
    "profile": "running.profiling",
    "run": "running",
    "save": "archive",
    "verify": "guarantees",
    "with_runs": "description.runs",
    "with_verification": "description.verification",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
