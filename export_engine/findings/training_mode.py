"""Dropout and normalisation that were traced in training mode."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.attempt import Exported, Fix, Request
from export_engine.findings.finding import Finding, Kind
from export_engine.findings.program_ops import Op, ops_of
from export_engine.record import Record
from export_engine.torch_internals import op_schema

_FLAGS = ("train", "training")
_DROPS = ("dropout", "rrelu")
_NORMALISES = ("batch_norm", "instance_norm")


def found(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding for all dropouts, one for all normalisations; the first place of each."""
    dropping = [op for op in ops_of(exported.program) if _trains(op, _DROPS) and _drops(op)]
    norming = [op for op in ops_of(exported.program) if _trains(op, _NORMALISES)]
    if dropping:
        yield _finding(
            dropping,
            "dropout",
            "Dropout stays active, so the program's outputs are random and differ from the "
            "model's in eval mode.",
            exported,
        )
    if norming:
        yield _finding(
            norming,
            "batch normalisation",
            "It normalizes with the statistics of the batch instead of the running statistics, "
            "and updates those on each call.",
            exported,
        )


def _trains(op: Op, names: tuple[str, ...]) -> bool:
    if not any(name in op.name for name in names):
        return False
    if "use_input_stats" in str(op_schema(op.node.target)):
        return bool(op.argument("use_input_stats")) and op.argument("running_mean") is not None
    return any(bool(op.argument(flag)) for flag in _FLAGS)


def _drops(op: Op) -> bool:
    return bool(op.argument("p", 1.0) != 0.0)


def _finding(ops: list[Op], what: str, why: str, exported: Exported) -> Finding:
    count = "" if len(ops) == 1 else f" ({len(ops)} ops)"
    return Finding(
        kind=Kind.TRAINING_MODE,
        severity="surprising",
        sentence=f"The model was exported in training mode: {what} is in the program{count}.",
        why=f"{why} Call `model.eval()` before exporting for inference.",
        stack=ops[0].stack,
        node=ops[0].position,
        fix=_fix() if exported.request is not None else None,
    )


def _fix() -> Fix:
    def change(request: Request) -> Request:
        return request.with_changes(eval_mode=True)

    return Fix(
        kind="options",
        title="Export the model in eval mode",
        why="The mode is switched for the export only, and restored after it.",
        gives_up="The program is for inference: dropout and batch statistics are not applied.",
        change=change,
        before="training mode",
        after="eval mode",
    )
