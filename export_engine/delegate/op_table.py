"""Which ops of a program which backends can take, before anything is lowered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import torch

from export_engine.defects import log_internal_error
from export_engine.delegate.backend import DelegationBackend, Verdict
from export_engine.delegate.backend_registry import why_missing
from export_engine.error_text import format_with_type
from export_engine.torch_internals import OpOverload


class OpRow(msgspec.Struct, frozen=True, kw_only=True):
    """An op, and how many of its calls each backend takes."""

    op: str
    """`aten.add.Tensor`."""
    calls: list[str]
    """The nodes that call it."""
    taken: dict[str, tuple[int, int, int]]
    """Per backend: calls that are taken, that are not, and of which it is not known."""


class OpTable(msgspec.Struct, frozen=True, kw_only=True):
    """Ops by backend."""

    backends: list[str]
    rows: list[OpRow]
    reasons: dict[str, dict[str, str]]
    """Per backend and node: why it is not taken."""
    unavailable: dict[str, str]
    """Per backend that could not be asked: why."""


def make_op_table(
    program: torch.export.ExportedProgram, backends: Sequence[DelegationBackend]
) -> OpTable:
    """Asks each backend about each op of the main graph. Nothing is lowered and nothing runs."""
    answers: dict[str, Mapping[str, Verdict]] = {}
    unavailable: dict[str, str] = {}
    for backend in backends:
        missing = why_missing(backend)
        if missing is not None:
            unavailable[backend.name] = missing
            continue
        try:
            answers[backend.name] = backend.can_take(program)
        except Exception as error:  # noqa: BLE001 - whatever a converter raises
            log_internal_error(error, f"asking {backend.title}")
            unavailable[backend.name] = f"it cannot be asked: {format_with_type(error)}"
    calls: dict[str, list[str]] = {}
    for node in program.graph.nodes:
        if node.op == "call_function" and isinstance(node.target, OpOverload):
            calls.setdefault(str(node.target), []).append(node.name)
    rows = [
        OpRow(
            op=op,
            calls=names,
            taken={text: _count(answer, names) for text, answer in answers.items()},
        )
        for op, names in calls.items()
    ]
    reasons = {
        name: {
            node: verdict.reason for node, verdict in answer.items() if verdict.is_taken is False
        }
        for name, answer in answers.items()
    }
    return OpTable(backends=list(answers), rows=rows, reasons=reasons, unavailable=unavailable)


def _count(answer: Mapping[str, Verdict], names: Sequence[str]) -> tuple[int, int, int]:
    items = [answer[name].is_taken if name in answer else None for name in names]
    return items.count(True), items.count(False), items.count(None)
