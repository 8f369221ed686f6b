"""How a program is quantized, and its loss of accuracy: `ex.quantization`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from explorer.session.session import Session
from explorer.text.escape import harmless
from explorer.text.run_text import amount

if TYPE_CHECKING:
    from export_engine.progress import Progress
    from export_engine.record import Quantization, QuantizedTensor, Record


class Layer(NamedTuple):
    """One quantized op."""

    name: str
    """Of its node."""
    op: str
    """`linear`; of a lowered one what it became, `_int_mm`."""
    module: str
    """The module that it is in; empty where tracing recorded none."""
    scheme: str
    """`int8 weights, dynamic int8 inputs`."""
    tensors: tuple[QuantizedTensor, ...]
    result: str
    """The node that has its floating-point value."""

    @property
    def weight(self) -> QuantizedTensor | None:
        """Its weight, if that is quantized."""
        return next((tensor for tensor in self.tensors if tensor.role == "weight"), None)


class LeftInFloat(NamedTuple):
    """An op that is usually quantized, and is not."""

    name: str
    op: str
    module: str
    why: str
    bytes: int
    """Of its weight."""


class LayerError(NamedTuple):
    """The error that quantizing one layer adds to the float program."""

    layer: Layer
    own: float
    """Norm of the error that the layer adds by itself, over the norm of the float value."""
    relative: float
    """The same of the error that its value has in the quantized program."""
    sqnr: float
    """Signal to quantization noise of that value, in dB."""


class Accuracy(tuple[LayerError, ...]):
    """The errors of layers, in the order of execution. `print` it."""

    __slots__ = ()

    @property
    def worst(self) -> LayerError | None:
        """The layer that adds the largest error."""
        return max(self, key=lambda each: each.own, default=None)

    def __str__(self) -> str:
        return "\n".join(accuracy_lines(self, self.worst))


class Quantized:
    """The quantized parts of a program. `print` it; `layers`, `in_float`, `accuracy(...)`."""

    def __init__(self, session: Session, number: int) -> None:
        """Make one.

        Args:
            session: whose attempt.
            number: the attempt's.
        """
        self._session = session
        self._number = number

    @property
    def _record(self) -> Record:
        return self._session.entries[self._number].record

    @property
    def _found(self) -> Quantization | None:
        return self._record.quantization

    def __bool__(self) -> bool:
        return self._found is not None

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The quantized ops, in the order of execution."""
        quantized_layers = self._found.layers if self._found else []
        return tuple(
            Layer(
                *self._place(quantized_layer.node),
                quantized_layer.scheme,
                tuple(quantized_layer.tensors),
                self._name(quantized_layer.result),
            )
            for quantized_layer in quantized_layers
        )

    @property
    def in_float(self) -> tuple[LeftInFloat, ...]:
        """Convolutions, linears, embeddings and matmuls that are not quantized, and why."""
        float_ops = self._found.in_float if self._found else []
        return tuple(
            LeftInFloat(*self._place(float_op.node), float_op.why, float_op.bytes)
            for float_op in float_ops
        )

    @property
    def bytes(self) -> int:
        """Bytes of the weights and constants that ops read; 0 if nothing is quantized."""
        return self._found.bytes if self._found else 0

    @property
    def float_bytes(self) -> int:
        """The same, with every quantized weight in its floating-point dtype."""
        return self._found.float_bytes if self._found else 0

    @property
    def unread_bytes(self) -> int:
        """Bytes of tensors in the program that no op reads, such as the float weights."""
        return self._found.unread_bytes if self._found else 0

    def accuracy(
        self,
        against: Any,
        *,
        inputs: Any = None,
        device: str = "cpu",
        progress: Callable[[Progress], None] | None = None,
    ) -> Accuracy:
        """Runs this program and the float one, and measures the error that each layer adds.

        Layers are matched by module, a convolution together with the batch norm folded into it.
        The view's Values pane shows all ops; see `Exploration.compare`.

        Args:
            against: the result or ExportedProgram of the float model, with the same inputs.
            inputs: see `run`.
            device: where both run.
            progress: called every fifty ops.

        Raises:
            FixError: a program raises an error, or there are no such inputs.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from explorer.results.compared_runs import compare_values

        compared_runs = compare_values(
            self._session, self._number, against, inputs, device, progress
        )
        rows = compared_runs.rows
        return Accuracy(
            LayerError(layer, row.own.relative, row.error.relative, row.error.sqnr)
            for layer in self.layers
            if (row := rows.get(layer.result)) is not None
        )

    def _name(self, node: int) -> str:
        record = self._record
        return record.strings[record.graphs[0].name[node]]

    def _place(self, node: int) -> tuple[str, str, str]:
        """A node's name, what it calls, and its module."""
        record, graph = self._record, self._record.graphs[0]
        target, scope = graph.target[node], graph.scope[node]
        op = record.targets[target].label if target >= 0 else ""
        return self._name(node), op, record.scopes[scope].path if scope >= 0 else ""

    def __repr__(self) -> str:
        if self._found is None:
            return "Nothing in this program is quantized."
        return "\n".join(quantization_lines(self._found, self.layers, self.in_float))


_MOST = 40


def quantization_lines(
    found: Quantization, layers: Sequence[Layer], in_float: Sequence[LeftInFloat]
) -> list[str]:
    """A head with bytes, a line per layer, then what stayed in float and why."""
    count = len(layers)
    head = (
        f"{count} quantized op{'s' * (count != 1)}; weights and buffers take "
        f"{amount(found.bytes)}, instead of {amount(found.float_bytes)} in float"
    )
    if found.unread_bytes:
        head += f"; {amount(found.unread_bytes)} more are stored but read by no op"
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
        return ["No layer has a match in the float program."]
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
