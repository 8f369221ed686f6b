"""torch's max_pool1d as max_pool2d over rows of height 1, which takes symbolic sizes.

`nn.MaxPool1d`, `F.max_pool1d` and `torch.max_pool1d` all end in an op that torch computes from
plain ints, which fixes the length, whatever the model does. A line of the user's that calls the op
is rewritten, else the line of torch's own function that does, in memory.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch
from torch.nn import functional

from export_engine.attempt import Edit, Failed, Fix, Kind, as_module, text_in_effect
from export_engine.fixes.code.editing.edited_text import find_fixing_places
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress, Report
from export_engine.source import Location, code_of, original_file

_TITLE = "Compute max_pool1d as max_pool2d in line {line}"
_OF_TORCH = "Compute torch's max_pool1d as max_pool2d"
_WHY = (
    "torch computes max_pool1d from plain ints, which fixes the length. max_pool2d over rows of "
    "height 1 gives the same, and takes symbolic sizes."
)
_NAMES = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode")


def suggest_max_pool2d(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The op at a diagnosed line in two dimensions; of torch's own module, in torch's function."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind is not Kind.SHAPES_VIOLATED:
        return
    pools = any(
        isinstance(module, torch.nn.MaxPool1d) for module in as_module(request.target).modules()
    )
    own = find_fixing_places(attempt)
    for place in dict.fromkeys([*own, *_of_torch(pools or any(map(_says_so, own)))]):
        text, line = text_in_effect(request.edits, place.file, place.line)
        try:
            rewritten = in_two_dimensions(text, line)
        except CannotRewrite:
            continue
        of_torch = place.file == functional.__file__
        title = _OF_TORCH if of_torch else _TITLE.format(line=place.line)
        if progress:
            progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
        edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
        fix = code_fix(request, diagnosis, edit, title=title, why=_WHY)
        if fix is not None:
            yield fix
            return


def in_two_dimensions(text: str, line: int) -> Rewritten:
    """The text with `torch.max_pool1d(…)` at a line as `torch.max_pool2d` over rows of height 1.

    Raises:
        CannotRewrite: there is no such call at that line, or its arguments cannot be told apart.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if isinstance(node, ast.Call) and spans(node, line) and _is_op(node.func):
            return source.replace([_rows(source, node)])
    raise CannotRewrite("there is no max_pool1d at that line")


def _rows(source: Source, call: ast.Call) -> Piece:
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        raise CannotRewrite("its arguments are unpacked")
    entries = dict(zip(_NAMES, map(source.of, call.args), strict=False))
    entries |= {str(keyword.arg): source.of(keyword.value) for keyword in call.keywords}
    if not {"input", "kernel_size"} <= entries.keys() or entries.keys() - set(_NAMES):
        raise CannotRewrite("its arguments are unpacked, or it returns indices")
    parts = [f"({entries['input']}).unsqueeze(-2)", _pair("1", entries["kernel_size"])]
    stride = entries.get("stride", "None")
    if stride != "None":
        pair = _pair("1", stride)
        parts.append(f"stride={pair if stride.isdigit() else f'{pair} if {stride} else None'}")
    parts += [
        f"{name}={_pair(filled, entries[name])}"
        for name, filled in (("padding", "0"), ("dilation", "1"))
        if name in entries
    ]
    if "ceil_mode" in entries:
        parts.append(f"ceil_mode={entries['ceil_mode']}")
    text = f"{source.torch}.nn.functional.max_pool2d({', '.join(parts)}).squeeze(-2)"
    return Piece(source.start(call), source.end(call), text)


def _pair(first: str, given: str) -> str:
    """`(1, 2)` of a number; of what may be a number or a tuple of one, both ways."""
    if not given.isdigit():
        given = f"{given} if isinstance({given}, int) else {given}[0]"
    return f"({first}, {given})"


def _is_op(function: ast.expr) -> bool:
    """`torch.max_pool1d`, `F.max_pool1d`; no method, which a tensor has none of."""
    return isinstance(function, ast.Attribute | ast.Name) and ast.unparse(function).endswith(
        "max_pool1d"
    )


def _says_so(place: Location) -> bool:
    code = code_of(place.file)
    statement = code.statement(place.line) if code is not None else None
    return statement is not None and "max_pool1d" in ast.unparse(statement)


def _of_torch(asked: bool) -> Iterator[Location]:
    """The line of torch's function that calls the op."""
    code = code_of(functional.__file__) if asked else None
    for node in ast.walk(code.tree) if code is not None else ():
        call = node.value if isinstance(node, ast.Return) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "torch.max_pool1d":
            yield Location(functional.__file__, call.lineno, "_max_pool1d")
