"""A loop that returns where data say so, run to its end: what it would return is selected after it.

Each iteration adds its test, and what it would return, to a list. What the function returns at its
end is replaced by the first of them whose test holds; what is computed behind that is dropped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from export_engine.fixes.code.editing.assignments import is_number, out_of_place
from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear, predicate_text
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.editing.variables import stored_names

_ENDS = ("range", "zip", "enumerate", "reversed", "list", "tuple", "sorted", "len")
_ENDS_OF_OBJECTS = ("items", "values", "keys", "children", "unbind", "split", "chunk", "tolist")
"""Calls that give finitely many elements; a loop over others may end only by its return."""


def returned_at_end(text: str, line: int) -> Rewritten:
    """The text with the loop whose `return` depends on the test at a line run to its end.

    Raises:
        Unclear: there is none, or the loop may be left in another way, or has effects.
    """
    source = Source(text, line)
    outer = _outermost(source, line)
    leaving = _leaving(source, outer, line)
    rest = source.function.body[source.function.body.index(outer) + 1 :]
    last = rest[-1] if rest else None
    if not isinstance(last, ast.Return) or last.value is None:
        raise Unclear("what follows the loop does not end with a return")
    if any(isinstance(node, ast.Return) for each in rest[:-1] for node in ast.walk(each)):
        raise Unclear("what follows the loop returns in several places")
    values = [each.body[-1] for each in leaving]
    parts = [_parts(each) for each in [*values, last]]
    if len({len(each) for each in parts}) > 1 or any(
        type(each.value) is not type(last.value)
        for each in values
        if isinstance(each, ast.Return) and len(parts[0]) > 1
    ):
        raise Unclear("the returns give different containers")
    return source.changed(_pieces(source, outer, leaving, last))


def _outermost(source: Source, line: int) -> ast.stmt:
    """The statement of the function's own block that holds the loop at a line."""
    for each in source.function.body:
        if spans(each, line) and any(isinstance(node, ast.For) for node in ast.walk(each)):
            return each
    raise Unclear("there is no loop at that line")


def _leaving(source: Source, outer: ast.stmt, line: int) -> list[ast.If]:
    """Every `if` that returns from a statement, all of which are in loops."""
    found = list(_returning(outer, in_loop=False))
    if not any(spans(each.test, line) for each in found):
        raise Unclear("no loop returns at that line")
    known = [each.body[-1] for each in found]
    for node in ast.walk(outer):
        if isinstance(node, ast.Return) and node not in known:
            raise Unclear("the loop returns in another way as well")
        if isinstance(node, ast.Break | ast.Continue | ast.While | ast.Try | ast.Yield):
            raise Unclear(f"the loop has `{ast.unparse(node).split()[0]}`")
        if isinstance(node, ast.For):
            _refuse_endless(source, node)
        _refuse_effect(node)
    return found


def _returning(node: ast.stmt, *, in_loop: bool) -> Iterator[ast.If]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        raise Unclear("the loop defines a function")
    in_loop = in_loop or isinstance(node, ast.For)
    if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return) and in_loop:
        if node.orelse:
            raise Unclear("the branch that returns has an `else`")
        yield node
        return
    for part in ("body", "orelse"):
        for each in getattr(node, part, []):
            yield from _returning(each, in_loop=in_loop)


def _refuse_endless(source: Source, loop: ast.For) -> None:
    for node in ast.walk(loop.iter):
        called = node.func if isinstance(node, ast.Call) else None
        name = getattr(called, "attr", getattr(called, "id", ""))
        allowed = _ENDS if isinstance(called, ast.Name) else _ENDS_OF_OBJECTS
        if called is not None and name not in allowed:
            raise Unclear(f"`{source.of(loop.iter)}` may have no end but the return")


def _refuse_effect(node: ast.AST) -> None:
    """Raises Unclear for what changes a value that an iteration before would have returned."""
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        raise Unclear(f"the loop writes to `{ast.unparse(node)}`")
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else ""
    if name.endswith("_") and not name.endswith("__"):
        raise Unclear(f"`{ast.unparse(node)}` changes a value in place")
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        raise Unclear(f"the loop runs `{ast.unparse(node)}` for its effect")
    if isinstance(node, ast.NamedExpr | ast.Global | ast.Nonlocal | ast.Delete | ast.Import):
        raise Unclear("the loop binds more than its own names")


def _parts(returned: ast.stmt) -> list[ast.expr]:
    """The values that a statement returns."""
    value = returned.value if isinstance(returned, ast.Return) else None
    if value is None:
        raise Unclear("the loop returns nothing")
    if isinstance(value, ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.GeneratorExp):
        raise Unclear("the loop returns a container")
    if isinstance(value, ast.Constant) and not isinstance(value.value, int | float):
        raise Unclear(f"the loop returns `{value.value!r}`")
    if isinstance(value, ast.Tuple | ast.List):
        if any(isinstance(each, ast.Starred) for each in value.elts):
            raise Unclear("the loop returns a container")
        return value.elts
    return [value]


def _pieces(
    source: Source, outer: ast.stmt, leaving: list[ast.If], last: ast.Return
) -> list[Piece]:
    taken = source.names
    given, test = (free_name(each, taken) for each in ("_returned", "_test"))
    at, indent = source.indent(outer), source.indent(last)
    parts = _parts(last)
    several = isinstance(last.value, ast.Tuple | ast.List)
    numbers = [f"_result{n}" for n in range(len(parts))] if several else ["_result"]
    names = [free_name(each, taken) for each in numbers]
    firsts = [free_name(f"{each}_then", taken) for each in names]
    lines = [f"{name} = {source.of(each)}" for name, each in zip(names, parts, strict=True)]
    lines.append(f"for {test}, {', '.join(firsts)} in reversed({given}):")
    lines += [
        f"    {name} = {source.torch}.where({test}, {then}, {name})"
        for name, then in zip(names, firsts, strict=True)
    ]
    results = [
        f"{name}.item()" if is_number(each) else name
        for name, each in zip(names, parts, strict=True)
    ]
    joined = ", ".join(results) + ("," if several and len(results) == 1 else "")
    if several:
        joined = f"[{joined}]" if isinstance(last.value, ast.List) else f"({joined})"
    lines.append(f"return {joined}")
    return [
        Piece(source.start(outer), source.start(outer), f"{given} = []\n{at}"),
        *[piece for node in ast.walk(outer) for piece in out_of_place(source, node)],
        *[_noted(source, each, given) for each in leaving],
        Piece(source.start(last), source.end(last), f"\n{indent}".join(lines)),
    ]


def _noted(source: Source, branch: ast.If, given: str) -> Piece:
    """What replaces a branch that returns: what it binds, and its test with what it returns."""
    at, lines = source.indent(branch), []
    for each in branch.body[:-1]:
        if not isinstance(each, ast.Assign) or "\n" in source.of(each):
            raise Unclear("the branch that returns does more than bind names")
        lines.append(source.of(each))
    bound = stored_names(*branch.body)
    elsewhere = {
        node.id
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and not spans(branch, node.lineno)
    }
    if bound & elsewhere:
        raise Unclear("the branch that returns binds what is used elsewhere")
    test = predicate_text(source.of(branch.test))
    values = ", ".join(source.of(each) for each in _parts(branch.body[-1]))
    lines.append(f"{given}.append((({test}).reshape(()), {values}))")
    return Piece(source.start(branch), source.end(branch), f"\n{at}".join(lines))
