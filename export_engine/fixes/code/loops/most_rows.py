"""A cut to the best rows where there are too many: `if len(s) > k: s, i = s.topk(k)`.

How many rows are left differs between the ways, as no branch of torch.cond may. Both have at most k
rows: the indices of the best ones, or those of all, are selected by torch.where.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, branch_at

_LENGTHS = ("len({})", "{}.shape[0]", "{}.size(0)", "{}.numel()")


class _Best(NamedTuple):
    """The statement that finds the best rows."""

    values: str
    """The name that their values get; empty for none."""
    rows: str
    """The name that their indices get."""
    found: str
    """The expression of their indices, of at most as many rows as there are."""


def cut_to_the_best(text: str, line: int) -> Rewritten:
    """The text with the cut at a line always done, by indices that are selected.

    Raises:
        Unclear: there is none at that line, or the branch does more.
    """
    source = Source(text, line)
    branch = branch_at(source, line)
    test = branch.test
    if branch.orelse or source.text.startswith("elif", source.start(branch)):
        raise Unclear("the branch goes on in another way")
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Gt):
        raise Unclear("the branch does not ask for too many rows")
    count, most = ast.unparse(test.left), source.of(test.comparators[0])
    names = [n.id for n in ast.walk(test.left) if isinstance(n, ast.Name) and n.id != "len"]
    tensor = names[0] if names else ""
    if len(test.ops) > 1 or count not in [each.format(tensor) for each in _LENGTHS]:
        raise Unclear("the branch does not ask for too many rows")
    if not isinstance(test.comparators[0], ast.Name | ast.Attribute | ast.Constant):
        raise Unclear("how many rows there may be is computed")
    best = _best(source, branch.body[0], tensor, most)
    cut = [_indexed(source, each, best.rows) for each in branch.body[1:]]
    if best.values == tensor:
        cut.insert(0, tensor)
    elif best.values:
        raise Unclear("the branch binds more than the rows")
    if not cut or len(set(cut)) < len(cut) or best.rows in cut:
        raise Unclear("the branch does more than to cut rows")
    later = {
        n.id
        for each in source.following(branch)
        for n in ast.walk(each)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    if best.rows in later:
        raise Unclear(f"`{best.rows}` is used behind the branch")
    rows = free_name("_rows", source.names)
    torch, indent = source.torch, source.indent(branch)
    many = f"{torch}.scalar_tensor({rows} > {most}, dtype={torch}.bool, device={tensor}.device)"
    every = f"{torch}.arange({best.rows}.shape[0], device={tensor}.device)"
    lines = [
        f"{rows} = {tensor}.shape[0]",
        f"{best.rows} = {best.found.format(most=f'{torch}.sym_min({rows}, {most})')}",
        f"{best.rows} = {torch}.where({many}, {best.rows}, {every})",
        *(f"{name} = {name}[{best.rows}]" for name in cut),
    ]
    made = Piece(source.start(branch), source.end(branch), f"\n{indent}".join(lines))
    return source.changed([made])


def _best(source: Source, statement: ast.stmt, tensor: str, most: str) -> _Best:
    """`s, i = s.topk(k)`, `i = s.topk(k)[1]`, `i = s.argsort(descending=True)[:k]`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        raise Unclear("the branch does more than to cut rows")
    target, value = statement.targets[0], statement.value
    torch = source.torch
    top = (f"{tensor}.topk({most})", f"{torch}.topk({tensor}, {most})")
    sorts = (
        f"{tensor}.argsort(descending=True)[:{most}]",
        f"{torch}.argsort({tensor}, descending=True)[:{most}]",
    )
    text = ast.unparse(value)
    if isinstance(target, ast.Tuple) and len(target.elts) == 2 and text in top:
        names = [each.id for each in target.elts if isinstance(each, ast.Name)]
        if len(names) == 2:
            values = "" if names[0] == "_" else names[0]
            return _Best(values, names[1], f"{tensor}.topk({{most}})[1]")
    if isinstance(target, ast.Name):
        if text in [f"{each}{end}" for each in top for end in ("[1]", ".indices")]:
            return _Best("", target.id, f"{tensor}.topk({{most}})[1]")
        if text in sorts:
            return _Best("", target.id, text)
    raise Unclear("the branch does not begin with the best rows")


def _indexed(source: Source, statement: ast.stmt, index: str) -> str:
    """The name of `x = x[i]`."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    name = target.id if isinstance(target, ast.Name) else ""
    if name and ast.unparse(statement) == f"{name} = {name}[{index}]":
        return name
    raise Unclear("the branch does more than to cut rows")
