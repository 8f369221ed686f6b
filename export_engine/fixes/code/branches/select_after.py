"""An `if` that computes several values, run always: torch.where then keeps those before it, or not.

For what torch.cond does not take, as numbers from data that a branch reads.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.assignments import out_of_place
from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear, predicate_text
from export_engine.fixes.code.editing.liveness import read_later, stored
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, branch_at

_EFFECTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.JoinedStr)


def kept_where(text: str, line: int) -> Rewritten:
    """The text with the block of an `if` at a line always run, and what it binds selected.

    Raises:
        Unclear: there is none, it has an `else`, or its block does more than bind names.
    """
    source = Source(text, line)
    branch = branch_at(source, line)
    if branch.orelse or source.text.startswith("elif", source.start(branch)):
        raise Unclear("the branch has an `else`")
    if branch.body[0].lineno == branch.lineno:
        raise Unclear("the branch is on one line")
    for each in branch.body:
        _refuse(each)
    later = read_later(source.function, branch)
    names = [each for each in dict.fromkeys(_bound(branch)) if each in later]
    unknown = [each for each in names if each not in source.bound_before(branch)]
    if unknown or not names:
        raise Unclear(f"`{unknown[0]}` has no value before" if unknown else "it binds nothing")
    at, taken = source.indent(branch), source.names
    test = free_name("_test", taken)
    befores = {each: free_name(f"_{each.strip('_')}_before", taken) for each in names}
    head = [
        f"{test} = {predicate_text(source.of(branch.test))}",
        *(f"{before} = {name}" for name, before in befores.items()),
    ]
    tail = [
        f"{name} = {source.torch}.where({test}, {name}, {before})"
        for name, before in befores.items()
    ]
    moved = Source(source.changed(_out_of_place(source, branch)).text, line)
    body = moved.block_at(at, branch_at(moved, line).body)
    made = f"\n{at}".join(head) + "\n" + "\n".join(body) + f"\n{at}" + f"\n{at}".join(tail)
    return source.changed([Piece(source.start(branch), source.line_end(branch.body[-1]), made)])


def _out_of_place(source: Source, branch: ast.If) -> list[Piece]:
    return [piece for each in branch.body for piece in out_of_place(source, each)]


def _bound(branch: ast.If) -> list[str]:
    return [name for each in branch.body for name in stored(each, [])]


def _refuse(statement: ast.stmt) -> None:
    """Raises Unclear for a statement that does more than bind names to what it computes."""
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        raise Unclear("the branch does more than bind names")
    for node in ast.walk(statement):
        called = node.func if isinstance(node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else ""
        in_place = name.endswith("_") and not name.endswith("__")
        writes = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
        if in_place or writes or isinstance(node, _EFFECTS) or name in ("append", "pop"):
            raise Unclear(f"the branch runs `{ast.unparse(node)}` for its effect")
