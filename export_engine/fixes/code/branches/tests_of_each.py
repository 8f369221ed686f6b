"""Tests of each element in a comprehension that is asked or summed: `any(v > 0 for v in x)`.

Python asks one test after the other; evaluated for every element, they stay tensors.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear, predicate_text
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans


def each_asked(source: Source, node: ast.GeneratorExp | ast.ListComp, quantifier: str) -> str:
    """`any(v > 0 for v in x)`, with each test evaluated.

    Raises:
        Unclear: it has several loops or a filter, or a test is not a tensor's.
    """
    head = _only_loop(source, node)
    if node.generators[0].ifs:
        raise Unclear(f"`{quantifier}` asks only what a filter lets through")
    test = f"({predicate_text(source.of(node.elt))}).bool().reshape(())"
    return f"{source.torch}.stack([{test} {head}]).{quantifier}()"


def summed(text: str, line: int, *, as_number: bool = False) -> Rewritten:
    """The text where a sum at a line of what a filter lets through adds 0 for the rest.

    Args:
        text: of the file.
        line: of the sum: `sum(1 for v in x if v > 0)`.
        as_number: whether the sum is read as an int, and stays no tensor.

    Raises:
        Unclear: there is none, it has several loops, or a test is not a tensor's.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not spans(node, line) or node.keywords:
            continue
        if not isinstance(node.func, ast.Name) or node.func.id != "sum" or len(node.args) != 1:
            continue
        over = node.args[0]
        if not isinstance(over, ast.GeneratorExp | ast.ListComp):
            continue
        if any(each.ifs for each in over.generators):
            head = _only_loop(source, over)
            tests = [f"({source.of(each)})" for each in over.generators[0].ifs]
            test = predicate_text(" and ".join(tests))
            made = f"sum({source.torch}.where({test}, {source.of(over.elt)}, 0) {head})"
            made = f"int({made})" if as_number else made
            return source.changed([Piece(source.start(node), source.end(node), made)])
    raise Unclear("nothing at that line is a sum of what a filter lets through")


def _only_loop(source: Source, node: ast.GeneratorExp | ast.ListComp) -> str:
    """`for v in x`. Raises Unclear where there are several, or what they leave behind is kept."""
    (loop, *others) = node.generators
    if others or loop.is_async:
        raise Unclear("the comprehension has several loops")
    if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
        raise Unclear("the comprehension binds a name")
    return f"for {source.of(loop.target)} in {source.of(loop.iter)}"
