"""Padding to whole chunks, written so that a trace holds for any length.

A state-space model takes a prompt in chunks. It pads by `(chunk - length % chunk) % chunk`, of
which sympy does not know that it completes a chunk: the guard that it does becomes one on the
length. And it cuts with `if pad_size > 0: output = output[:, :length]`, of which a trace follows
one way. While traced, the size is computed by the number of chunks, and padding is cut off where
there is none, too: both give the same.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from export_engine.defects import log_internal_error
from export_engine.process import undone

_MODELS = "transformers.models."


@undone
def padding_for_any_length() -> Iterator[None]:
    """While inside, functions of transformers' models pad and cut for any length."""
    changed: list[tuple[Any, CodeType]] = []
    try:
        for name, module in list(sys.modules.items()):
            if name.startswith(_MODELS) and ".modeling_" in name:
                for function in _with_padding(module):
                    code = _rewrite(function)
                    if code is not None:
                        changed.append((function, function.__code__))
                        function.__code__ = code
        yield
    finally:
        for function, code in changed:
            function.__code__ = code


def _with_padding(module: ModuleType) -> Iterator[FunctionType]:
    """A module's own functions that have a size of padding."""
    for value in list(vars(module).values()):
        function = inspect.unwrap(value) if callable(value) else None
        if not isinstance(function, FunctionType) or function.__module__ != module.__name__:
            continue
        code = function.__code__
        if any("pad" in name for name in (*code.co_varnames, *code.co_cellvars)):
            yield function


def _rewrite(function: FunctionType) -> CodeType | None:
    """The code of a function, rewritten on the same lines; None where nothing is to rewrite."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError) as error:
        log_internal_error(error, "reading where a model cuts off padding")
        return None
    rewritten = _Rewritten()
    tree = rewritten.visit(tree)
    if not rewritten.count or function.__code__.co_freevars:
        return None
    ast.increment_lineno(ast.fix_missing_locations(tree), first - 1)
    whole = compile(tree, function.__code__.co_filename, "exec", dont_inherit=True)
    return next(
        (
            co_const
            for co_const in whole.co_consts
            if isinstance(co_const, CodeType) and co_const.co_name == function.__code__.co_name
        ),
        None,
    )


class _Rewritten(ast.NodeTransformer):
    """Rewrites sizes of padding, and branches that cut it off."""

    count = 0

    def visit_If(self, node: ast.If) -> ast.AST:
        """`if pad > 0: x = x[:, :length]`, without the question, by indices.

        A slice's memory is contiguous where nothing is cut off, which would be asked next.
        """
        cut = _cut(node)
        if cut is not None:
            self.count += 1
            name, dim, length = cut
            text = (
                f"torch.index_select({name}, {dim}, torch.arange({length}, device={name}.device))"
            )
            assert isinstance(node.body[0], ast.Assign)
            node.test = ast.copy_location(ast.Constant(value=True), node.test)
            node.body[0].value = _at_line_of(node, text)
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`(chunk - length % chunk) % chunk` by the number of chunks."""
        match node:
            case ast.BinOp(
                left=ast.BinOp(
                    left=chunk,
                    op=ast.Sub(),
                    right=ast.BinOp(left=length, op=ast.Mod(), right=second),
                ),
                op=ast.Mod(),
                right=third,
            ) if len({ast.dump(expression) for expression in (chunk, second, third)}) == 1:
                self.count += 1
                one, other = ast.unparse(length), ast.unparse(chunk)
                text = f"(({one}) + ({other}) - 1) // ({other}) * ({other}) - ({one})"
                return _at_line_of(node, text)
        return self.generic_visit(node)


def _at_line_of(node: ast.AST, text: str) -> ast.expr:
    """An expression, where a node is in its file."""
    body = ast.parse(text, mode="eval").body
    for inner in ast.walk(body):
        ast.copy_location(inner, node)
    return body


def _cut(branch: ast.If) -> tuple[str, int, str] | None:
    """Of `if pad > 0: x = x[:, :length]` the name, the dim and the length; None of another."""
    match branch:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id=size), ops=[ast.Gt()], comparators=[ast.Constant(value=0)]
            ),
            body=[
                ast.Assign(
                    targets=[ast.Name(id=target)],
                    value=ast.Subscript(value=ast.Name(id=cut), slice=slices),
                )
            ],
            orelse=[],
        ) if "pad" in size and target == cut:
            parts = slices.elts if isinstance(slices, ast.Tuple) else [slices]
            if not all(
                isinstance(expression, ast.Slice) and not expression.lower for expression in parts
            ):
                return None
            uppers = [
                (dim, getattr(expression, "upper", None)) for dim, expression in enumerate(parts)
            ]
            pairs = [(dim, ast.unparse(upper)) for dim, upper in uppers if upper is not None]
            if len(pairs) == 1:
                return (cut, *pairs[0])
    return None
