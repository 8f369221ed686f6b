"""Which names a block reads before it binds them, and which are read behind a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def follow(
    body: Iterable[ast.stmt], known: set[str], live: set[str], apart: list[ast.stmt]
) -> set[str]:
    """Adds what a block reads before it binds it; returns what it binds for certain."""
    known = set(known)
    for statement in body:
        if isinstance(statement, ast.If):
            live |= _read(statement.test) - known
            ways = [
                follow(block, known, live, apart) for block in (statement.body, statement.orelse)
            ]
            known |= ways[0] & ways[1]
        elif isinstance(statement, ast.For | ast.While):
            live |= (
                _read(statement.iter if isinstance(statement, ast.For) else statement.test) - known
            )
            targets = (
                set(iter_stored_names(statement.target, []))
                if isinstance(statement, ast.For)
                else set()
            )
            follow(statement.body, known | targets, live, apart)
        else:
            live |= _read(statement) - known
            known |= set(iter_stored_names(statement, apart)) if statement not in apart else set()
    return known


def read_later(function: ast.AST, loop: ast.AST) -> set[str]:
    """Names that are read behind a loop, or another statement, before they are bound again.

    Where the loop is in another one, what that one reads counts, too.
    """
    for node in ast.walk(function):
        for part in ("body", "orelse", "finalbody"):
            block = getattr(node, part, None)
            if not isinstance(block, list) or loop not in block:
                continue
            result: set[str] = set()
            texts = follow(block[block.index(loop) + 1 :], set(), result, [])
            if node is function:
                return result
            if isinstance(node, ast.For | ast.While):
                result |= read_again(node)
            return result | (read_later(function, node) - texts)
    return set()


def read_again(loop: ast.For | ast.While) -> set[str]:
    """Names that an iteration reads before it binds them: what the one before has left."""
    live = set() if isinstance(loop, ast.For) else _read(loop.test)
    targets = set(iter_stored_names(loop.target, [])) if isinstance(loop, ast.For) else set()
    follow(loop.body, targets, live, [])
    return live


def _read(node: ast.AST) -> set[str]:
    inner = {
        name
        for child in ast.walk(node)
        if isinstance(child, ast.comprehension)
        for name in iter_stored_names(child.target, [])
    }
    names = {
        child.id
        for child in ast.walk(node)
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)
    }
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.add(node.target.id)
    if isinstance(node, ast.FunctionDef):
        inner |= _find_local_names(node)
    return names - inner


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
