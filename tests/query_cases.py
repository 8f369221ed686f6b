"""Queries and what they match, for both sides of the grammar: `python -m tests.query_cases`.

Writes `widgets/frontend/src/testing/queries.json`: a Record, watched, profiled, compared and with
overlays, and each query with the nodes that match or with its error. `tests/engine/test_query.py`
says by other means which nodes are right.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import nn

import explorer
from export_engine.query import QueryError, query
from export_engine.record import DelegatedOp, Delegation, FindingRow, Record, encode

PATH = Path(__file__).parents[1] / "widgets/frontend/src/testing/queries.json"
TEXT = Path(__file__).read_text().splitlines()
LINE = next(
    number for number, text in enumerate(TEXT, 1) if text.startswith("        y = torch.relu(")
)

QUERIES = (
    *(
        "",
        "  ",
        "linear",
        "up weight",
        "f32[batch, 8]",
        "f32[*,8]",
        f"query_cases.py:{LINE}",
        "Net relu",
    ),
    *("op:linear", "op:lin", "op:lin*", "op:aten.linear", "op=aten.linear.default", "OP:linear"),
    *("op:linear & dtype:f32 & value.max > 0.1", "op:linear dtype:f32", "op:linear | op:relu"),
    *("!op:linear", "!(op:linear | kind:parameter)", "!!op:linear", "op:linear&!name:linear_1"),
    *("name:linear", "name=linear", "name:*lin*1", "kind:op", "kind:input", "kind:buffer"),
    *("dtype:float32", "dtype:torch.float32", "dtype:i*", "dtype!=f32", "shape:[batch, *]"),
    *("shape:[*]", "shape:[]", "shape:[..., 8]", "shape:8", "shape:[batch,...]", "rank = 2"),
    *("rank>=1", "numel > 30", "numel = 64", "symbol:batch", "device:cpu", "module:up", "scope:up"),
    *(
        "class:Linear",
        "class:Net",
        "file:query_cases.py",
        f"line < {LINE + 1}",
        f"line:{LINE}",
        "function:forward",
    ),
    *("finding:EX201", "finding:baked*", "finding:*", "overlay:*", "overlay.cost > 0.5"),
    *("delegated:no", "delegated:xnnpack", "!delegated:no", "delegated!=no", "reason:alpha"),
    *(
        "overlay.cost:0.25",
        "overlay.note:second",
        "overlay.note!=second",
        'overlay."two words":#1a*',
    ),
    *("overlay:cost", "tag:core", "users = 0", "users > 1", "inputs >= 3", "time >= 0"),
    *("memory >= 0", "value.min < 0", "value.zeros > 10%", "value.zeros > .1", "value.nan = 0"),
    *("value.runs >= 1", "value.max < inf", "value.max > -1e-3", "error.own >= 0"),
    *("error.sqnr > 100", "error.sqnr <= 200 & op:linear", "up & op:linear", "(up) (linear)"),
    *('"f32[batch, 8]"', "target:relu", "op:sin | op:cos", "op == relu", "op != relu"),
    *("opp:linear", "vlaue.max > 3", "max > 3", "nothing = 3", "value.max > x", "value.max >"),
    *("op:", "op:linear &", "op:linear & & op:relu", "|", "(op:relu", "op:relu)", "dtype < 3"),
    *("overlay.x > 1", "overlay.note > 1", "value.max > 10%x", "!", "()", "[f32", "a::b", "f.py:3"),
    *("(" * 120, "op:[linear", "name:)", '"', 'op:"linear"', "rank > 2 rank > 3 | op:relu"),
)


class Net(nn.Module):
    """A branch, a buffer, and a few of everything that a query asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 8)
        self.register_buffer("offset", torch.arange(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.up(x)) + self.offset
        y = torch.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))
        return self.down(y)


def made() -> Record:
    """The Record that the queries are about."""
    torch.manual_seed(0)
    shapes = "x: batch, _"
    ex = explorer.explore(Net().eval(), (torch.randn(3, 4),), dynamic_shapes=shapes)
    ex.record_values()
    ex.cost().measure()
    ex.compare()
    ex.annotate("cost", {"linear": 0.25, "linear_1": 0.75})
    ex.annotate("note", {"relu": "the first", "add": "the second"})
    ex.annotate("two words", {"relu": "#1a64c4"})
    record = ex.record
    files = [msgspec.structs.replace(each, path=each.name, text="") for each in record.files]
    row = FindingRow("baked-value", "A value baked in", "note", "It is.", "", node=7, code="EX201")
    ops = [
        DelegatedOp(name="aten_linear", op="aten.linear.default", partition=0, origin="linear"),
        DelegatedOp(name="aten_relu", op="aten.relu.default", origin="relu", reason="No alpha."),
        DelegatedOp(name="sym", op="sym_size", kind="size", origin="sum_1"),
    ]
    delegation = Delegation(backend="xnnpack", title="XNNPACK", version="", ops=ops)
    return msgspec.structs.replace(
        record, files=files, findings=[row], torch_version="", delegations=[delegation]
    )


def told(record: Record, text: str) -> dict[str, Any]:
    """What a query gives."""
    try:
        return {"query": text, "nodes": [list(each) for each in query(record, text)]}
    except QueryError as error:
        return {"query": text, "error": error.reason, "column": error.column}


def write() -> None:
    """Writes the file."""
    record = made()
    cases = [told(record, each) for each in QUERIES]
    data = {"record": base64.b64encode(encode(record)).decode(), "cases": cases}
    PATH.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    write()
