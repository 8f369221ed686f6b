"""A flag that a line makes of tensors, by `bool(x)`, `not x` or `x or y`, as a tensor."""

from __future__ import annotations

import libcst as cst

from export_engine.fixes.code.editing.conditions import predicate
from export_engine.fixes.code.editing.rewrite import Rewriter, Rewritten, rewritten


def without_bool(text: str, line: int) -> Rewritten:
    """The text without the question to Python at a line, so that a flag stays a tensor.

    Raises:
        Unclear: there is none at that line, or a part of it is plain Python.
    """
    return rewritten(text, _Flag(line))


class _Flag(Rewriter):
    """`bool(x)`; and `not x`, `x and y` and `x or y` where a name is bound to it."""

    def leave_Assign(
        self, original_node: cst.Assign, updated_node: cst.Assign
    ) -> cst.BaseSmallStatement:
        value = updated_node.value
        asks = isinstance(value, cst.BooleanOperation) or (
            isinstance(value, cst.UnaryOperation) and isinstance(value.operator, cst.Not)
        )
        if self.done or not self.path or not asks or not self.spans(original_node):
            return updated_node
        self.finish()
        return updated_node.with_changes(value=predicate(value))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if self.done or not self.path or not self.spans(original_node):
            return updated_node
        function = updated_node.func
        if isinstance(function, cst.Name) and function.value == "bool" and updated_node.args:
            self.finish()
            return updated_node.args[0].value.with_changes(
                lpar=[cst.LeftParen()], rpar=[cst.RightParen()]
            )
        return updated_node
