"""Writes in the branches of a data-dependent `if`, moved behind it.

`self.seen = x` and `y[mask] = 0` become values that the branches compute. What was assigned is
assigned after the `if`; what was mutated is copied back, so views and callers see it as before.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

import libcst as cst

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.variables import tree_of


class Moved(NamedTuple):
    """A branch that writes nothing, and what stands around it."""

    branch: cst.If
    names: tuple[str, ...]
    """Local names that hold what is written."""
    before: list[cst.BaseStatement]
    after: list[cst.BaseStatement]
    written: tuple[str, ...]
    """What is mutated, as it was written."""


def without_writes(branch: cst.If, known: frozenset[str]) -> Moved:
    """A branch with its writes to attributes and to tensors as local values.

    Args:
        branch: with its `else`.
        known: names that are bound before it.
    """
    tree = tree_of([branch])
    assigned = _assigned(tree)
    mutated = [each for each in _mutated(tree, known) if each not in assigned]
    if any(each in _mutated(tree, known) for each in assigned):
        raise Unclear("an attribute is assigned and mutated in the branches")
    taken = known | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    locals_ = {text: _local(text, taken) for text in [*assigned, *mutated]}
    changed = branch.visit(_Renamed(locals_))
    assert isinstance(changed, cst.If)
    copies = [_line(f"{locals_[text]} = {locals_[text]}.clone()") for text in mutated]
    changed = _begun(changed, copies) if copies else changed
    new = {each for each in assigned if _always_new(tree, each)}
    before = [_line(f"{name} = {text}") for text, name in locals_.items() if text not in new]
    after = [_line(f"{text} = {locals_[text]}") for text in assigned]
    after += [_line(f"{text}.copy_({locals_[text]})") for text in mutated]
    return Moved(changed, tuple(locals_.values()), before, after, tuple(mutated))


def _always_new(tree: ast.Module, text: str) -> bool:
    """Whether both branches assign an attribute and none reads it: it may not exist before."""
    branch = tree.body[0]
    if not isinstance(branch, ast.If) or not branch.orelse:
        return False
    uses = [
        node
        for node in ast.walk(branch)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == text
    ]
    both = all(
        any(
            isinstance(each, ast.Assign) and text in map(ast.unparse, each.targets)
            for each in block
        )
        for block in (branch.body, branch.orelse)
    )
    return both and all(isinstance(node.ctx, ast.Store) for node in uses)


def _assigned(tree: ast.AST) -> list[str]:
    """Attributes of `self` that are assigned."""
    return list(
        dict.fromkeys(
            ast.unparse(node)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and not _augmented(tree, node)
        )
    )


def _augmented(tree: ast.AST, target: ast.AST) -> bool:
    return any(isinstance(each, ast.AugAssign) and each.target is target for each in ast.walk(tree))


def _mutated(tree: ast.AST, known: frozenset[str]) -> list[str]:
    """Names and attributes whose tensors are written in place: `y[0] = 1`, `self.n.add_(1)`."""
    found: list[str] = []
    for node in ast.walk(tree):
        written: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            written = node.value
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            written = node.target
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Attribute) and _in_place(called.attr):
                written = called.value
        while isinstance(written, ast.Subscript):
            written = written.value
        root = written.value if isinstance(written, ast.Attribute) else written
        if written is not None and isinstance(root, ast.Name) and root.id in known:
            found.append(ast.unparse(written))
    return list(dict.fromkeys(found))


def _in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _local(text: str, taken: frozenset[str] | set[str]) -> str:
    """A free local name for what is written."""
    name = "_" + text.rpartition(".")[2].strip("_")
    while name in taken:
        name += "_"
    return name


class _Renamed(cst.CSTTransformer):
    """The local names instead of what they stand for."""

    def __init__(self, locals_: dict[str, str]) -> None:
        super().__init__()
        self.locals = locals_

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        text = cst.Module(body=[]).code_for_node(original_node)
        if text in self.locals:
            return cst.Name(self.locals[text])
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        name = original_node.value
        return updated_node.with_changes(value=self.locals.get(name, name))


def _begun(branch: cst.If, copies: list[cst.BaseStatement]) -> cst.If:
    """A branch whose blocks begin with copies of what they mutate."""
    orelse = branch.orelse
    if isinstance(orelse, cst.If):
        inner: cst.BaseSuite = cst.IndentedBlock([orelse])
        orelse = cst.Else(inner)
    if orelse is not None:
        orelse = orelse.with_changes(body=_block(orelse.body, copies))
    else:
        orelse = cst.Else(cst.IndentedBlock(copies))
    return branch.with_changes(body=_block(branch.body, copies), orelse=orelse)


def _block(suite: cst.BaseSuite, copies: list[cst.BaseStatement]) -> cst.BaseSuite:
    if isinstance(suite, cst.IndentedBlock):
        return suite.with_changes(body=[*copies, *suite.body])
    assert isinstance(suite, cst.SimpleStatementSuite)
    return cst.IndentedBlock([*copies, cst.SimpleStatementLine(list(suite.body))])


def _line(text: str) -> cst.BaseStatement:
    made = cst.parse_statement(text)
    assert isinstance(made, cst.SimpleStatementLine)
    return made
