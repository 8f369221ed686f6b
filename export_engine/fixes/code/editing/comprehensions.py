"""A list comprehension as a loop that appends to a list."""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.conditions import CannotRewrite
from export_engine.fixes.code.editing.text_edits import Piece, Source


class Form(NamedTuple):
    """A text, and the line of its loop."""

    text: str
    line: int


def comprehension_as_loop(text: str, line: int, *, filtered: bool = False) -> Form | None:
    """The text with the list comprehension at a line as a loop before its statement.

    Args:
        text: of the file.
        line: of the comprehension.
        filtered: whether one with a condition, and no other, becomes a loop with an `if`.
    """
    source = Source(text, line)
    statement = next(
        (
            node
            for node in ast.walk(source.function)
            if isinstance(node, ast.Assign | ast.Return | ast.Expr | ast.AugAssign)
            and node.lineno <= line <= (node.end_lineno or 0)
        ),
        None,
    )
    nodes = [
        node
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.ListComp | ast.GeneratorExp)
        and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if statement is None or not nodes:
        return None
    result = nodes[0]  # the outermost
    generator = result.generators[0]
    if filtered and not generator.ifs:
        return None
    tests = generator.ifs if filtered else []
    if len(result.generators) > 1 or generator.is_async or generator.ifs != tests:
        raise CannotRewrite("the comprehension has several loops, or a condition")
    if any(
        isinstance(node, ast.Lambda | ast.IfExp | ast.BoolOp | ast.NamedExpr)
        for node in _ancestors(statement, result)
    ) or any(isinstance(node, ast.NamedExpr | ast.Await) for node in ast.walk(result)):
        raise CannotRewrite("the comprehension is not evaluated in each call, or binds names")
    whole, start, collect = _collect(source, statement, result)
    indent = source.indent(statement)
    names = source.names
    plain = isinstance(statement, ast.Assign) and statement.value is whole
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    own = plain and isinstance(target, ast.Name) and len(getattr(statement, "targets", ())) == 1
    into = target.id if own and isinstance(target, ast.Name) else free_name("_rows", names)
    head, value, asked = _rename_variables(source, result, generator, names)
    lines = [f"{into} = {start}", f"{indent}for {head}:"]
    if tests:
        lines.append(f"{indent}    if {asked}:")
    deeper = "        " if tests else "    "
    lines.append(f"{indent}{deeper}{collect.format(into=into, value=value)}")
    loop_line = statement.lineno + 1
    end = source.end(statement) if own else source.start(statement)
    made_lines = "\n".join(lines) + ("" if own else f"\n{indent}")
    pieces = [Piece(source.start(statement), end, made_lines)]
    if not own:
        pieces.append(Piece(source.start(whole), source.end(whole), into))
    return Form(source.replace(pieces).text, loop_line)


def _collect(
    source: Source, statement: ast.stmt, made: ast.ListComp | ast.GeneratorExp
) -> tuple[ast.expr, str, str]:
    """The expression that collects, what it starts with, and a line that adds a value."""
    if isinstance(made, ast.ListComp):
        return made, "[]", "{into}.append({value})"
    for node in _ancestors(statement, made):
        if isinstance(node, ast.Call) and node.args == [made] and not node.keywords:
            called = source.of(node.func)
            if called in ("list", "tuple"):
                return node, "[]", "{into}.append({value})"
            if called == "sum":
                return node, "0", "{into} = {into} + ({value})"
    raise CannotRewrite("the generator is not collected in a list")


def _rename_variables(
    source: Source,
    made: ast.ListComp | ast.GeneratorExp,
    generator: ast.comprehension,
    names: set[str],
) -> tuple[str, str, str]:
    """`row in x`, the value and the test; a variable that has a name outside gets another one."""
    inner = {id(node) for node in ast.walk(made)} - {id(node) for node in ast.walk(generator.iter)}
    outside = {
        node.id
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and id(node) not in inner
    } | {node.arg for node in ast.walk(source.function) if isinstance(node, ast.arg)}
    own = {node.id for node in ast.walk(generator.target) if isinstance(node, ast.Name)}
    to = {name: free_name(f"{name}_", names | outside) for name in own & outside}

    def text(node: ast.expr) -> str:
        pieces = [
            Piece(source.start(child), source.end(child), to[child.id])
            for child in ast.walk(node)
            if isinstance(child, ast.Name) and child.id in to
        ]
        start, end, message = source.start(node), source.end(node), source.text
        for piece in sorted(pieces, reverse=True):
            message = message[: piece.start] + piece.text + message[piece.end :]
            end += len(piece.text) - (piece.end - piece.start)
        return message[start:end]

    head = f"{text(generator.target)} in {source.of(generator.iter)}"
    asked = " and ".join(f"({text(expression)})" for expression in generator.ifs)
    return head, text(made.elt), asked if len(generator.ifs) > 1 else asked[1:-1]


def _ancestors(root: ast.AST, node: ast.AST) -> list[ast.AST]:
    """The nodes between a root and a node, the nearest first."""
    for child in ast.iter_child_nodes(root):
        if child is node:
            return [root]
        if any(inner is node for inner in ast.walk(child)):
            return [*_ancestors(child, node), root]
    return []


def free_name(name: str, taken: set[str]) -> str:
    """A name like this one that is not taken."""
    while name in taken:
        name += "_"
    return name
