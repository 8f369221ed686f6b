"""OpenVINO: converted, and compiled for the CPU in full precision."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import torch

from export_engine.defects import log_internal_error
from export_engine.process import undone
from export_engine.run.backend import WARM, Job, Ready, RuntimeNode
from export_engine.run.builtin_backends.arrays import as_array
from export_engine.run.builtin_backends.needs import on_cpu, packages
from export_engine.run.op_origins import sources_of
from export_engine.torch_internals import flat_inputs


class OpenVino:
    """`openvino.convert_model`, compiled with float32 as its precision.

    Left to itself, OpenVINO computes in bfloat16 where the CPU can: an error of 1e-3 in one layer.
    """

    name = "openvino"
    title = "OpenVINO (float32)"

    def missing(self, device: str) -> str | None:
        """The package."""
        return packages({"openvino": "openvino"}) or on_cpu(device, self.title)

    def prepare(self, job: Job) -> Ready:
        """Converts, saves, and compiles."""
        request, fed = _make_request(job, job.program, {})
        count = len(job.program.graph_signature.user_outputs)

        def result(raw: Any) -> list[torch.Tensor]:
            tensors = [torch.from_numpy(raw[number].copy()) for number in range(len(raw))]
            return tensors[-count:]

        return Ready(
            call=lambda: request.infer(fed, share_inputs=True, share_outputs=True),
            result=result,
            saved=job.folder,
        )

    def nodes(self, job: Job, calls: int) -> list[RuntimeNode]:
        """The layers of the compiled model, timed by OpenVINO's own counters."""
        decoder, sources = _decode(job.program)
        request, fed = _make_request(job, decoder, {"PERF_COUNT": True})
        times: dict[str, list[float]] = defaultdict(list)
        for call in range(calls + WARM):
            request.infer(fed, share_inputs=True, share_outputs=True)
            for layer in request.get_profiling_info() if call >= WARM else ():
                times[layer.node_name].append(layer.real_time / timedelta(microseconds=1))
        return _read_layers(request.get_compiled_model().get_runtime_model(), sources, times)


def without_decoder(program: torch.export.ExportedProgram) -> tuple[Any, dict[str, str]]:
    """The program itself, and its ops by their own names: other layers are of no known op."""
    calls = (node.name for node in program.graph.nodes if node.op == "call_function")
    return program, {name: name for name in calls}


def _decode(program: torch.export.ExportedProgram) -> tuple[Any, dict[str, str]]:
    """OpenVINO's undocumented decoder of a program, and the op of each node that names a layer.

    As `without_decoder` where this version lacks it.
    """
    try:
        from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder

        decoder = TorchFXPythonDecoder.from_exported_program(program)
        return decoder, sources_of(program, decoder.fx_gm.graph.nodes)
    except (ImportError, AttributeError) as error:
        log_internal_error(error, "looking for OpenVINO's decoder")
        return without_decoder(program)


_NO_LAYERS = ("Const", "Input", "Output")


def _read_layers(
    model: Any, sources: Mapping[str, str], times: Mapping[str, Sequence[float]]
) -> list[RuntimeNode]:
    """The layers of a runtime model that compute, in its order.

    Args:
        model: OpenVINO's runtime model; a layer has the names of those that were fused into it,
            `linear/aten.linear.default/Add`, which begin with the name of the torch node.
        sources: per node of the graph that was converted, the op of the program it is a part of.
        times: per layer, microseconds of each call.
    """
    layers = [
        (layer, facts)
        for layer in model.get_ordered_ops()
        if (facts := {name: str(fact.value) for name, fact in layer.get_rt_info().items()})
        and facts.get("layerType") not in _NO_LAYERS
    ]
    numbers = {layer.get_friendly_name(): at for at, (layer, _) in enumerate(layers)}
    nodes = []
    for layer, facts in layers:
        name = layer.get_friendly_name()
        parts = [part.partition("/")[0] for part in facts.get("originalLayersNames", "").split(",")]
        above = [value.get_node().get_friendly_name() for value in layer.input_values()]
        nodes.append(
            RuntimeNode(
                name,
                f"{facts.get('layerType', '')} {facts.get('primitiveType', '')}".strip(),
                tuple(dict.fromkeys(sources[part] for part in parts if part in sources)),
                tuple(dict.fromkeys(numbers[other] for other in above if other in numbers)),
                tuple(times.get(name, ())),
            )
        )
    return nodes


def _make_request(job: Job, program: Any, settings: Mapping[str, Any]) -> tuple[Any, Any]:
    """Converts, saves and compiles a program; a request of it, and the arrays that it reads.

    Args:
        job: what is run.
        program: the job's, or OpenVINO's decoder of it.
        settings: of the CPU device, beside its precision.
    """
    import openvino

    with _disable_telemetry():
        converted = openvino.convert_model(program)
    read: list[Any] = []
    inputs = _list_inputs(job)
    for value, parameter in zip(inputs, _parameters(converted, len(inputs)), strict=True):
        if parameter.output(0).get_target_inputs():
            read.append(value)
        else:  # a flag that export specialized has no type to compile
            converted.remove_parameter(parameter)
    openvino.save_model(converted, job.folder / "model.xml", compress_to_fp16=False)
    compiled = openvino.Core().compile_model(
        converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32", **settings}
    )
    fed = {number: as_array(value) for number, value in enumerate(read)}
    return compiled.create_infer_request(), fed


def _list_inputs(job: Job) -> list[Any]:
    """The inputs of a call in the program's order, in which the converter has them.

    By its names they are not known: of a tree only the first leaf has one, that of the argument.
    """
    values = flat_inputs(job.program, job.args, dict(job.kwargs))
    inputs = job.program.graph_signature.user_inputs
    return [values.get(value) if isinstance(value, str) else value for value in inputs]


def _parameters(converted: Any, count: int) -> list[Any]:
    result = list(converted.get_parameters())
    if len(result) != count:
        raise ValueError(
            f"its converter returned {len(result)} inputs instead of {count}. Decompose the "
            "program first, or report it to OpenVINO."
        )
    return result


@undone
def _disable_telemetry() -> Iterator[None]:
    """Keeps the converter from reporting its use over the network, which it does unasked.

    It stays silent where `CI` is set. A user who has told OpenVINO otherwise is not asked again.
    """
    before = os.environ.get("CI")
    os.environ["CI"] = "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ["CI"]
        else:
            os.environ["CI"] = before
