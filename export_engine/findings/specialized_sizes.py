"""Sizes that were to vary and do not, and conditions that a range does not show."""

from __future__ import annotations

import random
from collections.abc import Iterator

from export_engine.attempt import Exported, Fix, Request
from export_engine.findings.finding import Finding, Kind
from export_engine.record import Record, Rule, SizeInput, probe_sizes, sizes_in, sizes_of_symbols
from export_engine.shapes import (
    Auto,
    Dynamic,
    InputPlace,
    Named,
    Shapes,
    birth_dims,
    shapes_of,
    with_size,
)
from export_engine.source import Stack
from export_engine.trace import Replacement

_SAMPLES = 200
_FEW = 0.1
"""A condition that refuses all but this share of the sizes in range makes the range a fiction."""


def found(exported: Exported, record: Record) -> Iterator[Finding]:
    """Fixed sizes, each; then conditions that refuse nearly all of a range."""
    yield from _fixed(exported, record)
    yield from _hidden(exported, record)
    yield from _arguments(exported, record)


def _fixed(exported: Exported, record: Record) -> Iterator[Finding]:
    request = exported.request
    shapes = shapes_of(request) if request is not None else None
    if shapes is None:
        return
    causes = _causes(exported, record)
    for size in record.probe.inputs:
        path = record.signature.inputs[size.entry].path
        specs = shapes.leaves.get(path, ())
        dim = max(size.dim, 0)
        wanted = specs[dim] if dim < len(specs) else None
        if not isinstance(wanted, Auto | Dynamic | Named) or not isinstance(size.size, int):
            continue
        guard = causes.get(InputPlace(path, size.dim), -1)
        yield _fixed_size(exported, record, size, path, guard)


def _causes(exported: Exported, record: Record) -> dict[InputPlace, int]:
    """Per input dim, the guard that made a number of it."""
    paths = [entry.path for entry in record.signature.inputs if entry.kind == "user_input"]
    places = birth_dims(exported.recording.births, paths)
    guards = [event.guard for event in record.timeline if event.kind == "replacement"]
    replaced = [each for each in exported.recording.events if isinstance(each, Replacement)]
    return {
        places[str(event.symbol)]: guard
        for event, guard in zip(replaced, guards, strict=False)
        if event.value.is_number and str(event.symbol) in places
    }


def _fixed_size(
    exported: Exported, record: Record, size: SizeInput, path: str, guard: int
) -> Finding:
    small = size.example in (0, 1) and guard < 0
    stack = _stack_of(exported, record, guard)
    if small:
        why = "torch specializes on sizes 0 and 1. Export with an example of size 2 or more."
    elif guard >= 0:
        condition = record.guards[guard].text
        why = f"The code evaluates `{condition}`, which needs a specialized size."
    else:
        why = "torch specialized it while tracing. Name the dim instead of `*` to see why."
    return Finding(
        kind=Kind.FIXED_SIZE,
        severity="surprising",
        sentence=(
            f"`{size.text}` was requested to be dynamic, but the program accepts "
            f"{size.example} only."
        ),
        why=why,
        stack=stack,
        guard=guard,
        fix=_larger(size, path) if small else None,
    )


def _larger(size: SizeInput, path: str) -> Fix:
    def change(request: Request) -> Request:
        return with_size(request, [(path, size.dim)], 2)

    return Fix(
        kind="inputs",
        title=f"Export with an example where {size.text} is 2",
        why="The example's values are repeated.",
        change=change,
        before=f"{size.text} = {size.example}",
        after=f"{size.text} = 2",
    )


def _hidden(exported: Exported, record: Record) -> Iterator[Finding]:
    """Conditions that are broken by nearly every choice of sizes within the ranges."""
    rules = [
        rule
        for rule in record.probe.rules
        if rule.kind == "guard" and rule.enforced and rule.formula
    ]
    samples = list(_within(record)) if rules else []
    for rule in rules:
        broken = sum(rule in probe_sizes(record.probe, sizes).broken for sizes in samples)
        if samples and broken >= (1 - _FEW) * len(samples):
            yield Finding(
                kind=Kind.HIDDEN_CONDITION,
                severity="surprising",
                sentence="The program rejects nearly every size within its ranges: it asserts "
                f"`{rule.text}`.",
                why="The ranges bound each size on its own. This guard is checked at run time as "
                "well, and few sizes satisfy it.",
                stack=_stack_of(exported, record, rule.guard),
                guard=rule.guard,
                fix=_kept(exported, record, rule),
            )
            return  # the others are of the same origin, as a rule


def _kept(exported: Exported, record: Record, rule: Rule) -> Fix | None:
    """Keeps the sizes that a condition is about as they are in the example."""
    before = shapes_of(exported.request) if exported.request else None
    if before is None:
        return None
    about: dict[tuple[str, int], str] = {}
    for number in sizes_in(rule.formula):
        size = record.probe.inputs[number]
        place = record.signature.inputs[size.entry].path, max(size.dim, 0)
        about[place] = before.dim_name(*place) or size.text
    kept = before.static(about)
    if kept == before:
        return None
    listed = ", ".join(f"`{each}`" for each in dict.fromkeys(about.values()))
    return Fix(
        kind="shapes",
        title=f"Keep {listed} as in the example",
        why=(
            "Then the signature says which sizes are accepted, instead of a guard that fails "
            "call by call."
        ),
        lossy=True,
        gives_up="Other sizes that satisfy the guard are rejected, too.",
        change=lambda request: request.with_changes(shapes=kept),
        before=str(before),
        after=str(kept),
    )


def _within(record: Record) -> Iterator[list[int]]:
    """Sizes within the ranges, near the example's."""
    numbers = random.Random(1)
    symbols = {each.symbol for each in record.probe.inputs if each.symbol >= 0}
    for _ in range(_SAMPLES if symbols else 0):
        values = {}
        for number in symbols:
            symbol = record.symbols[number]
            low = max(symbol.lower or 0, 2)
            high = min(symbol.upper or 2**31, max(4 * (symbol.example or 8), low + 64))
            values[number] = numbers.randint(low, max(low, high))
        yield sizes_of_symbols(record.probe, values)


def _arguments(exported: Exported, record: Record) -> Iterator[Finding]:
    """Numbers among the inputs that the program takes one value of."""
    for entry in record.signature.inputs:
        if entry.kind != "user_input" or entry.constant is None:
            continue
        if not entry.constant.lstrip("-").replace(".", "", 1).replace("e-", "", 1).isdigit():
            continue
        whole = "." not in entry.constant and "e" not in entry.constant
        fix = _vary(exported, entry.path) if whole else None
        advice = "Let it vary, or" if fix else "To have it vary,"
        yield Finding(
            kind=Kind.BAKED_ARGUMENT,
            severity="note",
            sentence=f"`{entry.path}` = {entry.constant} is a constant of the program.",
            why="A Python number is specialized while tracing; the program rejects any other "
            f"value. {advice} pass a tensor.",
            fix=fix,
        )


def _vary(exported: Exported, path: str) -> Fix | None:
    request = exported.request
    if request is None or not path.isidentifier():
        return None
    shapes = shapes_of(request)

    def change(request: Request) -> Request:
        given = shapes_of(request)
        leaves = dict(given.leaves) if given else {}
        bounds = dict(given.bounds) if given else {}
        leaves[path] = (Auto(),)
        return request.with_changes(shapes=Shapes(leaves, bounds))

    return Fix(
        kind="shapes",
        title=f"Let {path} vary",
        why="The number becomes an input of the program, if the code allows.",
        change=change,
        before=str(shapes) if shapes else "",
        after=f"{path}: *",
    )


def _stack_of(exported: Exported, record: Record, guard: int) -> Stack:
    """The recorded lines of a guard of the Record."""
    if guard < 0:
        return ()
    text = record.guards[guard].torch_text
    return next(
        (each.stack for each in exported.recording.guards if str(each.condition) == text), ()
    )
