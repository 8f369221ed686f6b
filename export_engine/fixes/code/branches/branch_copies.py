"""`.clone()` in a branch of torch.cond that returns or mutates its input."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Function,
    Piece,
    Rewritten,
    Source,
)


def clone_branch_results(text: str, line: int) -> Rewritten:
    """The text with what the branch at a line returns, and what it mutates, cloned.

    Args:
        text: of the file.
        line: in the branch, or of its `return`.

    Raises:
        CannotRewrite: the line is in no branch that is a function of its own.
    """
    source = Source(text, line)
    branch = source.function
    for node in ast.walk(branch):
        if isinstance(node, ast.Lambda) and node.lineno <= line <= (node.end_lineno or 0):
            return source.replace(_clone_returned(source, node.body))
    if not isinstance(branch, ast.FunctionDef) or not branch.body:
        raise CannotRewrite("the branch is not a function")
    pieces = []
    parameters = [argument.arg for argument in branch.args.args if argument.arg != "self"]
    mutated = [name for name in parameters if name in _find_mutated(branch)]
    first = branch.body[0]
    at = source.start(first)
    before = text[source.line_start(first) : at]
    follows = "; " if before.strip() else f"\n{before}"  # the body may be on the line of the `def`
    pieces += [Piece(at, at, f"{name} = {name}.clone(){follows}") for name in mutated]
    for node in ast.walk(branch):
        if isinstance(node, ast.Return) and node.value is not None and not mutated:
            pieces += _clone_returned(source, node.value)
    if not pieces:
        raise CannotRewrite("the branch returns none of its inputs")
    return source.replace(pieces)


def clone_new_operands(text: str, line: int) -> Rewritten:
    """As `clone_branch_results`, where no caller can see what the branch writes to.

    Args:
        text: of the file.
        line: in the branch.

    Raises:
        CannotRewrite: an operand that the branch mutates may be a tensor that is used elsewhere.
    """
    branch = Source(text, line).function
    if not isinstance(branch, ast.FunctionDef):
        raise CannotRewrite("the branch is not a function")
    names = [argument.arg for argument in branch.args.args]
    calls = _find_calls(text, branch)
    for at, name in enumerate(names):
        if name in _find_mutated(branch) and not all(_is_new(call, at) for call in calls):
            raise CannotRewrite(f"`{name}` may be used outside of the branch")
    if not calls:
        raise CannotRewrite("the call of the branch is not in the file")
    return clone_branch_results(text, line)


def _find_calls(text: str, branch: ast.FunctionDef) -> list[ast.Call]:
    """The calls that name a branch, in the block of code that defines it."""
    owners = [
        owner
        for owner in ast.walk(ast.parse(text))
        for node in ast.iter_child_nodes(owner)
        if isinstance(node, ast.FunctionDef)
        and (node.name, node.lineno) == (branch.name, branch.lineno)
    ]
    return [
        node
        for owner in owners
        for node in ast.walk(owner)
        if isinstance(node, ast.Call)
        and any(isinstance(e, ast.Name) and e.id == branch.name for e in (*node.args, node.func))
    ]


def _is_new(call: ast.Call, at: int) -> bool:
    """Whether an operand of a `torch.cond` is a tensor that this expression makes."""
    operands = call.args[-1] if call.args else None
    if not isinstance(operands, ast.Tuple | ast.List) or at >= len(operands.elts):
        return False
    operand = operands.elts[at]
    if isinstance(operand, ast.Call):
        return isinstance(operand.func, ast.Attribute) and operand.func.attr == "clone"
    return isinstance(operand, ast.BinOp)


def _clone_returned(source: Source, value: ast.expr) -> list[Piece]:
    if isinstance(value, ast.Tuple | ast.List):
        return [piece for expression in value.elts for piece in _clone_returned(source, expression)]
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return [Piece(source.end(value), source.end(value), ".clone()")]
    return []


def _find_mutated(branch: Function) -> set[str]:
    """Names whose tensors a branch writes in place."""
    names = set()
    for node in ast.walk(branch):
        written: ast.expr | None = None
        if isinstance(node, ast.AugAssign):
            written = node.target
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            written = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            written = node.func.value if name.endswith("_") and not name.endswith("__") else None
        while isinstance(written, ast.Subscript):
            written = written.value
        if isinstance(written, ast.Name):
            names.add(written.id)
    return names
