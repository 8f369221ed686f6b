"""What a model only notes by size, `self.seen[x.shape[0]] += 1`, is not noted while exporting.

A key of a dict needs the number of a size. Where nothing reads what is noted, no output depends on
it, and a program keeps no dict.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans

_ADDING = frozenset({"add", "append", "extend", "update"})


def without_statistics(text: str, line: int) -> tuple[Rewritten, str]:
    """The text without the note that a line takes in an attribute while exporting, and that.

    Raises:
        Unclear: the line does more, or what is noted is read somewhere in the file.
    """
    source = Source(text, line)
    statement = next(
        (
            node
            for node in ast.walk(source.function)
            if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign) and spans(node, line)
        ),
        None,
    )
    noted = _noted(statement) if statement is not None else None
    if statement is None or noted is None:
        raise Unclear("the line does not only note something")
    uses = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr == noted.attr
        if node not in ast.walk(statement)
    ]
    if not all(isinstance(each.ctx, ast.Store) for each in uses):
        raise Unclear(f"`{source.of(noted)}` is read in another line, too")
    if any(map(_changes, ast.walk(statement))):
        raise Unclear("the line may change something else")
    indent, start = source.indent(statement), source.start(statement)
    guard = f"if not {source.torch}.compiler.is_exporting():\n{indent}    "
    return source.changed([Piece(start, start, guard)]), source.of(noted)


def _changes(node: ast.AST) -> bool:
    """Whether a part of a line may do more than compute: it binds a name, or asks the model."""
    if isinstance(node, ast.NamedExpr | ast.Await):
        return True
    called = node.func if isinstance(node, ast.Call) else None
    if not isinstance(called, ast.Attribute):
        return False
    owner = called.value
    return called.attr.endswith("_") or (isinstance(owner, ast.Name) and owner.id == "self")


def _noted(statement: ast.stmt) -> ast.Attribute | None:
    """The attribute in which a statement notes something; None for another statement."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(into, name))) if name in _ADDING:
            pass
        case ast.Assign([ast.Subscript() as into]) | ast.AugAssign(ast.Subscript() as into):
            pass
        case _:
            return None
    while isinstance(into, ast.Subscript):
        into = into.value
    if not isinstance(into, ast.Attribute) or not isinstance(into.value, ast.Name):
        return None
    return into if into.value.id == "self" else None
