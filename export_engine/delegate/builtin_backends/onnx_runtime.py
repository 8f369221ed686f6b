"""ONNX Runtime: which execution provider runs each node of the converted model."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from export_engine.capture import descriptors_quiet
from export_engine.delegate.backend import Lowered, Placement, Verdict
from export_engine.run import Origins, packages
from export_engine.torch_internals import (
    OpOverload,
    copy_program,
    decompose_for_onnx,
    onnx_converts,
)

_ASSIGNMENT = "session.record_ep_graph_assignment_info"


class OnnxRuntime:
    """The providers of the installed ONNX Runtime, in its order. Each tells what it took."""

    name = "onnxruntime"
    title = "ONNX Runtime"

    def missing(self) -> str | None:
        """The packages."""
        return packages({"onnxruntime": "onnxruntime", "onnxscript": "onnxscript"})

    def lower(self, program: torch.export.ExportedProgram) -> Lowered:
        """Converts, and makes a session that notes which provider has each node."""
        import onnxruntime

        converted = _convert(program)
        origin = _find_origins(program, converted)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.onnx"
            with descriptors_quiet():
                converted.save(str(file), external_data=True)
                placed = list(_iter_assignments(file))
        notes = ["An op of several ONNX nodes counts as placed if one provider runs all of them."]
        return Lowered(
            program=None,
            placements=tuple(
                Placement(name, op, origin.get(name, ""), where) for where, name, op in placed
            ),
            version=f"onnxruntime {version('onnxruntime')}, {_list_providers(onnxruntime)}",
            notes=tuple(notes),
        )

    def can_take(self, program: torch.export.ExportedProgram) -> dict[str, Verdict]:
        """Whether torch.onnx converts each op, or all that it decomposes it to."""
        with descriptors_quiet():
            decomposed = decompose_for_onnx(copy_program(program))
        if decomposed is None:
            return {}
        origins, verdicts = Origins(program), dict[str, Verdict]()
        for node in decomposed.graph.nodes:
            origin = origins.of(node)
            if node.op != "call_function" or not origin or not isinstance(node.target, OpOverload):
                continue
            verdict = Verdict(True)
            if not onnx_converts(node.target):
                told = f"torch.onnx has no converter for {node.target}"
                verdict = Verdict(False, told, "no rule")
            if origin not in verdicts or verdicts[origin].is_taken:
                verdicts[origin] = verdict
        return verdicts


def _convert(program: torch.export.ExportedProgram) -> Any:
    with descriptors_quiet():
        return torch.onnx.export(copy_program(program), dynamo=True, verbose=False)


def _iter_assignments(file: Path) -> Iterator[tuple[str, str, str]]:
    """Provider, name and type of each node, after the session's own changes to the graph."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry(_ASSIGNMENT, "1")
    providers = onnxruntime.get_available_providers()
    session = onnxruntime.InferenceSession(str(file), options, providers=providers)
    for part in session.get_provider_graph_assignment_info():
        for node in part.get_nodes():
            yield part.ep_name, node.name, node.op_type


def _find_origins(program: torch.export.ExportedProgram, converted: Any) -> dict[str, str]:
    """Per ONNX node, the op of the program; torch.onnx names ops of a decomposed copy."""
    origins, copied = Origins(program), getattr(converted, "exported_program", None)
    names = {} if copied is None else {node.name: origins.of(node) for node in copied.graph.nodes}
    called = {node.name: _fx_node(node) for node in converted.model.graph}
    return {name: names.get(text, text) for name, text in called.items()}


def _fx_node(node: Any) -> str:
    """The op that an ONNX node was made of, as torch.onnx noted it."""
    scopes = node.metadata_props.get("pkg.torch.onnx.name_scopes", "")
    try:
        names = ast.literal_eval(scopes) if scopes else []
    except (ValueError, SyntaxError):
        return ""
    return str(names[-1]) if names else ""


def _list_providers(onnxruntime: Any) -> str:
    return ", ".join(onnxruntime.get_available_providers())
