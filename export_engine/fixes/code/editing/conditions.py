"""The test of a branch as a tensor, with Python's `bool`, `not`, `and` and `or` translated."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.text_edits import CannotRewrite, Source


def predicate(source: Source, test: ast.expr) -> str:
    """The text of a test as a predicate of torch.cond.

    Args:
        source: the text that the test is in.
        test: a test, whole or a part of one.

    Raises:
        CannotRewrite: a part of it is plain Python without a tensor equivalent.
    """
    match test:
        case ast.Call(func=ast.Name("bool"), args=[value], keywords=[]):
            return predicate(source, value)
        case ast.Call(func=ast.Attribute(ast.Name("torch"), "allclose")):  # it reads its answer
            return f"torch.isclose{source.text[source.end(test.func) : source.end(test)]}.all()"
        case ast.UnaryOp(op=ast.Not(), operand=value):
            if _is_count(value):
                return f"{source.of(value)} == 0"
            return f"{source.torch}.logical_not({predicate(source, value)})"
        case ast.BoolOp(op=op, values=values):
            name = "logical_and" if isinstance(op, ast.And) else "logical_or"
            return _join(source, name, [predicate(source, value) for value in values])
        case ast.Compare():
            return _comparison(source, test)
        case ast.NamedExpr():
            raise CannotRewrite("the test binds a name")
    remainder = isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod)
    if remainder or _is_count(test):
        return f"{source.of(test)} != 0"
    return _without_item(source, test)


def _is_count(value: ast.expr) -> bool:
    """Whether it is a number of elements, or of rows, which holds where it is not 0."""
    match value:
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Call(func=ast.Attribute(attr="numel"), args=[], keywords=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="size") | ast.Name("len"), args=[_], keywords=[]):
            return True
    return False


def _comparison(source: Source, test: ast.Compare) -> str:
    """A comparison, without `.item()`; each of a chain, joined. Operands are computed twice."""
    sides = [test.left, *test.comparators]
    if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in test.ops):
        raise CannotRewrite(f"`{source.of(test)}` asks Python, not the tensor")
    bound = ast.NamedExpr | ast.Await
    if len(test.ops) > 1 and any(isinstance(n, bound) for side in sides for n in ast.walk(side)):
        raise CannotRewrite("the test binds a name")
    texts = [_without_item(source, side) for side in sides]
    signs = [_SIGNS[type(op)] for op in test.ops]
    pairs = zip(texts, signs, texts[1:], strict=False)
    return _join(source, "logical_and", [" ".join(pair) for pair in pairs])


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_LOOSER = (ast.Compare, ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)
"""What needs parentheses beside a sign of a comparison."""


def _without_item(source: Source, value: ast.expr) -> str:
    """The text of an operand, or of the tensor whose `.item()` it is."""
    match value:
        case ast.Call(func=ast.Attribute(value=tensor, attr="item"), args=[], keywords=[]):
            value = tensor
    looser = isinstance(value, _LOOSER) or isinstance(getattr(value, "op", None), ast.Not)
    return f"({source.of(value)})" if looser else source.of(value)


def _join(source: Source, function: str, texts: list[str]) -> str:
    """`logical_and(logical_and(a, b), c)`."""
    first, *others = texts
    for text in others:
        first = f"{source.torch}.{function}({first}, {text})"
    return first
