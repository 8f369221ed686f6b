"""Uses of a list that a loop collects, behind the loop: of its elements stacked to a tensor."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from export_engine.fixes.code.editing.text_edits import Source

Lists = Mapping[str, str]
"""Names of lists, and of the tensors whose first dim has their elements."""
_OVER = ("zip", "enumerate")


def used(source: Source, node: ast.AST, lists: Lists) -> str | None:
    """What a use of a list becomes; None for other nodes, and for uses that no tensor has."""
    for change in (_joined, _element, _changed):
        made = change(source, node, lists)
        if made is not None:
            return made
    return None


def iterated_lists(source: Source, node: ast.AST, lists: Lists) -> list[tuple[ast.expr, str]]:
    """The lists that a loop or a comprehension goes through, each with its tensor."""
    if not isinstance(node, ast.For | ast.comprehension):
        return []
    over = [node.iter]
    if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") in _OVER:
        over = node.iter.args
    found = [(each, _listed(source, each, lists)) for each in over]
    return [(each, tensor) for each, tensor in found if tensor is not None]


def number(node: ast.expr | None) -> int | None:
    """A number that stands there; 0 where nothing does."""
    if node is None:
        return 0
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def _joined(source: Source, node: ast.AST, lists: Lists) -> str | None:
    """`torch.stack(outs, dim=1)`, `torch.cat(outs)`, `len(outs)`."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    given, *rest = node.args
    tensor = _listed(source, given, lists)
    if tensor is None:
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "len":
        return f"{tensor}.shape[0]"
    if not isinstance(node.func, ast.Attribute) or source.of(node.func.value) != source.torch:
        return None
    keywords = {each.arg: each.value for each in node.keywords}
    if len(rest) > 1 or not keywords.keys() <= {"dim", "axis"}:
        return None
    dim = number(rest[0] if rest else keywords.get("dim", keywords.get("axis")))
    if dim is None:
        return None
    if node.func.attr == "stack":
        return tensor if dim == 0 else f"{tensor}.movedim(0, {dim})"
    if node.func.attr not in ("cat", "concat", "concatenate"):
        return None
    if dim < 0:
        return f"{tensor}.movedim(0, {dim - 1}).flatten({dim - 1}, {dim})"
    moved = tensor if dim == 0 else f"{tensor}.movedim(0, {dim})"
    return f"{moved}.flatten({dim}, {dim + 1})"


def _listed(source: Source, node: ast.expr, lists: Lists) -> str | None:
    """The tensor of a list in its order: also of `outs[::-1]`, `outs[1:]`, `reversed(outs)`."""
    match node:
        case ast.Name(id=name):
            return lists.get(name)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice() as part) if name in lists:
            if ast.unparse(part) == "::-1":
                return f"{lists[name]}.flip(0)"
            forward = part.step is None or (number(part.step) or 0) > 0
            return f"{lists[name]}[{source.of(part)}]" if forward else None
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner], keywords=[]):
            return _listed(source, inner, lists)
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
            tensor = _listed(source, inner, lists)
            return f"{tensor}.flip(0)" if tensor is not None else None
    return None


def _element(source: Source, node: ast.AST, lists: Lists) -> str | None:
    """`outs[-1]`: a list takes nothing but a number, and a slice is a list again."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=index, ctx=ast.Load()):
            if name in lists and not isinstance(index, ast.Slice):
                return f"{lists[name]}[{source.of(index)}]"
    return None


def _changed(source: Source, node: ast.AST, lists: Lists) -> str | None:
    """`outs.reverse()`, `outs.append(x)` and `outs.insert(0, x)`, outside of loops."""
    call = node.value if isinstance(node, ast.Expr) else None
    owner = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(owner, ast.Attribute) or call.keywords:
        return None
    name = owner.value.id if isinstance(owner.value, ast.Name) else ""
    tensor, torch = lists.get(name), source.torch
    if tensor is None or _is_repeated(source, node):
        return None
    match owner.attr, call.args:
        case "reverse", []:
            return f"{tensor} = {tensor}.flip(0)"
        case "append", [value]:
            return f"{tensor} = {torch}.cat([{tensor}, {torch}.stack([{source.of(value)}])])"
        case "insert", [ast.Constant(value=0), value]:
            return f"{tensor} = {torch}.cat([{torch}.stack([{source.of(value)}]), {tensor}])"
    return None


def _is_repeated(source: Source, node: ast.AST) -> bool:
    """Whether a statement is in a loop, or may be left out."""
    return not any(each is node for each in source.function.body)
