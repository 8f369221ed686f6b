"""A data-dependent choice between two values as torch.where, which computes both and selects.

Only pure values are chosen between. That both have the shape and dtype of the result is checked in
the program: torch.where broadcasts, where Python's choice does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import torch

from export_engine.attempt import Attempt, Exported
from export_engine.fixes.code.editing.conditions import Unclear, predicate_text
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.source import parse_stack_trace

_OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}


def selected(text: str, line: int) -> Rewritten:
    """The text with the `if`, or the conditional expression, at a line as torch.where.

    Raises:
        Unclear: there is none at that line, or it does more than choose a value.
    """
    return chosen_by(Source(text, line), line, _where)


Choice = Callable[[Source, ast.expr, str, str], str]
"""The text of a choice, given its test and the texts of both values."""


def chosen_by(source: Source, line: int, choice: Choice) -> Rewritten:
    """The text with the `if`, or the conditional expression, at a line as another choice.

    Raises:
        Unclear: there is none at that line, or it does more than choose a value.
    """
    for node in ast.walk(source.function):
        if isinstance(node, ast.If) and spans(node.test, line):
            return _chosen(source, node, choice)
        if isinstance(node, ast.IfExp) and spans(node.test, line):
            made = choice(source, node.test, source.of(node.body), source.of(node.orelse))
            _refuse_values(node.body, node.orelse)
            return source.changed([Piece(source.start(node), source.end(node), made)])
    raise Unclear("there is no choice at that line")


def chooses_numbers(text: str, line: int) -> bool:
    """Whether the choice at a line is between numbers, which torch.cond cannot return."""
    try:
        source = Source(text, line)
    except Unclear:
        return False
    for node in ast.walk(source.function):
        if isinstance(node, ast.IfExp) and spans(node.test, line):
            return _number(node.body) is not None or _number(node.orelse) is not None
        if isinstance(node, ast.If) and spans(node.test, line):
            values = [getattr(each, "value", None) for each in [*node.body, *node.orelse]]
            return any(isinstance(v, ast.expr) and _number(v) is not None for v in values)
    return False


def nodes_within(module: torch.nn.Module) -> Iterator[torch.fx.Node]:
    """The nodes of a program's graph, and of those that its operators run."""
    for each in module.modules():
        if isinstance(each, torch.fx.GraphModule):
            yield from each.graph.nodes


def selects_alike(found: Attempt, edited_file: str, *, within: bool = False) -> bool:
    """Whether every torch.where of an edited file selects between values like its result.

    Of an export that failed that is not known.

    Args:
        found: the attempt with an edit.
        edited_file: as which its text runs.
        within: whether to look into what operators as scan run, too.
    """
    if not isinstance(found, Exported):
        return False
    program = found.program
    for node in nodes_within(program.graph_module) if within else program.graph.nodes:
        if not str(node.target).startswith("aten.where."):
            continue
        stack = parse_stack_trace(node.meta.get("stack_trace") or "")
        if not any(place.file == edited_file for place in stack[-1:]):
            continue
        result = node.meta.get("val")
        for each in node.args[1:3]:
            if isinstance(each, torch.fx.Node) and not _alike(each.meta.get("val"), result):
                return False
    return True


def _alike(value: Any, result: Any) -> bool:
    if not isinstance(value, torch.Tensor) or not isinstance(result, torch.Tensor):
        return False
    return value.dtype == result.dtype and list(value.shape) == list(result.shape)


def _chosen(source: Source, branch: ast.If, choice: Choice) -> Rewritten:
    if source.text[source.start(branch) :].startswith("elif"):
        raise Unclear("an `elif` is reached only where the tests before it fail")
    indent = source.indent(branch)
    start, end = source.start(branch), source.end(branch)
    if len(branch.body) == 1 and isinstance(branch.body[0], ast.Return):
        then = branch.body[0].value
        after = branch.orelse or source.following(branch)
        last = after[0] if after else None
        if not isinstance(last, ast.Return) or last.value is None or then is None:
            raise Unclear("only one way returns a value at once")
        _refuse_values(then, last.value)
        made = choice(source, branch.test, source.of(then), source.of(last.value))
        return source.changed([Piece(start, max(end, source.end(last)), f"return {made}")])
    tests, ways = _ways(source, branch)
    names = list(dict.fromkeys(name for way in ways for name in way))
    lines = []
    for name in names:
        *values, made = [way.get(name, name) for way in ways]
        for test, value in zip(reversed(tests), reversed(values), strict=True):
            made = choice(source, test, value, made)
        lines.append(f"{name} = {made}")
    if len(lines) > 1 and any(name in _names(test) for name in names for test in tests):
        raise Unclear("the branches bind what the test reads")
    return source.changed([Piece(start, end, f"\n{indent}".join(lines))])


def _ways(source: Source, branch: ast.If) -> tuple[list[ast.expr], list[dict[str, str]]]:
    """The tests of an `if` with its `elif`s, and what each way binds, that of `else` last."""
    tests, ways = [branch.test], [_bound(source, branch.body)]
    rest = branch.orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        tests.append(rest[0].test)
        ways.append(_bound(source, rest[0].body))
        rest = rest[0].orelse
    return tests, [*ways, _bound(source, rest)]


def _bound(source: Source, block: list[ast.stmt]) -> dict[str, str]:
    """The values that a block binds, none of which depends on another."""
    found: dict[str, str] = {}
    for each in block:
        if isinstance(each, ast.Pass):
            continue
        if isinstance(each, ast.Assign) and len(each.targets) == 1:
            target, value = each.targets[0], each.value
            text = source.of(value)
        elif isinstance(each, ast.AugAssign) and type(each.op) in _OPERATORS:
            target, value = each.target, each.value
            text = f"{source.of(target)} {_OPERATORS[type(each.op)]} ({source.of(value)})"
        else:
            raise Unclear("a branch does more than bind names")
        if not isinstance(target, ast.Name) or target.id in found:
            raise Unclear("a branch does more than bind names")
        _refuse_values(value)
        if _names(value) & found.keys():
            raise Unclear("a branch computes one value from another")
        found[target.id] = text
    return found


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _refuse_values(*values: ast.expr) -> None:
    """Raises Unclear for values that torch.where cannot select, or that must not be computed."""
    numbers = [_number(value) for value in values]
    if len(values) > 1 and None not in numbers and len(set(numbers)) > 1:
        raise Unclear("it chooses between numbers of different kinds")
    for value in values:
        for node in ast.walk(value):
            if isinstance(node, ast.Await | ast.Yield | ast.NamedExpr | ast.Lambda | ast.JoinedStr):
                raise Unclear("a value has an effect")
            if isinstance(node, ast.Constant) and _kind(node) is None:
                raise Unclear(f"`{node.value!r}` is not a tensor")
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr.endswith("_"):
                raise Unclear("a value is computed in place")
        if isinstance(value, ast.Tuple | ast.List | ast.Dict):
            raise Unclear("it chooses between containers")


def _kind(node: ast.Constant) -> type | None:
    return type(node.value) if type(node.value) in (int, float, bool) else None


def _number(value: ast.expr) -> type | None:
    """The type of a number that stands there; None for anything else."""
    inner = value.operand if isinstance(value, ast.UnaryOp) else value
    return _kind(inner) if isinstance(inner, ast.Constant) else None


def _where(source: Source, test: ast.expr, then: str, otherwise: str) -> str:
    return f"{source.torch}.where({predicate_text(source.of(test))}, {then}, {otherwise})"
