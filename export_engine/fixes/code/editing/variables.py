"""The names that code reads and binds, and its other effects."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Sequence

import libcst as cst

_FORBIDDEN: dict[type[ast.AST], str] = {
    ast.Raise: "raises an error",
    ast.Break: "leaves a loop",
    ast.Continue: "goes on with a loop",
    ast.Yield: "yields",
    ast.YieldFrom: "yields",
    ast.Await: "awaits",
    ast.Global: "writes a global",
    ast.Nonlocal: "writes a variable of the function around it",
    ast.Try: "catches errors",
    ast.With: "enters a context",
    ast.Delete: "deletes something",
    ast.Import: "imports something",
    ast.ImportFrom: "imports something",
}
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def tree_of(statements: Sequence[cst.BaseStatement]) -> ast.Module:
    """Statements as Python's own syntax tree."""
    module = cst.Module(body=statements)  # type: ignore[arg-type] # statements of any block
    code = module.code
    return ast.parse(textwrap.dedent(code))


def read(tree: ast.AST) -> set[str]:
    """Names that are read; those that an augmented assignment changes among them."""
    names = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def list_bound_names(tree: ast.Module) -> list[str]:
    """Names that are bound, in order; those inside functions and comprehensions left out."""
    names: list[str] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
            return
        if isinstance(
            node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
        ):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return list(dict.fromkeys(names))


def find_stored_names(*trees: ast.AST) -> set[str]:
    """Names that are bound anywhere in trees, in comprehensions, too."""
    return {
        node.id
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def heads(tree: ast.Module) -> set[str]:
    """Names that the heads of statements bind for their blocks: `for row in x`, `with f() as y`."""
    expressions: list[ast.expr | None] = []
    for statement in tree.body:
        if isinstance(statement, ast.For):
            expressions.append(statement.target)
        elif isinstance(statement, ast.With):
            expressions += [item.optional_vars for item in statement.items]
    nodes = [
        node
        for expression in expressions
        if expression is not None
        for node in ast.walk(expression)
    ]
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def effect(tree: ast.Module, own: Iterable[str] = ()) -> str | None:
    """A phrase for what torch.cond cannot do in a branch; None if it only computes.

    Args:
        tree: of the branch.
        own: names of tensors that are the branch's own, which it may write to.
    """
    for node in ast.walk(tree):
        for kind, what in _FORBIDDEN.items():
            if isinstance(node, kind):
                return what
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            if _root(node) not in own:
                return f"writes to `{ast.unparse(node)}`"
        elif (
            isinstance(node, ast.Expr)
            and not isinstance(node.value, ast.Constant)
            and _root(node.value) not in own
        ):
            return f"runs `{ast.unparse(node)}` for its effect"
    return None


def _root(node: ast.expr) -> str:
    """The name whose element, or whose method, an expression is about."""
    while not isinstance(node, ast.Name):
        inner = getattr(node, "func", None) or getattr(node, "value", None)
        if not isinstance(inner, ast.expr):
            return ""
        node = inner
    return node.id


def always_returns(statements: Sequence[ast.stmt]) -> bool:
    """Whether every path ends with a return of a value."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return):
        return last.value is not None
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return False


def has_return(tree: ast.AST) -> bool:
    """Whether there is a return, those of inner functions left out."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Return):
            return True
        inner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if not inner and has_return(child):
            return True
    return False
