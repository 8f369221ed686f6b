"""Distributions of torch.distributions that do not check their arguments' values."""

from __future__ import annotations

import ast

import torch.distributions

from export_engine.fixes.code.editing.text_edits import CannotRewrite, Piece, Rewritten, Source


def disable_validation(text: str, line: int) -> Rewritten:
    """The text with `validate_args=False` for every distribution that a function makes.

    Raises:
        CannotRewrite: the function at the line makes none that checks its arguments.
    """
    source = Source(text, line)
    nodes = [node for node in ast.walk(source.function) if _makes(node)]
    pieces = []
    for call in nodes:
        assert isinstance(call, ast.Call)
        if any(keyword.arg in ("validate_args", None) for keyword in call.keywords):
            continue
        end = source.end(call) - 1
        before = source.text[: source.end(call) - 1].rstrip()
        comma = "" if before.endswith(("(", ",")) else ", "
        pieces.append(Piece(end, end, f"{comma}validate_args=False"))
    if not pieces:
        raise CannotRewrite("no distribution is made there that checks its arguments")
    return source.replace(pieces)


def _makes(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    name = getattr(called, "attr", getattr(called, "id", ""))
    result = getattr(torch.distributions, name, None) if name else None
    return isinstance(result, type) and issubclass(result, torch.distributions.Distribution)
