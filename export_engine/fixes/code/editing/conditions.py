"""The test of a branch as a tensor, with Python's `bool`, `not`, `and` and `or` translated."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from export_engine.fixes.code.editing.refusal import CannotRewrite


def predicate(test: cst.BaseExpression) -> cst.BaseExpression:
    """A test as a predicate of torch.cond.

    Raises:
        CannotRewrite: a part of it is plain Python without a tensor equivalent.
    """
    if m.matches(test, m.Call(func=m.Name("bool"), args=[m.Arg()])):
        return predicate(cst.ensure_type(test, cst.Call).args[0].value)
    if m.matches(test, m.Call(func=m.Attribute(attr=m.Name("item")), args=[])):
        return cst.ensure_type(cst.ensure_type(test, cst.Call).func, cst.Attribute).value
    if m.matches(test, _ALLCLOSE):  # which reads its answer
        close = cst.ensure_type(test, cst.Call).with_changes(func=cst.parse_expression(_ISCLOSE))
        return cst.Call(func=cst.Attribute(close.with_changes(lpar=[], rpar=[]), cst.Name("all")))
    if m.matches(test, _COUNT):
        return _compare_with_zero(test, cst.NotEqual())
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        if m.matches(test.expression, _COUNT):
            return _compare_with_zero(test.expression, cst.Equal())
        return _call("torch.logical_not", predicate(test.expression))
    if isinstance(test, cst.BooleanOperation):
        name = "torch.logical_and" if isinstance(test.operator, cst.And) else "torch.logical_or"
        return _call(name, predicate(test.left), predicate(test.right))
    if isinstance(test, cst.Comparison):
        return _comparison(test)
    if isinstance(test, cst.BinaryOperation) and isinstance(test.operator, cst.Modulo):
        return _compare_with_zero(test, cst.NotEqual())
    if isinstance(test, cst.NamedExpr):
        raise CannotRewrite("the test binds a name")
    return test.with_changes(lpar=[], rpar=[]) if _is_wrapped(test) else test


_ALLCLOSE = m.Call(func=m.Attribute(value=m.Name("torch"), attr=m.Name("allclose")))
_ISCLOSE = "torch.isclose"
_COUNT = (
    m.Call(func=m.Attribute(attr=m.Name("numel")), args=[])
    | m.Call(func=m.Attribute(attr=m.Name("size")), args=[m.Arg()])
    | m.Call(func=m.Name("len"), args=[m.Arg()])
    | m.Subscript(value=m.Attribute(attr=m.Name("shape")))
)
"""A number of elements, or of rows, which holds where it is not 0."""


def _compare_with_zero(value: cst.BaseExpression, how: cst.BaseCompOp) -> cst.Comparison:
    zero = cst.ComparisonTarget(how, cst.Integer("0"))
    return cst.Comparison(value.with_changes(lpar=[], rpar=[]), [zero])


def _comparison(test: cst.Comparison) -> cst.BaseExpression:
    plain = cst.Is | cst.IsNot | cst.In | cst.NotIn
    if any(isinstance(comparison.operator, plain) for comparison in test.comparisons):
        raise CannotRewrite(f"`{_text(test)}` asks Python, not the tensor")
    if len(test.comparisons) > 1:
        return _chain(test)
    return test.with_changes(
        left=_without_item(test.left),
        comparisons=[
            comparison.with_changes(comparator=_without_item(comparison.comparator))
            for comparison in test.comparisons
        ],
    )


def _chain(test: cst.Comparison) -> cst.BaseExpression:
    """`a < b < c` as both comparisons; what stands between is computed twice."""
    lefts = [test.left, *(comparison.comparator for comparison in test.comparisons)]
    single = [
        _comparison(cst.Comparison(left=left, comparisons=[comparison]))
        for left, comparison in zip(lefts, test.comparisons, strict=False)
    ]
    if any(m.findall(left, m.NamedExpr() | m.Await()) for left in lefts):
        raise CannotRewrite("the test binds a name")
    result = single.pop(0)
    for item in single:
        result = _call("torch.logical_and", result, item)
    return result


def _without_item(value: cst.BaseExpression) -> cst.BaseExpression:
    if m.matches(value, m.Call(func=m.Attribute(attr=m.Name("item")), args=[])):
        return cst.ensure_type(cst.ensure_type(value, cst.Call).func, cst.Attribute).value
    return value


def _is_wrapped(test: cst.BaseExpression) -> bool:
    return bool(test.lpar) and isinstance(test, cst.Call | cst.Attribute | cst.Name)


def _call(function: str, *values: cst.BaseExpression) -> cst.Call:
    args = [cst.Arg(value.with_changes(lpar=[], rpar=[])) for value in values]
    return cst.Call(func=cst.parse_expression(function), args=args)


def _text(node: cst.CSTNode) -> str:
    return cst.Module(body=[]).code_for_node(node)
