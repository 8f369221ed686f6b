"""`torch.tensor([x.mean(), x.max()])` as torch.stack: the first reads the values of the tensors."""

from __future__ import annotations

import ast

from export_engine.fixes.code.calls.typed_tensors import DTYPES, is_list
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans

_MAKERS = ("tensor", "as_tensor")
_PLACES = ("dtype", "device")


def stacked(text: str, line: int) -> Rewritten:
    """The text with the tensors that a line makes of lists of tensors stacked.

    What torch.tensor makes has no gradient, and so has what is stacked.

    Raises:
        Unclear: no list is made a tensor there.
    """
    source = Source(text, line)
    pieces = [
        Piece(
            source.start(node), source.end(node), _stack(source, node.args[0]) + _as(source, node)
        )
        for node in ast.walk(source.function)
        if isinstance(node, ast.Call) and spans(node, line) and _makes_a_tensor(source, node)
    ]
    if not pieces:
        raise Unclear("no list of tensors is made a tensor there")
    return source.changed(pieces)


def _makes_a_tensor(source: Source, call: ast.Call) -> bool:
    owner, _, name = source.of(call.func).rpartition(".")
    if owner != source.torch or len(call.args) != 1 or not is_list(source, call.args[0]):
        return False
    if name in DTYPES:
        return not call.keywords
    return name in _MAKERS and all(each.arg in _PLACES for each in call.keywords)


def _stack(source: Source, value: ast.expr) -> str:
    """What stacks a list, and those in it; a plain number in it as a tensor."""
    if not isinstance(value, ast.List):
        return f"{source.torch}.stack({source.of(value)})"
    parts = []
    for each in value.elts:
        if isinstance(each, ast.List):
            parts.append(_stack(source, each))
        elif isinstance(each, ast.Constant):
            parts.append(f"{source.torch}.tensor({source.of(each)})")
        else:
            parts.append(source.of(each))
    return f"{source.torch}.stack([{', '.join(parts)}])"


def _as(source: Source, call: ast.Call) -> str:
    """What the stack is made, as the call says."""
    given = [f"{each.arg}={source.of(each.value)}" for each in call.keywords]
    name = source.of(call.func).rpartition(".")[2]
    given += [f"{source.torch}.{DTYPES[name]}"] if name in DTYPES else []
    return f".detach().to({', '.join(given)})" if given else ".detach()"
