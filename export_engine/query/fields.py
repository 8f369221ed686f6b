"""Fields of queries on nodes: the one table, from which the front end's is generated."""

from __future__ import annotations

from typing import Literal, NamedTuple

Match = Literal["contains", "whole", "parts", "shape", "number"]
"""How a text is found.

`contains`: in any part of it; a number is a whole one, as in a search by words. `whole`: all of it.
`parts`: in consecutive parts between dots, `aten.linear`. Everywhere `*` stands for any text; in
parts, for any without a dot. `shape`: `[*, 64]`. `number`: compared. Case does not matter.
"""

Needs = Literal["", "watch", "pairs", "profile", "delegation"]
"""The data that must be present for the field."""


class Field(NamedTuple):
    """One thing to ask of a node."""

    name: str
    match: Match
    means: str
    example: str
    needs: Needs = ""


_VALUES = {
    "min": "Least finite element",
    "max": "Greatest finite element",
    "mean": "Mean of the finite elements",
    "std": "Standard deviation",
    "norm": "Euclidean norm",
    "zeros": "Share of elements that are 0",
    "saturated": "Share of elements at the end of their dtype's range",
    "nan": "Number of NaN elements",
    "inf": "Number of infinite elements",
    "runs": "Number of times the op ran",
}
_ERRORS = {
    "own": "Relative error that the op itself adds",
    "relative": "Relative error of its value",
    "absolute": "Largest absolute error",
    "cosine": "Cosine of the two values",
    "sqnr": "Signal to noise, in dB",
    "overflow": "Elements that overflow in this run only",
    "underflow": "Elements that become 0 in this run only",
}

FIELDS = (
    Field("op", "parts", "The operator", "op:linear"),
    Field("name", "contains", "The node's name", "name:linear_3"),
    Field("kind", "whole", "op, input, parameter, buffer, constant or output", "kind:parameter"),
    Field("dtype", "whole", "The dtype of its value", "dtype:f32"),
    Field("shape", "shape", "Its sizes; * is one, ... any number", "shape:[batch, *, 64]"),
    Field("rank", "number", "Number of dims", "rank = 4"),
    Field("numel", "number", "Number of elements, if all sizes are static", "numel > 1e6"),
    Field("symbol", "whole", "A symbol in its sizes", "symbol:batch"),
    Field("device", "whole", "The device of its value", "device:cuda*"),
    Field("module", "parts", "A module that contains it, by path", "module:layer.3"),
    Field("class", "parts", "A module that contains it, by class", "class:BertLayer"),
    Field("file", "contains", "A file of its stack, or file and line", "file:model.py:12"),
    Field("line", "number", "A line of its stack, outside of torch", "line >= 10"),
    Field("function", "whole", "A function of its stack", "function:forward"),
    Field("finding", "contains", "A finding about it: code, heading or sentence", "finding:EX201"),
    Field("overlay", "contains", "Value of an annotation; overlay.NAME is one of them",
          "overlay.sensitivity > 0.5"),
    Field("tag", "whole", "A tag of the operator", "tag:core"),
    Field("delegated", "whole", "The backend of its partition, or no", "delegated:no",
          "delegation"),
    Field("reason", "contains", "Why a backend leaves it outside", "reason:dtype", "delegation"),
    Field("users", "number", "Number of nodes that read it", "users = 0"),
    Field("inputs", "number", "Number of nodes that it reads", "inputs > 2"),
    Field("time", "number", "Time of the op, in microseconds", "time > 50", "profile"),
    Field("memory", "number", "Bytes of its outputs", "memory > 1e6", "profile"),
    *(Field(f"value.{name}", "number", means, f"value.{name} > 0", "watch")
      for name, means in _VALUES.items()),
    *(Field(f"error.{name}", "number", means, f"error.{name} > 0.01", "pairs")
      for name, means in _ERRORS.items()),
)  # fmt: skip
"""All of them, in the order in which they are offered."""

BY_NAME = {field.name: field for field in FIELDS}
ALSO = {"scope": "module", "target": "op", "stack": "file"}
"""Other names for some."""
LACKS: dict[str, str] = {
    "watch": "needs a watched run: Watch in the Values pane, or .record_values()",
    "pairs": "needs two runs: Compare in the Values pane, or .compare()",
    "delegation": "needs a delegation: Lower in the Delegate pane, or .delegate()",
    "profile": "needs a profile: Profile in the Runs pane, or .cost().measure()",
}
"""The message for a field whose `needs` is missing."""
