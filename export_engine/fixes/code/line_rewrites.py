"""Code fixes: rewrites of the failing line, in memory, and tried.

Only sound rewrites: what cannot keep its meaning is refused, with the reason. A rewrite is offered
if the call then exports and agrees with eager, or fails somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from export_engine.attempt import Diagnosis, Edit, Failed, Fix, Kind, NoFix, text_in_effect
from export_engine.fixes.code.branches.bool_tests_to_tensors import (
    copy_by_torch,
    keep_as_tensor,
    pass_plain_bools,
)
from export_engine.fixes.code.branches.branch_copies import clone_branch_results, clone_new_operands
from export_engine.fixes.code.calls.data_writes import write_in_the_open
from export_engine.fixes.code.calls.distributions import disable_validation
from export_engine.fixes.code.calls.logging_calls import skip_logging, without_note
from export_engine.fixes.code.calls.numpy_to_torch import with_torch
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Rewritten, Source
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress
from export_engine.source import original_file

__all__ = ["suggest_rewrites"]


class Way(NamedTuple):
    """A rewrite of a line, and what is said of it."""

    title: str
    """With `{line}` and `{function}`."""
    why: str
    rewrite: Callable[[str, int], Rewritten]
    gives_up: str = ""
    is_tentative: bool = False
    """Whether another way that leads to a program is better than this one that leads on."""
    loses_writes: bool = False
    """Whether the program may lack what eager writes to its inputs."""


_NOTE = Way(
    "Skip the message in line {line} while exporting",
    "The branch only warns or prints, so no output depends on it.",
    without_note,
    gives_up="The program does not warn.",
)
_UNSAID = Way(
    "Skip the message in line {line} while exporting",
    "A message needs the numbers that it is made of, and no output depends on it.",
    skip_logging,
    gives_up="The program does not print, log or warn.",
)
_TENSOR = Way(
    "Keep the number in line {line} a tensor",
    "A number that stays a tensor is computed at run time.",
    keep_as_tensor,
    is_tentative=True,
)
_WRITE = Way(
    "Write through detach() in line {line}",
    "Like `.data`, `detach()` shares memory and records no gradient; unlike it, tracing sees "
    "the write.",
    write_in_the_open,
)
_COPY = Way(
    "Clone in line {line}",
    "A branch of torch.cond returns new tensors and mutates none of its inputs.",
    clone_branch_results,
)
_COPY_NEW = _COPY._replace(rewrite=clone_new_operands)
_COPY_WRITTEN = _COPY._replace(
    gives_up="The branch writes to a copy, so its caller does not see the new values.",
    loses_writes=True,
)
_BOOL = Way(
    "Make the flag in line {line} a plain bool",
    "The op does not take a symbolic bool. Python then decides it for all sizes in the range.",
    pass_plain_bools,
)
_UNCHECKED = Way(
    "Set validate_args=False in `{function}`",
    "torch.distributions then does not read the values of its arguments to validate them.",
    disable_validation,
    gives_up="The program accepts arguments that the distribution rejects.",
)

_COPIED = Way(
    "Let torch make the tensor copies of `{function}`",
    "`view_as` shares memory as `copy.copy` does, and `clone` copies it; both are traced.",
    copy_by_torch,
)


def _without_numpy(text: str, line: int) -> Rewritten:
    """The function in torch, where NumPy is called at a line that fails by a size."""
    source = Source(text, line)
    if not any(f"{name}." in text.split("\n")[line - 1] for name in source.names_of("numpy")):
        raise CannotRewrite("the line does not call NumPy")
    return with_torch(text, line)


_NUMPY = Way(
    "Replace NumPy with torch in `{function}`",
    "torch has the same functions as ops, which the graph can capture.",
    with_torch,
)
_NUMPY_OF_SIZE = _NUMPY._replace(rewrite=_without_numpy)


def _find_ways(diagnosis: Diagnosis) -> list[Way]:
    """What may help at a line, the likeliest first; each refuses code that it does not fit."""
    match diagnosis.kind:
        case Kind.BRANCH_ON_DATA | Kind.BRANCH_ON_UNBACKED:
            return [_NOTE, _UNCHECKED]
        case Kind.UNBACKED_SIZE | Kind.SHAPES_VIOLATED:
            return [_UNSAID, _NUMPY_OF_SIZE]
        case Kind.NUMPY:
            return [_NUMPY]
        case Kind.DATA_WRITE:
            return [_WRITE]
        case Kind.COND_ALIASES:
            return [_COPY]
        case Kind.COND_MUTATES:
            return [_COPY_NEW, _COPY_WRITTEN]
        case Kind.OUTPUT_FROM_DATA:
            return [_NOTE, _UNSAID, _COPIED, _UNCHECKED, _TENSOR, _NUMPY_OF_SIZE]
        case Kind.GRAPH_BREAK:
            return [_UNSAID, _UNCHECKED, _BOOL, _COPIED, _NUMPY_OF_SIZE]
        case Kind.TENSOR_LEAK:
            return [_COPIED]
        case Kind.OWN_ERROR | Kind.OPERATOR_FAILED:
            return [_BOOL, _NUMPY_OF_SIZE]
    return []


def suggest_rewrites(
    attempt: Failed, progress: Callable[[Progress], None] | None = None
) -> Iterator[Fix | NoFix]:
    """The first rewrite of the diagnosed line that leads on; a tentative one if no other does."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    texts = {text}
    tentative: Fix | None = None
    for way in _find_ways(diagnosis):
        try:
            rewritten = way.rewrite(text, line)
        except CannotRewrite as reason:
            if way is _NUMPY:
                yield NoFix(f"NumPy cannot be replaced with torch here: {reason}.")
            continue
        if rewritten.text in texts:
            continue
        texts.add(rewritten.text)
        edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
        title = way.title.format(line=place.line, function=place.function)
        if progress:
            progress(Progress(0, 0, title, "fix"))
        fix = code_fix(
            request,
            diagnosis,
            edit,
            title=title,
            why=way.why,
            gives_up=way.gives_up,
            loses_writes=way.loses_writes,
        )
        if fix is None:
            continue
        if fix.leads_to is None and way.is_tentative:
            tentative = tentative or fix
            continue
        yield fix if tentative is None or fix.leads_to is not None else tentative
        return
    if tentative is not None:
        yield tentative
