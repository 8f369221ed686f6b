"""A branch both of whose ways append to a list: they choose a value, which is then appended.

`if test: out.append(a)` / `else: out.append(b)` writes to a list, which a branch of torch.cond must
not. Both ways append one element, so the list is as long either way.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, branch_at


def append_apart(text: str, line: int) -> Rewritten:
    """The text where the branch at a line binds a name, which is appended behind it.

    Raises:
        Unclear: not every way ends with an append to the same list, or a way appends twice.
    """
    source = Source(text, line)
    return _apart(source, branch_at(source, line))


def _apart(source: Source, branch: ast.If) -> Rewritten:
    calls = [_appended(block) for block in _ways(branch)]
    lists = {source.of(call.func) for call in calls}
    if len(lists) != 1:
        raise Unclear("the ways append to different lists")
    name, indent = free_name("_chosen", source.names), source.indent(branch)
    pieces = []
    for call in calls:
        value = source.of(call.args[0])
        pieces.append(Piece(source.start(call), source.end(call), f"{name} = {value}"))
    end = source.line_end(branch)
    pieces.append(Piece(end, end, f"\n{indent}{lists.pop()}({name})"))
    return source.changed(pieces)


def _ways(branch: ast.If) -> list[list[ast.stmt]]:
    """The blocks of an `if` with its `elif`s; the last is that of `else`."""
    rest = branch.orelse
    if len(rest) == 1 and isinstance(rest[0], ast.If):
        return [branch.body, *_ways(rest[0])]
    return [branch.body, rest]


def _appended(block: list[ast.stmt]) -> ast.Call:
    """The append with which a block ends, the only one in it."""
    appends = [
        node
        for each in block
        for node in ast.walk(each)
        if isinstance(node, ast.Attribute) and node.attr == "append"
    ]
    last = block[-1] if block else None
    call = last.value if isinstance(last, ast.Expr) else None
    if len(appends) != 1 or not isinstance(call, ast.Call) or call.func is not appends[0]:
        raise Unclear("a way does not end with its only append")
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        raise Unclear("`append` takes one element")
    return call
