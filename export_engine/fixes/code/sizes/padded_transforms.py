"""`torch.fft.rfft(x, whole)` of x that is padded, or cut, to a length which is data-dependent.

torch asks whether the length is more than there is, to pad or to cut. `pad` by a difference does
either, and asks nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from export_engine.fixes.code.editing.text_edits import Piece, Source

_TRANSFORMS = ("fft", "rfft", "ifft")


def iter_padding_pieces(source: Source, name: str) -> Iterator[Piece]:
    """What replaces the arguments of each transform over the last dim whose length has a name."""
    for node in ast.walk(source.function):
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(function, ast.Attribute):
            continue
        if function.attr not in _TRANSFORMS or not source.of(function.value).endswith("fft"):
            continue
        lengths = [
            *node.args[1:2],
            *(keyword.value for keyword in node.keywords if keyword.arg == "n"),
        ]
        plain = (
            all(keyword.arg in ("n", "norm") for keyword in node.keywords) and len(node.args) < 3
        )
        if not plain or [source.of(length) for length in lengths] != [name]:
            continue
        text = source.of(node.args[0])
        if not _is_named(node.args[0]):
            continue  # it is named twice, and must be computed once
        pad = f"{source.torch}.nn.functional.pad({text}, (0, {name} - {text}.shape[-1]))"
        norm = "".join(
            f", {source.of(keyword)}" for keyword in node.keywords if keyword.arg == "norm"
        )
        yield Piece(source.start(node.args[0]), source.end(node) - 1, f"{pad}{norm}")


def _is_named(node: ast.expr) -> bool:
    """Whether code names a value, such as `x` and `self.weight`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
