"""Dropout and normalization traced in training mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.record_ops import Op, calls
from export_engine.record import Record, Target
from export_engine.source import code_of

if TYPE_CHECKING:
    from export_engine.attempt import Exported, Fix

_FLAGS = ("train", "training")
_DROPS = ("dropout", "rrelu")
_NORMALISES = ("batch_norm", "instance_norm")


def check_training_mode(record: Record, exported: Exported | None) -> Iterator[Finding]:
    """One finding for all dropouts, one for all normalisations; the first place of each."""
    dropping = [op for op in calls(record, _is_drop) if _trains(op) and _drops(op)]
    norming = [op for op in calls(record, _is_norm) if _trains(op)]
    if dropping:
        yield _finding(
            dropping,
            "dropout",
            rules.TrainingMode.DROPOUT_WHY(),
            exported,
        )
    if norming:
        yield _finding(
            norming,
            "batch normalisation",
            rules.TrainingMode.NORM_WHY(),
            exported,
        )


def _is_drop(target: Target) -> bool:
    return any(name in target.name for name in _DROPS)


def _is_norm(target: Target) -> bool:
    return any(name in target.name for name in _NORMALISES)


def _trains(op: Op) -> bool:
    if _is_norm(op.target) and op.argument("running_mean") in (None, "None"):
        return False  # without statistics it normalizes by the batch in eval mode, too
    if "use_input_stats" in op.target.schema:
        return op.argument("use_input_stats") == "True"
    return any(op.argument(flag) == "True" for flag in _FLAGS)


def _drops(op: Op) -> bool:
    return op.argument("p") not in ("0", "0.", "0.0")


def _finding(ops: list[Op], what: str, why: str, exported: Exported | None) -> Finding:
    count = "" if len(ops) == 1 else f" ({len(ops)} ops)"
    sentence = rules.TrainingMode.TRAINING(what=what, count=count)
    way_out = rules.TrainingMode.TRAINING_CURE()
    if _is_in_eval_mode(exported):
        sentence = rules.TrainingMode.EVAL(what=what, count=count)
        way_out = rules.TrainingMode.EVAL_CURE()
    return Finding(
        kind=Kind.TRAINING_MODE,
        severity="surprising",
        sentence=sentence,
        why=f"{why} {way_out}",
        stack=ops[0].stack,
        node=ops[0].position,
        fix=_fix(exported) if any(map(_follows_mode, ops)) else None,
    )


def _is_in_eval_mode(exported: Exported | None) -> bool:
    if exported is None:
        return False
    from export_engine.findings.reachable_code import in_eval_mode

    return in_eval_mode(exported)


def _follows_mode(op: Op) -> bool:
    """Whether a layer of torch's or the line itself asks for the mode, judging by the source."""
    for place in op.stack:
        if "/torch/nn/modules/" in place.file.replace("\\", "/"):
            return True
        code = code_of(place.file)
        statement = code.statement(place.line) if code else None
        for node in ast.walk(statement) if statement is not None else ():
            if isinstance(node, ast.Attribute) and node.attr == "training":
                return True
    return False


def _fix(exported: Exported | None) -> Fix | None:
    if exported is None or exported.request is None or _is_in_eval_mode(exported):
        return None
    from export_engine.findings.fixes import in_eval_mode

    return in_eval_mode()
