"""Whether a backend takes as much of a program as a check asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from explorer.cli.check.problem import Problem, find_relative_path
from explorer.text.attempt_text import format_count
from explorer.text.delegation_text import reason_of

if TYPE_CHECKING:
    from explorer.cli.check.config import Target
    from explorer.exploration import Exploration
    from explorer.results.delegation import DelegationResult
    from export_engine.record import DelegatedOp, Record

DELEGATE = "delegate"
"""Placeholders for codes."""


class _Left(msgspec.Struct, frozen=True, kw_only=True):
    """An op that a backend left, as a golden file keeps it: without lines, which move."""

    op: str
    module: str
    code: str


class _Golden(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A golden file of a delegation."""

    backend: str
    share: float
    left: list[_Left]


def check_delegation(
    explored: Exploration, target: Target, update: bool
) -> tuple[str, list[Problem]]:
    """The share that a delegate takes, and a problem for each op outside where too few are in it.

    Args:
        explored: an export.
        target: what is asked of it.
        update: write the golden file in place of comparing with it.

    Returns:
        `XNNPACK 97.3%`: the share of the FLOPs, empty where nothing is asked; and the problems.

    Raises:
        FixError: there is no such backend here, or it fails on this program.
    """
    if not target.delegate or not explored.ok:
        return "", []
    result = explored.delegate(target.delegate)
    delegated = f"{result.data.title} {result.share:.1%}"
    return delegated, list(_find_problems(explored, target, result, update))


def _find_problems(
    explored: Exploration, target: Target, delegation_result: DelegationResult, update: bool
) -> Iterator[Problem]:
    title = delegation_result.data.title
    if delegation_result.share < target.min_delegated:
        yield Problem(
            DELEGATE,
            "error",
            f"{title} accepts too few ops",
            f"{title} takes {delegation_result.share:.1%} of the FLOPs; min-delegated requires "
            f"{target.min_delegated:.1%}.",
        )
        yield from _lines(explored.record, delegation_result.outside)
    for op in delegation_result.data.unloadable:
        told = (
            f"{delegation_result.data.runtime} has no kernel "
            f"{op.missing_kernel}: it cannot be loaded."
        )
        yield Problem(DELEGATE, "error", "No kernel", told, *_place(explored.record, op))
    if target.delegate_golden:
        left = [_left(op) for op in delegation_result.outside]
        now = _Golden(backend=target.delegate, share=delegation_result.share, left=left)
        golden = Path(target.delegate_golden)
        if update:
            golden.write_bytes(msgspec.json.format(msgspec.json.encode(now)))
        else:
            yield from _find_lost_ops(explored.record, golden, now, delegation_result.outside)


def _find_lost_ops(
    record: Record, file: Path, now: _Golden, outside: Sequence[DelegatedOp]
) -> Iterator[Problem]:
    """The ops that a golden file does not have."""
    try:
        before = msgspec.json.decode(file.read_bytes(), type=_Golden)
    except (OSError, msgspec.DecodeError) as error:
        told = f"{file} cannot be read ({error}). Write it with export-explorer check --update."
        yield Problem(DELEGATE, "error", "No golden file", told)
        return
    counts = Counter(before.left)
    moved: list[DelegatedOp] = []
    for op in outside:
        key = _left(op)
        if counts[key]:
            counts[key] -= 1
        else:
            moved.append(op)
    if not moved:
        return
    yield Problem(
        DELEGATE,
        "error",
        f"Differs from {file}",
        f"{format_count(len(moved), 'op')} moved out of the delegate: {before.share:.1%} of the "
        f"FLOPs were inside, now {now.share:.1%}. If this is intended, run export-explorer "
        "check --update.",
    )
    yield from _lines(record, moved)


def _lines(record: Record, ops: Sequence[DelegatedOp]) -> Iterator[Problem]:
    for op in ops:
        told = f"{op.op} stays outside: {reason_of(op)}."
        yield Problem(DELEGATE, "warning", "Not delegated", told, *_place(record, op))


def _place(record: Record, op: DelegatedOp) -> tuple[str, int]:
    names = [file.name for file in record.files]
    if op.place.file not in names:
        return "", 0
    return find_relative_path(record, names.index(op.place.file)), op.place.line


def _left(op: DelegatedOp) -> _Left:
    return _Left(op=op.op, module=op.place.module, code=op.place.code)
