"""`bool(x)` at a line without the `bool`, so that a flag stays a tensor."""

from __future__ import annotations

import libcst as cst

from export_engine.fixes.code.editing.rewrite import Rewriter, Rewritten, rewritten


def without_bool(text: str, line: int) -> Rewritten:
    """The text without `bool(...)` and `.item()` at a line, so that a flag stays a tensor.

    Raises:
        Unclear: there is neither at that line.
    """
    return rewritten(text, _Flag(line))


class _Flag(Rewriter):
    """`bool(x)` and `x.item()`."""

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
