"""Rows that are packed by their lengths for torch's own RNN, LSTM and GRU, as a masked scan.

`pack_padded_sequence` leaves out what is behind the end of a row, so that a row's state stays as it
is from there on. The scan runs for all rows, and a mask keeps the state: the results are the same.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import torch

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.rnn_to_scan import (
    cell_of,
    helper,
    kind_of,
    refuse,
    shares_storage,
)

_PACK, _PAD = "pack_padded_sequence", "pad_packed_sequence"
_PACK_GIVEN = ("input", "lengths", "batch_first", "enforce_sorted")
_PAD_GIVEN = ("sequence", "batch_first", "padding_value", "total_length")

_PACKED = """
def _packed(x, lengths, batch_first=False, enforce_sorted=True):
    # the rows as they are padded, time first, and their lengths
    x = x.transpose(0, 1) if batch_first else x
    return x, {torch}.as_tensor(lengths, dtype={torch}.int64, device="cpu")
"""
_PADDED = """
def _padded(packed, batch_first=False, padding_value=0.0, total_length=None):
    x, lengths = packed
    longest = lengths.max().item() if total_length is None else total_length
    alive = {torch}.arange(x.shape[0], device=x.device)[:, None] < lengths.to(x.device)
    x = x.masked_fill(~alive.unsqueeze(-1), padding_value)
    more = {torch}.sym_max(longest - x.shape[0], 0) if total_length is not None else 0
    x = {torch}.nn.functional.pad(x, (0, 0, 0, 0, 0, more), value=padding_value)[:longest]
    return x.transpose(0, 1) if batch_first else x, lengths
"""
_RNN = """
def {name}(rnn, packed, hx=None):
    # the same as {kind} of packed rows: a row's state stays as it is behind its end
    from torch._higher_order_ops.scan import scan

    x, lengths = packed
    alive = {torch}.arange(x.shape[0], device=x.device)[:, None] < lengths.to(x.device)
    alive = alive.unsqueeze(-1)
{layers}
    return (x, lengths), {last}
"""
_CELL = "cell(carry, each, w, bias)"
_MASKED = """

            def step(carry, each, w=weights[1], bias=bias):
                each, goes_on = each
                new, _ = cell(carry, each, w, bias)
                kept = [{torch}.where(goes_on, n, old) for n, old in zip(new, carry)]
                return tuple(kept), kept[0].clone()
"""


def as_masked_scan(
    text: str, line: int, modules: Mapping[str, torch.nn.RNNBase]
) -> tuple[Rewritten, str]:
    """The text with a function's recurrent modules of packed rows as masked scans.

    Args:
        text: of the file.
        line: of the function.
        modules: torch's own, by the last name of their path.

    Returns:
        The text, and the modules' classes.

    Raises:
        Unclear: the function does not pack the rows, or a module does what the scan does not.
    """
    source = Source(text, line)
    calls = [node for node in ast.walk(source.function) if isinstance(node, ast.Call)]
    packs = [each for each in calls if _name(each) == _PACK]
    pads = [each for each in calls if _name(each) == _PAD]
    runs = [
        each for each in calls if isinstance(each.func, ast.Attribute) and each.func.attr in modules
    ]
    if not packs or not runs:
        raise Unclear("the rows are not packed in the function that runs the recurrent module")
    if {"_packed", "_padded"} & source.names:
        raise Unclear("the function has names that the rewrite needs")
    pieces, helpers, kinds = list[Piece](), {"": _PACKED}, list[str]()
    for each in packs:
        _refuse_keywords(each, _PACK_GIVEN)
        pieces.append(Piece(source.start(each), source.end(each.func), "_packed"))
    for each in pads:
        _refuse_keywords(each, _PAD_GIVEN)
        pieces.append(Piece(source.start(each), source.end(each.func), "_padded"))
        helpers["padded"] = _PADDED
    for each in runs:
        assert isinstance(each.func, ast.Attribute)
        module = modules[each.func.attr]
        refuse(module)
        if not each.args or isinstance(each.args[0], ast.Starred):
            raise Unclear("the recurrent module is called by keywords")
        kind = kind_of(module)
        name = f"_{kind.lower()}"
        one = any(map(shares_storage, modules.values()))
        helpers[kind] = cell_of(
            _RNN, name, kind, source.torch, _CELL, _MASKED, "(inputs, alive)", one
        )
        kinds.append(kind.partition("_")[0])
        owner = source.of(each.func)
        pieces.append(Piece(source.start(each), source.end(each.func), name))
        pieces.append(Piece(source.start(each.args[0]), source.start(each.args[0]), f"{owner}, "))
    made = (each.replace("{torch}", source.torch).strip() for each in helpers.values())
    pieces.append(helper(source, "\n\n".join(made)))
    return source.changed(pieces), " and ".join(dict.fromkeys(kinds))


def _name(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _refuse_keywords(call: ast.Call, known: tuple[str, ...]) -> None:
    if any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg not in known for each in call.keywords
    ):
        raise Unclear("the rows are packed in a way that is not known")
    first = call.keywords[0].arg if call.keywords and not call.args else None
    if first is not None:
        raise Unclear("the rows are given by keyword")
