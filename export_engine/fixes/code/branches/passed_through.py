"""What a branch of torch.cond returns: it must not return what it is given, nor a view of that."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

import libcst as cst

from export_engine.fixes.code.editing.liveness import follow
from export_engine.fixes.code.editing.variables import tree_of
from export_engine.fixes.code.editing.views import may_be_view


def results_of(names: Sequence[str], body: Sequence[cst.BaseStatement]) -> cst.SimpleStatementLine:
    """The return value of a branch; values that it did not compute are cloned."""
    computed = _computed(tree_of(body)) & certain(tree_of(body))
    texts = [name if name in computed else f"{name}.clone()" for name in names]
    value = cst.parse_expression(texts[0] if len(texts) == 1 else f"({', '.join(texts)})")
    return cst.SimpleStatementLine([cst.Return(value)])


def certain(tree: ast.Module) -> set[str]:
    """Names that a block binds whichever way it goes."""
    return follow(tree.body, set(), set(), [])


def _computed(tree: ast.Module) -> set[str]:
    """Names last bound to more than another name."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            plain = may_be_view(node.value)
            names = {t.id for t in node.targets if isinstance(t, ast.Name)}
            found = found - names if plain else found | names
            for target in node.targets:
                if isinstance(target, ast.Tuple | ast.List):
                    found |= {each.id for each in target.elts if isinstance(each, ast.Name)}
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def returned(statement: cst.BaseStatement, own: Collection[str]) -> cst.BaseStatement:
    """A return, with passed-through values cloned: all but names of what the branch has made."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return statement
    last = statement.body[-1]
    if not isinstance(last, cst.Return) or last.value is None:
        return statement
    return statement.with_changes(
        body=[*statement.body[:-1], last.with_changes(value=fresh(last.value, own))]
    )


def fresh(value: cst.BaseExpression, own: Collection[str] = ()) -> cst.BaseExpression:
    """A value, with what it passes through cloned: all but names of what the branch has made."""
    if isinstance(value, cst.Tuple | cst.List):
        elements = [
            each.with_changes(value=fresh(each.value, own))
            if isinstance(each, cst.Element)
            else each
            for each in value.elements
        ]
        return value.with_changes(elements=elements)
    if isinstance(value, cst.Name) and value.value in ("None", "True", "False", *own):
        return value
    text = cst.Module(body=[]).code_for_node(value)
    if may_be_view(ast.parse(text.strip(), mode="eval").body):
        return cst.Call(func=cst.Attribute(value, cst.Name("clone")))
    return value
