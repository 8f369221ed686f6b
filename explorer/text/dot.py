"""A program's graph as DOT text, and as a file where Graphviz's `dot` is installed."""

from __future__ import annotations

import errno
from pathlib import Path

import graphviz

from explorer.text.attempt_text import format_count
from explorer.text.escape import harmless
from explorer.text.outline import Block, full_blocks, top_blocks
from explorer.text.validate_options import check_writable
from export_engine.plain_errors import PlainError
from export_engine.record import Record

_SHAPES = {"input": "ellipse", "output": "ellipse", "op": "box", "scope": "box3d"}

FORMATS = frozenset(f".{kind}" for kind in {"dot", "gv", *graphviz.FORMATS})
"""The suffixes of files that a graph is drawn into."""


class DotMissing(PlainError, RuntimeError):
    """Graphviz is not installed. The message says what to do."""


def dot_graph(record: Record, full: bool = False) -> graphviz.Digraph:
    """The graph: top-level scopes as boxes, or with `full` every op.

    Works without Graphviz's programs; drawing it needs them.
    """
    drawing = graphviz.Digraph(
        "program", graph_attr={"rankdir": "TB"}, node_attr={"fontsize": "11"}
    )
    blocks = full_blocks(record) if full else top_blocks(record)
    for number, block in enumerate(blocks):
        drawing.node(str(number), graphviz.escape(_label(block)), shape=_SHAPES[block.kind])
        for source, text in block.inputs.items():
            drawing.edge(str(source), str(number), label=graphviz.escape(text), fontsize="9")
    return drawing


def save_graph(record: Record, path: str | Path, full: bool = False) -> Path:
    """Draws the graph into a file; its suffix, one of FORMATS, gives the kind.

    Raises:
        DotMissing: `dot` is not installed (a `.dot` file needs none).
        OSError: the file cannot be written.
    """
    target = Path(path)
    kind = target.suffix.removeprefix(".")
    check_writable(target)
    drawing = dot_graph(record, full)
    if kind in ("dot", "gv"):
        target.write_text(drawing.source, encoding="utf-8")
        return target
    try:
        target.write_bytes(drawing.pipe(format=kind))
    except OSError as error:  # ExecutableNotFound is one; Pyodide starts no process
        if not isinstance(error, graphviz.ExecutableNotFound) and error.errno != errno.ENOTSUP:
            raise
        raise DotMissing(
            "This needs Graphviz's `dot` program (apt install graphviz, or brew install "
            "graphviz). A .dot file, and the widget's SVG button, do not."
        ) from error
    return target


def _label(block: Block) -> str:
    lines = [block.title, block.subtitle]
    if block.kind == "scope":
        lines.append(format_count(block.ops, "op"))
    return "\n".join(harmless(line[:80]) for line in lines if line)
