"""OpenVINO: which ops a device runs, as `query_model` says before anything is compiled."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import torch

from export_engine.capture import descriptors_quiet
from export_engine.delegate.backend import Lowered, Placement, Verdict
from export_engine.delegate.executorch_names import PrivateName
from export_engine.run import Origins, packages
from export_engine.torch_internals import copy_program

DECODER = PrivateName(
    "openvino.frontend.pytorch.fx_decoder",
    "TorchFXPythonDecoder",
    "This version of OpenVINO does not report which op a layer comes from; only equal names are "
    "matched.",
)
_PLUMBING = ("Constant", "Parameter", "Result")


class OpenVino:
    """A device of OpenVINO's: the CPU, or the one that a name after a dot says."""

    name = "openvino"
    title = "OpenVINO"
    device = "CPU"

    def missing(self) -> str | None:
        """The package."""
        return packages({"openvino": "openvino"})

    def lower(self, program: torch.export.ExportedProgram) -> Lowered:
        """Converts and compiles; the compiled model says which layers it runs."""
        import openvino

        with descriptors_quiet():
            core = openvino.Core()
            model, origins = _convert(program)
            compiled = core.compile_model(model, self.device)
            run = _layers(compiled.get_runtime_model())
        taken = core.query_model(model, self.device)
        placements = tuple(
            Placement(
                name, kind, origins.get(_node(name), ""), self.device if name in taken else ""
            )
            for name, kind in _ops(model)
        )
        notes = (
            f"{len(run)} layers run on {self.device}; the others were folded into them or "
            "computed ahead of time."
        )
        return Lowered(
            program=None,
            placements=placements,
            version=f"openvino {version('openvino')}, {self.device}",
            notes=(notes,),
        )

    def can_take(self, program: torch.export.ExportedProgram) -> dict[str, Verdict]:
        """Converts, and asks the device. Nothing is compiled."""
        import openvino

        with descriptors_quiet():
            core = openvino.Core()
            try:
                model, origins = _convert(program)
            except RuntimeError as error:
                return _judge_unconverted(program, str(error))
            taken = core.query_model(model, self.device)
        verdicts: dict[str, Verdict] = {}
        for name, kind in _ops(model):
            origin = origins.get(_node(name), "")
            if not origin:
                continue
            verdict = Verdict(True)
            if name not in taken:
                verdict = Verdict(
                    False, f"OpenVINO's {self.device} device does not run {kind}", "no rule"
                )
            if origin not in verdicts or verdicts[origin].is_taken:
                verdicts[origin] = verdict
        return verdicts


def _convert(program: torch.export.ExportedProgram) -> tuple[Any, dict[str, str]]:
    """The converted model, and the op of the program by the name of the op it was decomposed to.

    Raises:
        RuntimeError: it has no conversion for an op.
    """
    import openvino

    decoder = DECODER.find()
    if decoder is None:
        model = openvino.convert_model(copy_program(program))
        return model, {node.name: node.name for node in program.graph.nodes}
    decoded, sources = decoder.from_exported_program(copy_program(program)), Origins(program)
    named = {
        node.name: sources.of(node)
        for node in decoded.pt_module.graph.nodes
        if node.op == "call_function"
    }
    return openvino.convert_model(decoded), named


def _node(name: str) -> str:
    """`relu` of OpenVINO's `relu/aten.relu.default/Relu`."""
    return name.partition("/")[0]


_NO_RULE = re.compile(r"No conversion rule found for operations: (.+)")


def _judge_unconverted(program: torch.export.ExportedProgram, said: str) -> dict[str, Verdict]:
    """For a program that OpenVINO cannot convert: the ops for which it has no rule.

    The others are unknown, since the conversion ended.
    """
    named = {op.strip() for ops in _NO_RULE.findall(said) for op in ops.split(",")}
    return {
        node.name: Verdict(False, f"OpenVINO has no conversion for {node.target}", "no rule")
        for node in program.graph.nodes
        if node.op == "call_function" and str(node.target) in named
    }


def _ops(model: Any) -> list[tuple[str, str]]:
    """The name and the type of each op, constants and the ends of the model left out."""
    named = ((op.get_friendly_name(), op.get_type_name()) for op in model.get_ordered_ops())
    return [(name, kind) for name, kind in named if kind not in _PLUMBING]


def _layers(model: Any) -> list[str]:
    """The layers that run."""
    return [name for name, kind in _ops(model) if kind]
