"""Where a function binds a name, and the nodes that are about one."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def _find_local_names(function: ast.FunctionDef) -> set[str]:
    """The local names of a function: its arguments, and what it binds."""
    arguments = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return arguments | {
        name for statement in function.body for name in iter_stored_names(statement, [])
    }


def nodes_about(function: ast.AST, name: str) -> Iterator[ast.AST]:
    """The nodes of a function, without functions in it to which a name is another one."""
    for child in ast.iter_child_nodes(function):
        if isinstance(child, ast.FunctionDef) and name in _find_local_names(child):
            continue
        yield child
        yield from nodes_about(child, name)


def iter_stored_names(node: ast.AST, apart: list[ast.stmt]) -> Iterator[str]:
    """Names that a node binds, those of comprehensions and of statements apart left out.

    Of a function that is its name; what it binds itself is its own.
    """
    if node in apart or isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp):
        return
    if isinstance(node, ast.FunctionDef):
        yield node.name
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from iter_stored_names(child, apart)


def find_assignment(function: ast.AST, name: str) -> ast.Assign | None:
    """The only assignment of a name in a function; None where there are several or none."""
    nodes = [
        node
        for node in nodes_about(function, name)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return nodes[0] if len(nodes) == 1 and len(nodes[0].targets) == 1 else None
