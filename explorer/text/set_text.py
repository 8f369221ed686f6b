"""A set of programs as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from explorer.text.attempt_text import cut, fold, format_count, width
from explorer.text.escape import harmless
from explorer.text.generation_text import generation_lines
from explorer.text.run_text import amount
from export_engine.record import ProgramSet, Record, Seam, SharedSymbol, WeightRow

_MOST = 12


def set_text(programs: ProgramSet, records: Mapping[str, Record]) -> str:
    """A set in words: its programs, what flows between them, what they share, what is wrong.

    Args:
        programs: the set.
        records: the Record of each program, by name; a failure shows its sentence.
    """
    count = len(programs.components)
    lines = [cut(programs.title), cut(f"  {format_count(count, 'program')}")]
    for component in programs.components:
        role = f" ({component.role})" if component.role else ""
        text = f"{component.name}{role}: {component.verdict}"
        lines += textwrap.wrap(
            harmless(text), width(), initial_indent="  ", subsequent_indent="    "
        )
        failure = records[component.name].failure if component.name in records else None
        if failure is not None:
            lines += textwrap.wrap(
                failure.sentence, width(), initial_indent="    ", subsequent_indent="    "
            )
    lines += _section("What flows", seam_lines(programs))
    lines += _section(
        "Sizes in common", [symbol_line(programs, symbol) for symbol in programs.symbols]
    )
    lines += _section("Weights in common", weight_lines(programs))
    lines += _whole("Findings between programs", finding_lines(programs))
    lines += _describe_generations(programs)
    lines += _whole("Notes", programs.notes)
    return "\n".join(lines)


def _whole(title: str, lines: Sequence[str]) -> list[str]:
    """Lines that are wrapped: a sentence that is cut helps nobody."""
    result = [title] if lines else []
    for line in lines:
        result += textwrap.wrap(line, width(), initial_indent="  ", subsequent_indent="    ")
    return result


def _describe_generations(programs: ProgramSet) -> list[str]:
    """The generations whole, as the findings."""
    lines = [f"  {generation_line}" for generation_line in generation_lines(programs.trials)]
    return ["Generated", *lines] if lines else []


def seam_lines(programs: ProgramSet) -> list[str]:
    """A line for each seam: `prefill → decode  4 cache tensors: f32[batch, 2, prompt, 8]`."""
    return [f"{seam_name(programs, seam)}  {seam.summary}{_types(seam)}" for seam in programs.seams]


def seam_name(programs: ProgramSet, seam: Seam) -> str:
    """`prefill → decode`, `decode → next decode`."""
    source, target = (programs.components[at].name for at in (seam.source, seam.target))
    return f"{source} → next {target}" if seam.source == seam.target else f"{source} → {target}"


def _types(seam: Seam) -> str:
    types = list(dict.fromkeys(flow.given for flow in seam.flows))
    more = len(types) - 1
    return f": {types[0]}" + (f", {format_count(more, 'other type')}" if more > 0 else "")


def symbol_line(programs: ProgramSet, shared: SharedSymbol) -> str:
    """`batch  [2, ∞) in prefill, decode`."""
    by_range: dict[str, list[str]] = {}
    for member in shared.members:
        by_range.setdefault(member.range, []).append(programs.components[member.component].name)
    text = "; ".join(f"{span} in {', '.join(names)}" for span, names in by_range.items())
    return f"{shared.name}  {text}"


def weight_lines(programs: ProgramSet) -> list[str]:
    """How many weights are shared or doubled, with their bytes."""
    lines = []
    for state, verb in (("shared", "shared"), ("duplicated", "equal values in separate memory")):
        rows = [weight for weight in programs.weights if weight.state == state]
        if rows:
            lines.append(f"{_count_weights(rows)} {verb}: {amount(_bytes(rows))}")
    rows = [weight for weight in programs.weights if weight.state == "different"]
    if rows:
        lines.append(f"{_count_weights(rows)} with the same name and different values")
    return lines


def _count_weights(rows: Sequence[WeightRow]) -> str:
    return f"{len(rows):,} weight{'' if len(rows) == 1 else 's'}"


def _bytes(rows: Sequence[WeightRow]) -> int:
    return sum(row.bytes for row in rows)


def finding_lines(programs: ProgramSet) -> list[str]:
    """What is wrong or surprising, a line each."""
    return [
        (
            f"{finding.severity} {finding.code}: "
            f"{finding.sentence}{f' ({finding.place})' if finding.place else ''}"
        )
        for finding in programs.findings
    ]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    more = [f"  and {len(lines) - _MOST:,} more"] if len(lines) > _MOST else []
    return [title, *(fold(f"  {line}") for line in lines[:_MOST]), *more]
