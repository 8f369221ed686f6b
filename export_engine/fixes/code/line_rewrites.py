"""Code fixes: rewrites of single lines, in memory, and tried. Each is a row of a table.

Only sound rewrites: what cannot keep its meaning is refused, with the reason. A rewrite is offered
if the call then exports and agrees with eager, or fails somewhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from torch import nn
from torch.nn import functional

from export_engine.attempt import (
    Diagnosis,
    Edit,
    Failed,
    Fix,
    Kind,
    NoFix,
    as_module,
    text_in_effect,
)
from export_engine.diagnose import DataDependent, SizeLookedUp, diagnose, formats_a_tensor
from export_engine.fixes.code import line_rules
from export_engine.fixes.code.numpy_to_torch import with_torch
from export_engine.fixes.code.sizes import LENGTHS, agrees_at_many_sizes, by_ops, symbolic
from export_engine.fixes.code.text_edits import CannotRewrite, Rewritten, Source
from export_engine.fixes.code.try_edit import (
    find_asking_lines,
    find_fixing_places,
    offer_edit,
    rewrite_lines,
    try_further,
)
from export_engine.fixes.rules.formulas import in_ops
from export_engine.fixes.rules.grids import find_scale_lines
from export_engine.fixes.try_fixes import list_problems, read_failure, tell, try_request
from export_engine.in_eager import agrees, agrees_at
from export_engine.source import Location, code_of, original_file
from export_engine.traced_sizes import with_size

_TORCH = functional.__file__


def _at_the_failure(attempt: Failed) -> Sequence[Location]:
    return read_failure(attempt)[1].stack[-1:]


def _on_the_way(attempt: Failed) -> Sequence[Location]:
    """The line of the failure, and those of the functions that lead to it."""
    return read_failure(attempt)[1].stack[::-1]


def _find_numbers(attempt: Failed) -> Sequence[Location]:
    """The lines that ask a size for its number; none where a tensor is formatted, and no size."""
    return () if formats_a_tensor(str(attempt.error)) else find_asking_lines(attempt)


def _find_formulas(attempt: Failed) -> list[Location]:
    """The lines that may fix a size, and those of their files that interpolate by computed scales.

    A function that takes a float fixes the sizes in it without a line of the model, as does
    torch's own function that calls max_pool1d.
    """
    (request, diagnosis), own = read_failure(attempt), find_fixing_places(attempt)
    if diagnosis.kind is not Kind.SHAPES_VIOLATED:
        return own
    locations, frames = list(own), [*diagnosis.stack, *own]
    for file in dict.fromkeys(frame.file for frame in frames):
        text, _ = text_in_effect(request.edits, file, 1)
        at = {text_in_effect(request.edits, file, f.line)[1] for f in frames if f.file == file}
        locations += [Location(file, line, "") for line in find_scale_lines(text, at)]
    pools = any(isinstance(m, nn.MaxPool1d) for m in as_module(request.target).modules())
    code = code_of(_TORCH) if pools else None
    for node in ast.walk(code.tree) if code is not None else ():
        if isinstance(node, ast.Return) and "torch.max_pool1d(" in ast.unparse(node):
            locations.append(Location(_TORCH, node.lineno, "_max_pool1d"))
    return list(dict.fromkeys(locations))


class _Way(NamedTuple):
    """A rewrite of a line, and its sentences."""

    kinds: tuple[Kind, ...]
    """Kinds of the failures that it may fix."""
    title: str
    """With `{line}`, `{function}`, `{changed}`, the first line that is rewritten, `{what}` was
    replaced, `{where}`, and the `{number}` that is asked for: a size, or another number."""
    why: str
    """With the same; empty where the rule says it."""
    rewrite: Callable[[str, int], Rewritten]
    gives_up: str = ""
    refusal: str = ""
    """Why there is no fix if the rewrite differs in eager, or does not fit."""
    places: Callable[[Failed], Sequence[Location]] = _at_the_failure
    trial: Callable[[Failed, Edit], bool] = lambda *_: True
    """Whether the rewrite answers alike, tried in eager before it is exported."""
    judge: Callable[[Failed, Fix], Fix | None] = lambda _, fix: fix
    """Marks the losses of a fix by its program; returns None to reject the fix."""
    loses_writes: bool = False
    """Whether the program may lack what eager writes to its inputs."""
    everywhere: bool = False
    """Whether all its places in a file are rewritten at once, and those at which it fails then."""
    bounded: bool = False
    """Whether the bounds of sizes that the program needs are a part of the fix."""


def _agrees_at_other_sizes(attempt: Failed, edit: Edit) -> bool:
    """Whether the edited model answers alike at sizes that differ a little from the example's."""
    request, diagnosis = read_failure(attempt)
    groups = [problem.dims for problem in list_problems(attempt)]
    groups += [diagnosis.facts.dims] if isinstance(diagnosis.facts, SizeLookedUp) else []
    others = [
        with_size(request, [dim.place for dim in dims], dims[0].example + step)
        for dims in groups
        for step in (1, 2)
    ]
    return agrees_at(request, edit, others)


def _without_numpy(text: str, line: int) -> Rewritten:
    """The function in torch, where NumPy is called at a line that fails by a size."""
    source = Source(text, line)
    if not any(f"{name}." in text.split("\n")[line - 1] for name in source.names_of("numpy")):
        raise CannotRewrite("the line does not call NumPy")
    return with_torch(text, line)


_OF_SIZES = (
    *(Kind.SHAPES_VIOLATED, Kind.UNBACKED_SIZE, Kind.OUTPUT_FROM_DATA),
    *(Kind.OWN_ERROR, Kind.NUMPY, Kind.GRAPH_BREAK),
)
_SYMBOLIC = _Way(
    _OF_SIZES,
    "Keep the {number} on line {line} symbolic",
    "Python needs a concrete {number} in {what}. The rewrite keeps it symbolic.",
    symbolic,
    places=_find_numbers,
    everywhere=True,
    bounded=True,
)
_NUMPY = _Way(
    (Kind.NUMPY,),
    "Replace NumPy with torch in `{function}`",
    "torch has the same functions as ops, which the graph can capture.",
    with_torch,
    refusal="NumPy cannot be replaced with torch here: {reason}.",
)
_COPY = _Way(
    (Kind.COND_ALIASES,),
    "Clone on line {line}",
    "A branch of torch.cond must return new tensors and must not mutate its inputs.",
    line_rules.clone_branch_results,
)


def _judge_number(attempt: Failed, fix: Fix) -> Fix | None:
    """None where it fails by no other number of a size, which would be computed next."""
    again = None if fix.is_known_to_export else try_request(fix.change(read_failure(attempt)[0]))
    goes_on = again is None or (isinstance(again, Failed) and diagnose(again).kind in _BY_OPS.kinds)
    return fix if goes_on else None


_BY_OPS = _Way(
    (Kind.SHAPES_VIOLATED, Kind.OWN_ERROR, Kind.GRAPH_BREAK, Kind.NUMPY),
    "Compute a number from the size with torch ops in `{function}`",
    "Python needs a concrete int here, which specializes the size. Ops compute the same value "
    "at run time, and `.item()` returns a data-dependent number.",
    by_ops,
    places=find_fixing_places,
    trial=lambda attempt, edit: agrees_at_many_sizes(read_failure(attempt)[0], edit),
    judge=_judge_number,
)
_WITH_OTHER_OPS = _Way(
    (*_OF_SIZES[:3], Kind.BRANCH_ON_UNBACKED, Kind.OPERATOR_FAILED),
    "Compute {what}{where} with other ops",
    "",
    in_ops,
    places=_find_formulas,
    bounded=True,
)
_LENGTH = _SYMBOLIC._replace(
    rewrite=partial(symbolic, length=LENGTHS[1]),
    places=lambda attempt: () if read_failure(attempt)[0].strict else _find_numbers(attempt),
)
"""Numbers that are not tensors, which strict mode keeps symbolic."""
_WAYS = (
    _Way(
        (Kind.SHAPES_VIOLATED,),
        "Compute without the cache on line {line}",
        "A SymInt is not hashable, so it cannot be a dict key. The program computes the value from "
        "the size instead. Compared with eager at other sizes.",
        line_rules.drop_cache,
        trial=_agrees_at_other_sizes,
    ),
    _Way(
        (Kind.SHAPES_VIOLATED, Kind.UNBACKED_SIZE, Kind.OUTPUT_FROM_DATA, Kind.GRAPH_BREAK),
        "Skip the message on line {line} while exporting",
        "The message formats numbers, and no output depends on it.",
        line_rules.skip_message,
        gives_up="The program does not print, log or warn.",
    ),
    _Way(
        (
            *(Kind.BRANCH_ON_DATA, Kind.BRANCH_ON_UNBACKED),
            *(Kind.OUTPUT_FROM_DATA, Kind.GRAPH_BREAK),
        ),
        "Set validate_args=False in `{function}`",
        "torch.distributions then does not read the values of its arguments to validate them.",
        line_rules.disable_validation,
        gives_up="The program accepts arguments that the distribution rejects.",
    ),
    _Way(
        (Kind.GRAPH_BREAK, Kind.OWN_ERROR, Kind.OPERATOR_FAILED),
        "Make the flag on line {line} a plain bool",
        "The op does not accept a SymBool. With a plain bool, Python decides it for all sizes in "
        "the range.",
        line_rules.pass_plain_bools,
    ),
    _Way(
        (Kind.OUTPUT_FROM_DATA, Kind.GRAPH_BREAK, Kind.TENSOR_LEAK),
        "Copy tensors with torch in `{function}`",
        "`view_as` shares memory, like `copy.copy`; `clone` copies it. torch traces both.",
        line_rules.copy_by_torch,
    ),
    _NUMPY,
    _NUMPY._replace(
        kinds=(*(Kind.SHAPES_VIOLATED, Kind.OUTPUT_FROM_DATA), *(Kind.GRAPH_BREAK, Kind.OWN_ERROR)),
        rewrite=_without_numpy,
        refusal="",
    ),
    _Way(
        (Kind.DATA_WRITE,),
        "Write through detach() on line {line}",
        "Like `.data`, `detach()` shares memory and records no gradient, but tracing captures the "
        "write.",
        line_rules.write_in_the_open,
    ),
    _COPY,
    _COPY._replace(kinds=(Kind.COND_MUTATES,), rewrite=line_rules.clone_new_operands),
    _COPY._replace(
        kinds=(Kind.COND_MUTATES,),
        gives_up="The branch writes to a copy, so its caller does not see the new values.",
        loses_writes=True,
    ),
    _Way(
        (Kind.TENSOR_LEAK, Kind.OWN_ERROR, Kind.OPERATOR_FAILED, Kind.UNKNOWN),
        "Take eager's path on line {changed}, which checks for tracing",
        "The code takes a different path while tracing and fails there. The rewrite takes the "
        "path that eager takes.",
        line_rules.answer_as_eager,
        places=_on_the_way,
    ),
)


def _drop_conversion(diagnosis: Diagnosis) -> Iterator[_Way]:
    """A module that is converted at a place, without that; no trace can replace parameters."""
    if diagnosis.span is None or not diagnosis.stack:
        return
    below, column = diagnosis.span.line - diagnosis.stack[-1].line, diagnosis.span.column
    yield _Way(
        (Kind.MODULE_CHANGED,),
        "Drop the conversion on line {line}",
        "The module already has that dtype and device, and returns the same without the "
        "conversion.",
        lambda text, line: line_rules.drop_conversion(text, line + below, column),
        refusal="Cannot drop the conversion: without it, the model returns a different result.",
        trial=lambda attempt, edit: agrees(read_failure(attempt)[0], edit),
    )


def suggest_formula(attempt: Failed) -> Iterator[Fix | NoFix]:
    """A function of torch that takes no symbolic size, computed with other ops."""
    yield from _suggest(attempt, (_WITH_OTHER_OPS,))


def suggest_symbolic_sizes(attempt: Failed) -> Iterator[Fix | NoFix]:
    """The rewrite of every line of a file at which Python makes a plain number of a size."""
    yield from _suggest(attempt, (_SYMBOLIC, _LENGTH))


def suggest_rewrites(attempt: Failed) -> Iterator[Fix | NoFix]:
    """The first rewrite of the diagnosed line that leads on."""
    more = _drop_conversion(read_failure(attempt)[1])
    yield from _suggest(attempt, (*_WAYS, *more))


def suggest_size_ops(attempt: Failed) -> Iterator[Fix | NoFix]:
    """The number at a diagnosed line by ops, compared with Python's at many sizes."""
    yield from _suggest(attempt, (_BY_OPS,))


def _suggest(attempt: Failed, ways: Iterable[_Way]) -> Iterator[Fix | NoFix]:
    """The first of some rewrites that leads on, and the reasons against the others."""
    _, diagnosis = read_failure(attempt)
    texts: set[str] = set()
    for way in ways:
        for place in way.places(attempt) if diagnosis.kind in way.kinds else ():
            offered = _try(attempt, way, place, texts)
            if offered is not None:
                yield offered
            if isinstance(offered, Fix):
                return


def _try(attempt: Failed, way: _Way, place: Location, texts: set[str]) -> Fix | NoFix | None:
    """A way at a line, tried; None where it does not fit the code, or does not lead on."""
    request, diagnosis = read_failure(attempt)
    text, line = text_in_effect(request.edits, place.file, place.line)
    lines = {line}
    if way.everywhere:
        here = [p.line for p in way.places(attempt) if p.file == place.file]
        lines = {text_in_effect(request.edits, place.file, line)[1] for line in here}
    edit = Edit(original_file(place.file), text, text, ())
    try:
        edit, rewritten = rewrite_lines(edit, lines, way.rewrite)
    except CannotRewrite as reason:
        return NoFix(way.refusal.format(reason=reason)) if "{reason}" in way.refusal else None
    if edit.after in texts or edit.after == text:
        return None
    texts.add(edit.after)
    pairs = zip(text.split("\n"), edit.after.split("\n"), strict=False)
    fields = {
        "line": place.line,
        "function": place.function or rewritten.function,
        "changed": next(n for n, (before, after) in enumerate(pairs, 1) if before != after),
        "what": rewritten.what,
        "where": "" if place.file == _TORCH else f" on line {place.line}",
        "number": "number" if isinstance(diagnosis.facts, DataDependent) else "size",
    }
    title = way.title.format(**fields)
    tell(title)
    if not way.trial(attempt, edit):
        return NoFix(way.refusal) if way.refusal else None
    edit, result = try_further(request, edit, way.rewrite if way.everywhere else None)
    fix = offer_edit(
        attempt,
        edit,
        result,
        bounds="first" if way.bounded else "never",
        title=title,
        why=way.why.format(**fields) or rewritten.why,
        gives_up=way.gives_up,
        lossy=way.loses_writes,
    )
    return way.judge(attempt, fix) if fix is not None else None
