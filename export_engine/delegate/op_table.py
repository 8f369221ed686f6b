"""Which ops of a program which backends can take, before anything is lowered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from export_engine.defects import log_internal_error
from export_engine.delegate.backend import DelegationBackend, Verdict
from export_engine.delegate.backend_registry import why_missing
from export_engine.error_text import format_with_type
from export_engine.record import BackendAnswer, OpTable
from export_engine.torch_internals import OpOverload, keep_sizes


def make_op_table(
    program: torch.export.ExportedProgram, backends: Sequence[DelegationBackend]
) -> OpTable:
    """Asks each backend about each op of the main graph. Nothing is lowered and nothing runs."""
    answers: list[BackendAnswer] = []
    unavailable: dict[str, str] = {}
    for backend in backends:
        missing = why_missing(backend)
        if missing is not None:
            unavailable[backend.name] = missing
            continue
        try:
            with keep_sizes(program):
                answers.append(_answer(backend, backend.can_take(program)))
        except Exception as error:  # noqa: BLE001 - whatever a converter raises
            log_internal_error(error, f"asking {backend.title}")
            unavailable[backend.name] = f"its rules cannot be queried: {format_with_type(error)}"
    calls: dict[str, list[str]] = {}
    for node in program.graph.nodes:
        if node.op == "call_function" and isinstance(node.target, OpOverload):
            calls.setdefault(str(node.target), []).append(node.name)
    return OpTable(answers=answers, calls=calls, unavailable=unavailable)


def _answer(backend: DelegationBackend, verdicts: Mapping[str, Verdict]) -> BackendAnswer:
    return BackendAnswer(
        backend=backend.name,
        title=backend.title,
        taken=[name for name, verdict in verdicts.items() if verdict.is_taken],
        refused={
            name: verdict.reason for name, verdict in verdicts.items() if verdict.is_taken is False
        },
    )
