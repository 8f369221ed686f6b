"""The `if`, or the conditional expression, at a line as torch.cond: where it is in its function."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

import libcst as cst
from libcst.metadata import PositionProvider

from export_engine.fixes.code.branches.if_to_cond import Surroundings, as_cond, conditional_as_cond
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.liveness import read_again
from export_engine.fixes.code.editing.rewrite import Rewriter, Rewritten, rewritten
from export_engine.fixes.code.editing.variables import bound, heads, read, tree_of
from export_engine.fixes.code.editing.views import parts_of_tensors, roots_of_views

Replaced = list[cst.BaseStatement]


def branch_to_cond(text: str, line: int, *, apart: bool = False) -> Rewritten:
    """The text with the `if`, or the conditional expression, at a line written with torch.cond.

    Args:
        text: of the file.
        line: of the test.
        apart: whether torch.cond is given clones of names that share memory, which it refuses.

    Raises:
        Unclear: there is none at that line, it cannot be rewritten soundly, or with `apart`, no
            two names that it reads share memory.
    """
    return rewritten(text, _Branch(line, apart=apart))


class _Branch(Rewriter):
    """`if` and `a if b else c`."""

    roots: Mapping[str, str] = MappingProxyType({})
    """Of names that may be views of another tensor: which."""
    parts: Mapping[str, str] | None = None
    """Those, and of several views of one tensor what makes them, where clones are given."""

    def __init__(self, line: int, *, apart: bool = False) -> None:
        super().__init__(line)
        self.apart = apart

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if not self.done and self.spans(original_node):
            block = original_node.body
            if isinstance(block, cst.IndentedBlock):
                known = _parameters(original_node)
                tree = tree_of([original_node.with_changes(decorators=[])])
                self.roots = roots_of_views(tree)
                self.parts = {**self.roots, **parts_of_tensors(tree)} if self.apart else None
                body = self._in_block(list(block.body), known, frozenset(), ends_function=True)
                if body is not None:
                    self.finish()
                    updated_node = original_node.with_changes(body=block.with_changes(body=body))
        return super().leave_FunctionDef(original_node, updated_node)

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        if self.apart or self.done or not self.spans(original_node) or not self.path:
            return updated_node
        self.finish()
        return conditional_as_cond(original_node)

    def _in_block(
        self, body: Replaced, known: frozenset[str], later: frozenset[str], ends_function: bool
    ) -> Replaced | None:
        """A block with the branch in it rewritten; None where it is not in it."""
        for number, statement in enumerate(body):
            before = known | set(bound(tree_of(body[:number])))
            rest = body[number + 1 :]
            used = later | read(tree_of(rest))
            if isinstance(statement, cst.If) and self._is_it(statement):
                around = Surroundings(
                    before, tuple(rest), used, ends_function, roots=self.roots, parts=self.parts
                )
                made, takes_rest = as_cond(statement, around)
                return [*body[:number], *made, *([] if takes_rest else rest)]
            if self.spans(statement):
                inner = self._inside(statement, before, used)
                return None if inner is None else [*body[:number], inner, *rest]
        return None

    def _inside(
        self, statement: cst.BaseStatement, known: frozenset[str], used: frozenset[str]
    ) -> cst.BaseStatement | None:
        """A statement with the branch somewhere in its blocks rewritten."""
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            return None  # a separate function
        if isinstance(statement, cst.For | cst.While):
            (loop,) = tree_of([statement]).body
            assert isinstance(loop, ast.For | ast.While)
            used = used | read_again(loop)  # by the next iteration
        known = known | heads(tree_of([statement]))
        for part in ("body", "orelse"):
            suite = getattr(statement, part, None)
            if isinstance(suite, cst.If):
                changed = self._in_block([suite], known, used, ends_function=False)
                if changed is not None:
                    raise Unclear(
                        "an `elif` that depends on data: rewrite the `if` before it first"
                    )
                continue
            block = suite.body if isinstance(suite, cst.Else) else suite
            if isinstance(block, cst.IndentedBlock):
                body = self._in_block(list(block.body), known, used, ends_function=False)
                if body is not None:
                    inner: cst.CSTNode = block.with_changes(body=body)
                    if isinstance(suite, cst.Else):
                        inner = suite.with_changes(body=inner)
                    return statement.with_changes(**{part: inner})
        return None

    def _is_it(self, statement: cst.If) -> bool:
        test = self.get_metadata(PositionProvider, statement.test)
        return bool(test.start.line <= self.line <= test.end.line)


def _parameters(function: cst.FunctionDef) -> frozenset[str]:
    tree = ast.parse(cst.Module(body=[function.with_changes(decorators=[])]).code.strip())
    return frozenset(each.arg for each in ast.walk(tree) if isinstance(each, ast.arg))
