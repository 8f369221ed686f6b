"""What is quantized, as text that reads well in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.text.escape import harmless
from explorer.text.run_text import amount

if TYPE_CHECKING:
    from explorer.results.quantized_layers import Layer, LayerError, LeftInFloat
    from export_engine.record import Quantization, QuantizedTensor

_MOST = 40


def quantization_lines(
    found: Quantization, layers: Sequence[Layer], in_float: Sequence[LeftInFloat]
) -> list[str]:
    """A head with bytes, a line per layer, then what stayed in float and why."""
    count = len(layers)
    head = (
        f"{count} quantized op{'s' * (count != 1)}; weights and buffers take "
        f"{amount(found.bytes)}, in float {amount(found.float_bytes)}"
    )
    if found.unread_bytes:
        head += f"; {amount(found.unread_bytes)} more are held and read by no op"
    titles = ("layer", "op", "weight", "inputs", "bytes")
    lines = [head, *_limit_lines(_columns([titles, *map(_layer, layers)]), "layers")]
    if in_float:
        lines.append("In float:")
        left = [
            (
                "  "
                f"{harmless(left_in_float.module or left_in_float.name)[:23]:<24}"
                f"{left_in_float.op[:13]:<14}{left_in_float.why}"
            )
            for left_in_float in in_float
        ]
        lines += _limit_lines(left, "ops")
    return lines


def accuracy_lines(found: Sequence[LayerError], worst: LayerError | None) -> list[str]:
    """A line per layer; the worst is marked."""
    if not found:
        return ["No layer has a partner in the float program."]
    lines = [f"  {'layer':<32}{'adds':>10}{'error':>10}{'SQNR':>9}  scheme"]
    rows = [
        f"{'✗' if layer_error is worst else ' '} "
        f"{harmless(layer_error.layer.module or layer_error.layer.name)[:31]:<32}"
        f"{layer_error.own:>10.2g}{layer_error.relative:>10.2g}{layer_error.sqnr:>6.0f} "
        f"dB  {layer_error.layer.scheme}"
        for layer_error in found
    ]
    return [*lines, *_limit_lines(rows, "layers")]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as it needs; the last one to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "".join(f"{cell:<{width + 2}}" for cell, width in zip(row[:-1], widths[:-1], strict=True))
        + f"{row[-1]:>{widths[-1]}}"
        for row in rows
    ]


def _layer(each: Layer) -> tuple[str, ...]:
    weights = [one for one in each.tensors if one.role == "weight"]
    others = [one for one in each.tensors if one.role == "input"]
    size = (
        f"{amount(sum(one.bytes for one in weights))} of "
        f"{amount(sum(one.float_bytes for one in weights))}"
    )
    return (
        harmless(each.module or each.name)[:40],
        each.op[:24],
        "; ".join(map(tensor_text, weights))[:60],
        "; ".join(map(tensor_text, others))[:60],
        size if weights else "",
    )


def tensor_text(each: QuantizedTensor) -> str:
    """`int8 per channel, ×0.0012–0.0015`; `uint8, ×0.02 +124`; `dynamic int8 per token`."""
    bits = f" ({each.bits} bits)" if each.bits and f"{each.bits}" not in each.dtype else ""
    per = {"": "", "tensor": "", "group": f" per group of {each.group}"}.get(
        each.granularity, f" per {each.granularity}"
    )
    text = f"{'dynamic ' * each.dynamic}{each.dtype}{bits}{per}"
    if len(each.scale) == 2:
        text += f", ×{_ends([f'{one:.3g}' for one in each.scale])}"
    if any(each.zero_point):
        text += f" {_ends([f'{one:+d}' for one in each.zero_point])}"
    return text


def _ends(texts: Sequence[str]) -> str:
    return "–".join(dict.fromkeys(texts))


def _limit_lines(lines: list[str], noun: str) -> list[str]:
    left = len(lines) - _MOST
    return [*lines[:_MOST], f"  … {left:,} more {noun}"] if left > 0 else lines
