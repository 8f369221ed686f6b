"""`sorted(range(n), key=lambda i: length[i])` as a stable torch.argsort, which needs no number.

Python's sort is stable, also in reverse, and so is torch's.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans


def sorted_by_torch(text: str, line: int) -> Rewritten:
    """The text with the indices that a line sorts by the numbers of a tensor sorted by torch.

    Raises:
        Unclear: none are sorted there, or not by the element of a tensor.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        called = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "sorted"
        if isinstance(node, ast.Call) and called and spans(node, line):
            made = _argsort(source, node)
            return source.changed([Piece(source.start(node), source.end(node), made)])
    raise Unclear("nothing is sorted there")


def _argsort(source: Source, node: ast.Call) -> str:
    given = {each.arg: each.value for each in node.keywords}
    counted = node.args[0] if len(node.args) == 1 else None
    is_range = isinstance(counted, ast.Call) and getattr(counted.func, "id", "") == "range"
    if not is_range or not isinstance(counted, ast.Call) or len(counted.args) != 1:
        raise Unclear("what is sorted is not a range from 0")
    reverse = given.get("reverse", ast.Constant(value=False))
    key = _tensor(source, given.get("key"))
    if not given.keys() <= {"key", "reverse"} or not isinstance(reverse, ast.Constant):
        raise Unclear("which way is sorted is not known")
    sign = ", descending=True" if reverse.value else ""
    return f"{source.torch}.argsort({key}[:{source.of(counted.args[0])}]{sign}, stable=True)"


def _tensor(source: Source, key: ast.expr | None) -> str:
    """The tensor of which a key reads an element; with a minus, what is below comes first."""
    if isinstance(key, ast.Attribute) and key.attr == "__getitem__":
        return source.of(key.value)
    if not isinstance(key, ast.Lambda) or len(key.args.args) != 1:
        raise Unclear("it is not sorted by the elements of a tensor")
    body, sign, whole = key.body, "", ""
    if isinstance(body, ast.UnaryOp) and isinstance(body.op, ast.USub):
        body, sign = body.operand, "-"
    if isinstance(body, ast.Call) and isinstance(body.func, ast.Name) and len(body.args) == 1:
        if body.func.id not in ("int", "float"):
            raise Unclear("it is not sorted by the elements of a tensor")
        whole = ".long()" if body.func.id == "int" else ""
        body = body.args[0]
    if isinstance(body, ast.Call) and getattr(body.func, "attr", "") == "item":
        assert isinstance(body.func, ast.Attribute)
        body = body.func.value
    name = key.args.args[0].arg
    plain = isinstance(body, ast.Subscript) and isinstance(body.value, ast.Name | ast.Attribute)
    if not isinstance(body, ast.Subscript) or not plain or source.of(body.slice) != name:
        raise Unclear("it is not sorted by the elements of a tensor")
    tensor = f"{source.of(body.value)}{whole}"
    return f"({sign}{tensor})" if sign else tensor
