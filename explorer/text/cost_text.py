"""A program's cost as text for a terminal of 80 columns."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from explorer.text.attempt_text import cut, fold, format_count, pair
from explorer.text.run_text import amount
from export_engine.plain_errors import WrongArgument
from export_engine.source import find_last_user_frame, source_line

if TYPE_CHECKING:
    from export_engine.cost import CostAt, Loop, ProgramCost
    from export_engine.record import Record

_FEW = 8
_TERMS = 4
_FEW_SIZES = 4
_LONGEST = 2


def format_cost(record: Record, cost: ProgramCost) -> list[str]:
    """The formulas, then the numbers at the example's sizes and where most of it is.

    Args:
        record: of the program.
        cost: of it.
    """
    lines = [
        f"Cost of {record.title}, from its graph: nothing was run.",
        pair("FLOPs", _truncate_formula(str(cost.flops))),
        pair("bytes moved", _truncate_formula(str(cost.read + cost.written))),
        pair("parameters", f"{cost.parameters:,}, weights {amount(cost.weights)}"),
    ]
    try:
        at = cost.at()
    except (WrongArgument, ArithmeticError, ValueError) as error:
        lines.append(f"Not evaluated: {error}")
    else:
        lines += _at_example(record, cost, at)
    lines += [_loop(loop) for loop in cost.loops]
    if any(overlay.name == "pass" for overlay in record.overlays):
        lines += _training(record)
    if cost.unknown:
        named = ", ".join(f"{name} ×{count}" for name, count in cost.unknown.items())
        lines.append(fold(f"FLOPs not counted: {named}"))
    return lines


def _at_example(record: Record, cost: ProgramCost, at: CostAt) -> list[str]:
    sizes = ", ".join(f"{name}={value}" for name, value in at.sizes.items())
    graph = record.graphs[0]
    lines = [
        f"At {sizes}:" if sizes else "At the example's sizes, which are all static:",
        pair(
            "FLOPs",
            f"{format_scaled(at.flops)}, {format_scaled(at.torch_flops)} in matmuls and "
            "convolutions",
        ),
        pair("bytes moved", f"{amount(at.bytes)}, {at.intensity:.3g} FLOPs per byte"),
    ]
    if at.peak.node >= 0:
        name = record.strings[graph.name[at.peak.node]]
        alive = format_count(len(at.peak.alive), "tensor")
        where = f"{amount(at.peak_bytes)} at {name}: {alive}, without inputs and weights"
        lines.append(pair("peak live memory", where))
        lines += _waiting(record, at)
    lines += _by_line(record, cost, at)
    return [*lines, *_overtakings(cost, at)]


def _waiting(record: Record, at: CostAt) -> list[str]:
    """The tensors that are alive longest at the peak, and not needed there."""
    graph, lines = record.graphs[0], []
    for tensor in at.peak.waiting[:_LONGEST]:
        frame = find_last_user_frame(record, graph.stack[tensor.node])
        place = f" ({frame.name}:{frame.line})" if frame else ""
        name, last = (record.strings[graph.name[node]] for node in (tensor.node, tensor.last))
        size = amount(dict(at.peak.alive)[tensor.node])
        lines.append(fold(f"  to lower it: {size} of {name}{place} is kept until {last}"))
    return lines


def _overtakings(cost: ProgramCost, at: CostAt) -> list[str]:
    """From which value of a size on another kind of op leads, above the example's."""
    from export_engine.cost import find_overtakings

    lines = []
    for name in cost.symbols[:_FEW_SIZES]:
        for overtaking in find_overtakings(cost, name, at.sizes):
            if overtaking.at > at.sizes[name]:
                ends = f"from {name}={overtaking.at:,} on"
                lines.append(
                    fold(f"{overtaking.more} does more FLOPs than {overtaking.less} {ends}")
                )
                break
    return lines


def _training(record: Record) -> list[str]:
    """Each pass of a step, and the tensors that are kept between, the largest at the example."""
    from export_engine.cost import training_cost_of

    step = training_cost_of(record)
    kept = sorted(step.saved, key=lambda each: -step.at(each.bytes))
    lines = [
        pair("forward pass", f"{format_scaled(step.at(step.forward.flops))} FLOPs"),
        pair("backward pass", f"{format_scaled(step.at(step.backward.flops))} FLOPs"),
        f"Saved for the backward pass: {amount(step.at(step.saved_bytes))}",
    ]
    for item in kept[:_FEW]:
        frame = find_last_user_frame(record, record.graphs[0].stack[item.node])
        line = f"{frame.name}:{frame.line}" if frame else ""
        lines.append(cut(f"  {amount(step.at(item.bytes)):>8}  {item.name}  {line}".rstrip()))
    return lines


def _loop(loop: Loop) -> str:
    text = "unknown FLOPs" if loop.flops is None else f"{_truncate_formula(str(loop.flops))} FLOPs"
    return fold(f"{loop.name}: {text} per iteration; the number of iterations is data-dependent")


def _by_line(record: Record, cost: ProgramCost, at: CostAt) -> list[str]:
    """The lines with the most FLOPs."""
    totals: dict[str, int] = defaultdict(int)
    for op, (flops, _, _) in zip(cost.ops, at.per_op, strict=True):
        frame = find_last_user_frame(record, record.graphs[0].stack[op.node])
        if frame is not None and flops:
            code = source_line(record, frame.file, frame.line).strip()
            totals[f"{frame.name}:{frame.line}  {code}".rstrip()] += flops
    if not totals:
        return []
    most = sorted(totals.items(), key=lambda each: -each[1])[:_FEW]
    rows = (f"  {format_scaled(count):>8} {count / at.flops:>4.0%}  {line}" for line, count in most)
    return ["Lines with the most FLOPs:", *map(cut, rows)]


def format_scaled(count: int) -> str:
    """`4.58 M`: a count with a decimal prefix."""
    value = float(count)
    for unit in ("", " k", " M", " G", " T"):
        if abs(value) < _NEXT:
            return f"{value:.3g}{unit}"
        value /= 1000
    return f"{value:.3g} P"


_NEXT = 999.5


def _truncate_formula(formula: str) -> str:
    """A formula with its first terms, which have the highest powers."""
    terms = formula.split(" + ")
    if len(terms) <= _TERMS:
        return formula
    return f"{' + '.join(terms[:_TERMS])} + {len(terms) - _TERMS} more terms"
