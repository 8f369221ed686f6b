"""`torch.tensor([1 / c if c > 0 else 0 for c in counts])`, computed of the whole tensor.

Python reads a number of each element; torch computes all of them, and selects with torch.where.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.loops.row_values import RowValues


def listed_at_once(text: str, line: int) -> Rewritten:
    """The text with the tensor of a list of numbers of the rows of another computed at once.

    Raises:
        Unclear: there is none at that line, or it is not computed from numbers of the rows.
    """
    source, pieces = Source(text, line), list[Piece]()
    makers = {f"{source.torch}.{name}" for name in ("tensor", "as_tensor")}
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not spans(node, line):
            continue
        listed = node.args[0] if len(node.args) == 1 else None
        if source.of(node.func) not in makers or not isinstance(listed, ast.ListComp):
            continue
        made = _computed(source, listed)
        more = ", ".join(map(source.of, node.keywords))
        pieces.append(
            Piece(source.start(node), source.end(node), f"{made}.to({more})" if more else made)
        )
    if not pieces:
        raise Unclear("no list of numbers is made a tensor there")
    return source.changed(pieces)


def _computed(source: Source, listed: ast.ListComp) -> str:
    generator = listed.generators[0]
    if len(listed.generators) > 1 or generator.ifs or generator.is_async:
        raise Unclear("the list is more than one value of each row")
    names = [
        {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        for node in (generator.target, listed.elt)
    ]
    if not names[0] & names[1]:
        raise Unclear("every row has the same value")
    body: list[ast.stmt] = [ast.copy_location(ast.Expr(listed.elt), listed.elt)]
    loop = ast.copy_location(ast.For(generator.target, generator.iter, body, []), listed)
    made = RowValues(source, loop).of(listed.elt)
    return made if made.endswith(")") else f"({made})"
