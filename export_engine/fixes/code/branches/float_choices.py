"""A choice between floats from data, `if scale == 0.0: scale = 1.0` or `max(scale, 1e-8)`.

Python's `float` is a double, so the choice is made by torch.where of doubles, and read back by
`.item()`: the number is the same one, also where one is NaN, which sym_min and sym_max order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from export_engine.attempt import Attempt, Edit, Exported, Failed, Fix, Kind
from export_engine.diagnose import DataDependent
from export_engine.fixes.code.branches.select_to_where import chosen_by, nodes_within
from export_engine.fixes.code.editing.assignments import is_number
from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.fixes.code.editing.failing_text import failing_text
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.editing.try_edit import code_fix, edited_file
from export_engine.progress import Progress, Report
from export_engine.source import parse_stack_trace, unedited

_TITLE = "Select the float in line {line} with torch.where"
_WHY = (
    "A number that data decide is unknown while tracing. torch.where selects one of two doubles, "
    "which a Python float is, at run time."
)
_BUILT_IN = {"min": "<", "max": ">"}
_PURE = ("abs", "float")


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The choice between floats at a diagnosed line as torch.where."""
    failing = failing_text(attempt, (Kind.BRANCH_ON_UNBACKED,))
    if failing is None:
        return
    request, diagnosis, place, text, line = failing
    if not isinstance(diagnosis.facts, DataDependent) or diagnosis.facts.whole:
        return
    for rewrite in (least_or_most, selected_float):
        try:
            made = rewrite(text, line)
        except Unclear:
            continue
        title = _TITLE.format(line=place.line)
        if progress:
            progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
        edit = Edit(unedited(place.file), text, made.text, (made.function,))
        if not agrees(request, edit):
            continue
        fix = code_fix(request, diagnosis, edit, title=title, why=_WHY)
        if fix is not None and are_floats(fix.leads_to, edited_file(request, edit)):
            yield fix
            return


def selected_float(text: str, line: int) -> Rewritten:
    """The text with the `if`, or the conditional expression, at a line as torch.where of doubles.

    Raises:
        Unclear: there is none, or it may choose something else than floats.
    """
    return chosen_by(Source(text, line), line, _choice)


def _choice(source: Source, test: ast.expr, then: str, otherwise: str) -> str:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _choice(source, test.operand, otherwise, then)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        raise Unclear("the test is more than one comparison")
    start, end = source.end(test.left), source.start(test.comparators[0])
    both = (test.left, test.comparators[0])
    sides = [source.of(each) if is_number(each) else _double(source, each) for each in both]
    asked = f"{sides[0]}{source.text[start:end]}{sides[1]}"
    values = [_double(source, ast.parse(each, mode="eval").body) for each in (then, otherwise)]
    made = f"{source.torch}.scalar_tensor("
    if not any(made in each for each in sides):
        raise Unclear("the test is about constants")
    if not any(made in each for each in values):  # two constants would be of the default dtype
        values[0] = f"{made}{values[0]}, dtype={source.torch}.float64)"
    return f"{source.torch}.where({asked}, {', '.join(values)}).item()"


def _double(source: Source, value: ast.expr) -> str:
    """A float as a tensor of one double; one that stands there as it is.

    Raises:
        Unclear: it is an int, or may not be computed where eager does not.
    """
    text = ast.unparse(value)
    if is_number(value):
        if "." not in text and "e" not in text:
            raise Unclear("it chooses an int")
        return text
    _refuse(value)
    return f"{source.torch}.scalar_tensor({text}, dtype={source.torch}.float64)"


def _refuse(value: ast.expr) -> None:
    """Raises Unclear for what has an effect, or may raise: a division by zero."""
    for node in ast.walk(value):
        divides = isinstance(node, ast.BinOp) and isinstance(
            node.op, ast.Div | ast.FloorDiv | ast.Mod | ast.Pow
        )
        if divides and isinstance(node, ast.BinOp) and not is_number(node.right):
            raise Unclear("it divides by a number from data")
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.Lambda):
            raise Unclear("a value has an effect")
        if isinstance(node, ast.Call):
            called = node.func
            method = getattr(called, "attr", "")
            pure = hasattr(torch.Tensor, method) and not method.endswith("_")
            if not pure and getattr(called, "id", "") not in _PURE:
                raise Unclear(f"`{ast.unparse(node)}` may have an effect")


def least_or_most(text: str, line: int) -> Rewritten:
    """The text with each `min(a, b)` and `max(a, b)` of a line's statement as torch.where.

    Python's `min(a, b)` is `b if b < a else a`.

    Raises:
        Unclear: there is none at that line, or one may be of something else than floats.
    """
    source = Source(text, line)
    statement = next(
        (
            node
            for node in ast.walk(source.function)
            if isinstance(node, ast.Assign | ast.Return | ast.AugAssign) and spans(node, line)
        ),
        None,
    )
    nodes = list(ast.walk(statement)) if statement is not None else []
    calls = [node for node in nodes if isinstance(node, ast.Call) and _is_choice(node)]
    if statement is None or not calls:
        raise Unclear("the line calls neither min nor max")
    _refuse_conditional(statement, calls)
    taken, lines, pieces = source.names, list[str](), list[Piece]()
    for call in calls:
        names = []
        for value in call.args:
            double = _double(source, value)
            if not is_number(value):
                name = free_name("_number", taken)
                taken.add(name)
                lines.append(f"{name} = {double}")
                double = name
            names.append(double)
        first, second = names
        sign = _BUILT_IN[getattr(call.func, "id", "")]
        if is_number(call.args[0]) and is_number(call.args[1]):
            raise Unclear("it chooses between constants")
        made = f"{source.torch}.where({second} {sign} {first}, {second}, {first}).item()"
        pieces.append(Piece(source.start(call), source.end(call), made))
    at, indent = source.start(statement), source.indent(statement)
    pieces.append(Piece(at, at, "".join(f"{each}\n{indent}" for each in lines)))
    return source.changed(pieces)


def _is_choice(node: ast.Call) -> bool:
    return (
        getattr(node.func, "id", "") in _BUILT_IN
        and len(node.args) == 2
        and not node.keywords
        and not any(isinstance(each, ast.Starred) for each in node.args)
    )


def _refuse_conditional(statement: ast.stmt, calls: list[ast.Call]) -> None:
    """Raises Unclear for a call in another one, or that is not evaluated each time."""
    holders = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)
    for node in ast.walk(statement):
        held = [each for each in ast.walk(node) if each in calls and each is not node]
        if held and (isinstance(node, holders) or node in calls):
            raise Unclear("it is not computed each time, or within another one")


def are_floats(found: Attempt | None, file: str) -> bool:
    """Whether every double that an edited file makes is of a float, and not of an int.

    Args:
        found: the attempt with the edit; of one that failed nothing is known against it.
        file: as which the edited text runs.
    """
    if not isinstance(found, Exported):
        return True
    for node in nodes_within(found.program.graph_module):
        if not str(node.target).startswith("aten.scalar_tensor"):
            continue
        stack = parse_stack_trace(node.meta.get("stack_trace") or "")
        if stack and stack[-1].file != file:
            continue
        given = node.args[0]
        value = given.meta.get("val") if isinstance(given, torch.fx.Node) else given
        if not isinstance(value, float | torch.SymFloat):
            return False
    return True
