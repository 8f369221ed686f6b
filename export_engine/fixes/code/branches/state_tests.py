"""Tests that ask a module's own parameters and buffers, `self.ready.item()`: no input changes them.

Which way such a branch goes is settled by the model as it is, so that to assume it rejects no
input. Nothing that runs may write to what is asked.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from torch import nn

from export_engine.attempt import Request
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Rewritten, Source, spans


def state_asked(request: Request, text: str, line: int, made: Rewritten) -> list[str]:
    """The parameters and buffers that the test at a line asks, `self.ready`; none if it asks more.

    Args:
        request: with the model.
        text: of the file.
        line: of the test.
        made: the text in which one way is kept.
    """
    try:
        source = Source(text, line)
    except CannotRewrite:
        return []
    tests = [
        node.test
        for node in ast.walk(source.function)
        if isinstance(node, ast.If | ast.IfExp) and spans(node.test, line)
    ]
    arguments = [*source.function.args.posonlyargs, *source.function.args.args]
    if not tests or not arguments:
        return []
    test, own = tests[0], arguments[0].arg
    others = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)} - {own}
    if any(not hasattr(builtins, other) and other != source.torch for other in others):
        return []
    chains = [_chain(expression) for expression in _iter_longest_attributes(test, own)]
    asked = {
        _find_registration(owner, chain) for owner in _owners(request, made) for chain in chains
    }
    if not asked or "" in asked or _are_written(asked, made):
        return []
    return sorted(f"{own}.{name}" for name in asked)


def _owners(request: Request, made: Rewritten) -> Iterator[nn.Module]:
    """The modules of the model whose class defines the function that was changed."""
    target = getattr(request.target, "__self__", request.target)
    of = made.function.rpartition(".")[0]
    for module in target.modules() if isinstance(target, nn.Module) else ():
        if of and any(item.__qualname__ == of for item in type(module).__mro__):
            yield module


def _iter_longest_attributes(test: ast.expr, own: str) -> Iterator[ast.expr]:
    """The longest attributes of the module in a test: `self.a.b.item`; it by itself, too."""
    inner = {id(n.value) for n in ast.walk(test) if isinstance(n, ast.Attribute)}
    for node in ast.walk(test):
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            chain = _chain(node)
            if chain and chain[0] == own:
                yield node


def _chain(node: ast.expr) -> list[str]:
    """The names of `self.a.b`, from the left; none if it is of something else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def _find_registration(owner: nn.Module, chain: list[str]) -> str:
    """The path of the parameter or buffer that a chain leads to; empty if to anything else."""
    paths = [
        *(name for name, _ in owner.named_parameters(remove_duplicate=False)),
        *(name for name, _ in owner.named_buffers(remove_duplicate=False)),
    ]
    ends = (".".join(chain[1:end]) for end in range(2, len(chain) + 1))
    return next((end for end in ends if end in paths), "")


def _are_written(asked: set[str], made: Rewritten) -> bool:
    """Whether what runs of a class, once one way is kept, may write to one of its tensors."""
    of, _, name = made.function.rpartition(".")
    body: list[ast.stmt] = ast.parse(made.text).body
    for part in of.split("."):
        body = next((n.body for n in body if isinstance(n, ast.ClassDef) and n.name == part), [])
    methods = {
        statement.name: statement for statement in body if isinstance(statement, ast.FunctionDef)
    }
    waiting, names = [name, "forward"], set[str]()
    while waiting:
        method = methods.get(waiting.pop())
        if method is None or method.name in names or not method.args.args:
            continue
        names.add(method.name)
        own = method.args.args[0].arg
        paths = [[own, *text.split(".")] for text in asked]
        for node in _iter_reachable(method):
            if _is_written(node, paths):
                return True
            called = _chain(node.func) if isinstance(node, ast.Call) else []
            waiting += called[1:] if called[:1] == [own] and len(called) == 2 else []
    return name not in names


def _iter_reachable(node: ast.AST) -> Iterator[ast.AST]:
    """What may run of a function: in each block all up to a return."""
    yield node
    for _, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                yield from _iter_reachable(item)
            if isinstance(item, ast.Return | ast.Raise):
                break


def _is_written(node: ast.AST, asked: list[list[str]]) -> bool:
    """Whether a piece of code writes to one of the tensors: by assignment, a method or a call."""
    written: list[ast.expr] = []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr.endswith("_"):
            written = [node.func.value, *node.args]  # `x.fill_(1)`, `nn.init.ones_(x)`
    elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        written = [node]
    chains = [_chain(_strip_indices(expression)) for expression in written]
    return any(chain[: len(path)] == path for chain in chains for path in asked)


def _strip_indices(node: ast.expr) -> ast.expr:
    """`x` of `x[0][1]`."""
    return _strip_indices(node.value) if isinstance(node, ast.Subscript) else node
