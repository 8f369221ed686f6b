"""What a loop makes longer in each iteration: `ids = torch.cat([ids, next], 1)`, `outs.append(x)`.

Where the loop is run to its end instead of left, what was added after that is cut off behind it.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.liveness import read_again
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.collected_lists import number
from export_engine.fixes.code.loops.loop_state import assigned_before


class Grown(NamedTuple):
    """A name whose tensor, or list, a statement makes longer."""

    name: str
    statement: ast.stmt
    size: str
    """Its length, as an expression."""
    dim: int | None
    """That grows; None of a list."""
    kept: str
    """The name of the length that counts, a tensor."""

    def begun(self, torch: str, device: str) -> str:
        """A line before the loop: the length so far."""
        return f"{self.kept} = {torch}.scalar_tensor({self.size}, dtype={torch}.int64{device})"

    def counted(self, torch: str, done: str) -> str:
        """A line behind the statement: what is added counts until the loop is done."""
        now = f"{torch}.full_like({self.kept}, {self.size})"
        return f"{self.kept} = {torch}.where({done}, {self.kept}, {now})"


def grown_in(source: Source, loop: ast.For | ast.While, body: list[ast.stmt]) -> list[Grown]:
    """The names that statements of a loop's body make longer, each by one of them.

    Raises:
        Unclear: one of them is changed in another way as well.
    """
    found: list[Grown] = []
    taken = source.names
    for each in body:
        name, dim = _by_cat(source, each) or _by_append(each) or ("", None)
        if not name or name in lists_within(loop):
            continue
        kept = free_name(f"_{name.strip('_')}_length", taken)
        taken.add(kept)
        size = f"len({name})" if dim is None else f"{name}.shape[{dim}]"
        found.append(Grown(name, each, size, dim, kept))
    for grown in found:
        stored = [
            node
            for each in loop.body
            for node in ast.walk(each)
            if isinstance(node, ast.Name) and node.id == grown.name
            if isinstance(node.ctx, ast.Store) or grown.dim is None
        ]
        if len(stored) > 1:
            raise Unclear(f"`{grown.name}` is changed, or read, in several places of the loop")
        start = assigned_before(source, loop, grown.name)
        if grown.dim is None and not (isinstance(start, ast.List) and not start.elts):
            raise Unclear(f"`{grown.name}` does not start as an empty list")
    return found


def lists_within(loop: ast.For | ast.While) -> set[str]:
    """Names of lists that start empty in each iteration, and are not read by the next one."""
    begun = {
        each.targets[0].id
        for each in loop.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        if isinstance(each.value, ast.List) and len(each.targets) == 1
    }
    return begun - read_again(loop)


def cut_behind(
    source: Source, loop: ast.For | ast.While, grown: Grown
) -> tuple[list[str], list[Piece]]:
    """The lines behind the loop that cut off what does not count, and changes of later code.

    Raises:
        Unclear: a list is used in another way than to be stacked.
    """
    count, torch = free_name(f"{grown.kept}_", source.names), source.torch
    lines = [f"{count} = {grown.kept}.item()"]
    if grown.dim is not None:
        lines += [
            f"{torch}._check({count} <= {grown.size})",
            f"{grown.name} = {grown.name}.narrow({grown.dim}, 0, {count})",
        ]
        return lines, []
    end = loop.end_lineno or 0
    uses = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == grown.name and node.lineno > end
    ]
    pieces = list[Piece]()
    for call in ast.walk(source.function):
        if isinstance(call, ast.Call) and len(call.args) in (1, 2) and call.args[0] in uses:
            given = [each for each in call.keywords if each.arg in ("dim", "axis")]
            dim = number(given[0].value if given else call.args[1] if call.args[1:] else None)
            stacks = source.of(call.func) == f"{torch}.stack" and len(given) == len(call.keywords)
            if not stacks or dim is None:
                continue
            pieces.append(Piece(source.end(call), source.end(call), f".narrow({dim}, 0, {count})"))
    if len(pieces) != len(uses) or not uses:
        raise Unclear(f"the list `{grown.name}` is used in another way than to be stacked")
    lines += [f"{torch}._check({count} > 0)", f"{torch}._check({count} <= {grown.size})"]
    return lines, pieces


def _by_cat(source: Source, statement: ast.stmt) -> tuple[str, int | None] | None:
    """The name, and the dim, of `x = torch.cat([x, y], dim)`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return None
    name, call = statement.targets[0].id, statement.value
    if not isinstance(call, ast.Call) or len(statement.targets) > 1 or not call.args:
        return None
    parts, *rest = call.args
    if source.of(call.func) not in (f"{source.torch}.cat", f"{source.torch}.concat"):
        return None
    if not isinstance(parts, ast.List | ast.Tuple) or len(parts.elts) < 2:
        return None
    given = [each for each in call.keywords if each.arg in ("dim", "axis")]
    dim = number(given[0].value if given else rest[0] if rest else None)
    if dim is None or len(given) < len(call.keywords):
        return None
    first, *others = parts.elts
    again = any(isinstance(n, ast.Name) and n.id == name for each in others for n in ast.walk(each))
    starred = any(isinstance(each, ast.Starred) for each in parts.elts)
    if not isinstance(first, ast.Name) or first.id != name or again or starred:
        return None
    return name, dim


def _by_append(statement: ast.stmt) -> tuple[str, int | None] | None:
    """The name of `outs.append(x)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    owner = call.func.value
    one = call.func.attr == "append" and len(call.args) == 1 and not call.keywords
    return (owner.id, None) if one and isinstance(owner, ast.Name) else None
