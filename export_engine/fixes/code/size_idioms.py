"""Fixes of Python and NumPy around sizes: what turns a dynamic size into a plain number.

`math.sqrt(n)`, `int(n)` and the like ask a size for its number, which fixes it. torch has functions
that keep it symbolic, and that are Python's own for plain numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from export_engine.attempt import (
    Attempt,
    Edit,
    Exported,
    Failed,
    Fix,
    Kind,
    Request,
    text_in_effect,
)
from export_engine.diagnose import SizesViolated, diagnose, formats_a_tensor
from export_engine.fixes.code.bounded_edit import bounded, with_bounds
from export_engine.fixes.code.conditions import Unclear
from export_engine.fixes.code.number_lists import by_indices
from export_engine.fixes.code.rewrite import Rewritten
from export_engine.fixes.code.size_factories import by_arange
from export_engine.fixes.code.size_pieces import in_pieces
from export_engine.fixes.code.text_edits import Piece, Source
from export_engine.fixes.code.try_edit import edited_file, further, leads_on, tried, with_edit
from export_engine.fixes.excluded_calls import allows_any, calls_without
from export_engine.progress import Progress, Report
from export_engine.source import Location, unedited

_KINDS = (
    Kind.SHAPES_VIOLATED,
    Kind.UNBACKED_SIZE,
    Kind.OUTPUT_FROM_DATA,
    Kind.OWN_ERROR,
    Kind.NUMPY,
    Kind.GRAPH_BREAK,
)
_MOST_ROUNDS = 3
_FORMAT = re.compile(r"(?<!\{)\{([^{}:!]+):[^{}]*\}")
"""A value of an f-string that has a format: `{n:>4}`."""
_TO_NUMBER = {"int": "sym_int", "float": "sym_float"}
_ROUNDED = ("ceil", "floor")
_COMPUTED = ("log", "log2", "log10", "log1p", "exp", "sin", "cos", "tan", "tanh")


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The rewrite of every line of a file at which a size is made a number."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind not in _KINDS:
        return
    if formats_a_tensor(str(attempt.error)):
        return  # a tensor, and not a size, is formatted
    for place in _places(attempt):
        lines = [each.line for each in _places(attempt) if each.file == place.file]
        text, _ = text_in_effect(request.edits, place.file, place.line)
        at = {text_in_effect(request.edits, place.file, line)[1] for line in lines}
        try:
            made = symbolic(text, at, pieces=diagnosis.kind is Kind.UNBACKED_SIZE)
        except Unclear:
            continue
        if progress:
            progress(Progress(0, 0, f"keeping sizes symbolic in line {place.line}", "fix"))
        edit = Edit(unedited(place.file), text, made[0].text, (made[0].function,))
        edit, found = _tried(request, edit)
        bounds = bounded(found, progress)
        if bounds is None and (found is None or not leads_on(found, diagnosis, edit)):
            continue
        fix = Fix(
            kind="code",
            title=f"Keep the size in line {place.line} symbolic",
            why=f"{_listed(made[1])} needs the number of a size. The size then stays symbolic.",
            change=partial(with_edit, edit=edit),
            edits=with_edit(request, edit).edits,
            stack=diagnosis.stack,
            leads_to=found if isinstance(found, Exported) else None,
        )
        if bounds is None:
            yield fix
        else:
            facts = diagnosis.facts
            problems = facts.problems if isinstance(facts, SizesViolated) else ()
            others = (call for each in problems for _, call in calls_without(request, each))
            beyond = allows_any(bounds.apply(request), others)
            yield replace(with_bounds(fix, bounds), beyond_bounds=beyond)
        return


def _tried(request: Request, edit: Edit) -> tuple[Edit, Attempt | None]:
    """The attempt with an edit, and with those of the lines at which a size is a number then."""
    found = tried(request, edit)
    for _ in range(_MOST_ROUNDS):
        if not isinstance(found, Failed):
            break
        explained = replace(found, diagnosis=diagnose(found))
        file = edited_file(request, edit)
        lines = {each.line for each in _places(explained) if each.file == file}
        try:
            made, _ = symbolic(edit.after, lines)
        except (Unclear, ValueError):
            break
        edit = further(edit, made)
        found = tried(request, edit)
    return edit, found


def _places(attempt: Failed) -> list[Location]:
    diagnosis = attempt.diagnosis
    assert diagnosis is not None
    stacks = [diagnosis.stack]
    if isinstance(diagnosis.facts, SizesViolated):
        stacks += [each.stack for each in diagnosis.facts.problems]
    return list(dict.fromkeys(stack[-1] for stack in stacks if stack))


def _listed(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in dict.fromkeys(names))


def symbolic(text: str, lines: set[int], *, pieces: bool = False) -> tuple[Rewritten, list[str]]:
    """The text with sizes kept symbolic at some lines of one function, and what was replaced.

    Args:
        text: of the file.
        lines: of the function.
        pieces: whether to cut tensors into pieces of symbolic sizes where each has a name, too,
            which a Dim cannot say.

    Raises:
        Unclear: nothing there asks a size for its number.
    """
    source = Source(text, min(lines))
    found = _Idioms(source)
    for node in ast.walk(source.function):
        if isinstance(node, ast.Call) and _lines(node) & lines:
            found.call(node)
        elif isinstance(node, ast.JoinedStr) and _lines(node) & lines:
            found.text(node)
    for statement in ast.walk(source.function):
        if isinstance(statement, ast.stmt) and _lines(statement) & lines:
            cut = in_pieces(source, statement, unpacked=pieces)
            if cut:
                found.names.append(source.text[cut[-1].start : cut[-1].end])
                found.pieces += cut
    if not found.pieces:
        raise Unclear("nothing there asks a size for its number")
    return source.changed(found.outermost()), found.names


def _lines(node: ast.expr | ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


class _Idioms:
    """The replacements in one function."""

    def __init__(self, source: Source) -> None:
        self.source, self.torch = source, source.torch
        self.numpy, self.math = source.names_of("numpy"), source.names_of("math")
        self.pieces: list[Piece] = []
        self.names: list[str] = []
        self.inside: set[ast.AST] = set()
        """Of calls that are replaced as a whole, all that is in them."""

    def outermost(self) -> list[Piece]:
        """The pieces, none of which overlap: each is a name, or a bracket, of its own."""
        kept: list[Piece] = []
        for piece in sorted(set(self.pieces)):
            if not kept or piece.start >= kept[-1].end:
                kept.append(piece)
        return kept

    def call(self, node: ast.Call) -> None:
        """Records what replaces a call."""
        made = self._replaced(node) if node not in self.inside else None
        if made is not None:
            self.names.append(self.source.of(node.func))
            self.pieces += made
            if made == self._named(node, made[0].text):
                self.inside |= set(ast.walk(node))

    def text(self, node: ast.JoinedStr) -> None:
        """Records an f-string without its formats of numbers, which a symbol does not take."""
        made = _FORMAT.sub(r"{\1!s}", self.source.of(node))
        if made != self.source.of(node):
            self.names.append(self.source.of(node))
            self.pieces += self._named(node, made)

    def _replaced(self, node: ast.Call) -> list[Piece] | None:
        function = node.func
        if isinstance(function, ast.Name):
            return self._builtin(node, function.id)
        if not isinstance(function, ast.Attribute):
            return None
        owner = self.source.of(function.value)
        if owner == self.torch or owner.endswith((".fft", "functional")) or owner == "F":
            made = by_arange(node, function.attr, self.torch, self.source.of)
            if made is not None:
                return self._named(node, made)
        if not isinstance(function.value, ast.Name):
            return None
        name = function.attr
        if owner in self.numpy | self.math:
            return self._of_math(node, owner, name)
        if owner == self.torch:
            return self._of_torch(node, name)
        if owner == "copy" and name in ("copy", "deepcopy") and self._is_shape(node.args[:1]):
            return self._unwrapped(node, "", "")
        return None

    def _builtin(self, node: ast.Call, name: str) -> list[Piece] | None:
        if name in _TO_NUMBER and len(node.args) == 1 and not node.keywords:
            inner = node.args[0]
            if name == "int" and self._rounds(inner):
                return None  # the inner call is replaced, and gives an int
            return self._named(node.func, f"{self.torch}.{_TO_NUMBER[name]}")
        if name == "map" and node.args and isinstance(node.args[0], ast.Name):
            to = _TO_NUMBER.get(node.args[0].id)
            return self._named(node.args[0], f"{self.torch}.{to}") if to else None
        if name == "len" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            return self._unwrapped(node, "", ".shape[0]")
        if name == "isinstance" and len(node.args) == 2:
            kind = node.args[1]
            if isinstance(kind, ast.Name) and kind.id == "int":
                return self._named(kind, f"(int, {self.torch}.SymInt)")
        return None

    def _rounds(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else None
        return isinstance(called, ast.Attribute) and called.attr in (*_ROUNDED, "prod")

    def _of_math(self, node: ast.Call, owner: str, name: str) -> list[Piece] | None:
        if len(node.args) != 1 or node.keywords:
            return None
        if name == "sqrt":
            return self._named(node.func, f"{self.torch}.sym_sqrt")
        if name in _COMPUTED:
            double = f"dtype={self.torch}.float64"
            return self._unwrapped(
                node, f"{self.torch}.{name}({self.torch}.tensor(", f", {double}))"
            )
        if owner in self.math:
            return None
        if name in (*_ROUNDED, "prod"):
            module = next(iter(sorted(self.math)), "__import__('math')")
            return self._named(node.func, f"{module}.{name}")
        return None

    def _of_torch(self, node: ast.Call, name: str) -> list[Piece] | None:
        if name in ("tensor", "as_tensor"):
            computed = by_indices(node, self.torch, self.math, self.source.of)
            if computed is not None:
                return self._named(node, computed)
        if name == "as_tensor" and node.args and self._is_shape(node.args[:1]):
            argument = node.args[0]
            at, end = self.source.start(argument), self.source.end(argument)
            star = not isinstance(argument, ast.List | ast.Tuple)
            return [
                *self._named(node.func, f"{self.torch}.tensor"),
                *([Piece(at, at, "[*"), Piece(end, end, "]")] if star else []),
            ]
        if name == "_shape_as_tensor" and len(node.args) == 1:
            return self._unwrapped(node, f"{self.torch}.tensor([*", ".shape])")
        return None

    def _is_shape(self, values: list[ast.expr]) -> bool:
        """Whether a value is a shape, or sizes listed."""
        for value in values:
            inner = value.value if isinstance(value, ast.Subscript) else value
            if isinstance(inner, ast.Attribute) and inner.attr == "shape":
                return True
            called = inner.func if isinstance(inner, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr == "size":
                return True
            if isinstance(inner, ast.List | ast.Tuple):
                return True
        return False

    def _named(self, node: ast.expr, text: str) -> list[Piece]:
        return [Piece(self.source.start(node), self.source.end(node), text)]

    def _unwrapped(self, node: ast.Call, before: str, after: str) -> list[Piece]:
        """The call's argument with other text around it."""
        argument = node.args[0]
        return [
            Piece(self.source.start(node), self.source.start(argument), before),
            Piece(self.source.end(argument), self.source.end(node), after),
        ]
