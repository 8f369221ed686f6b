"""`x.data` at a line as `x.detach()`: a write that tracing sees."""

from __future__ import annotations

import libcst as cst

from export_engine.fixes.code.editing.rewrite import Rewriter, Rewritten, rewrite_text


def write_in_the_open(text: str, line: int) -> Rewritten:
    """The text with `.data` at a line as `.detach()`, a write that tracing sees.

    Raises:
        CannotRewrite: there is no `.data` at that line.
    """
    return rewrite_text(text, _Data(line))


class _Data(Rewriter):
    """`x.data`."""

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        is_data = updated_node.attr.value == "data"
        if self.done or not self.path or not is_data or not self.spans(original_node):
            return updated_node
        self.finish()
        return cst.Call(updated_node.with_changes(attr=cst.Name("detach")))
