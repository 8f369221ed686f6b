"""OpenVINO: converted, and compiled for the CPU in full precision."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import torch

from export_engine.process import undone
from export_engine.run.backend import Job, Ready
from export_engine.run.builtin_backends.arrays import as_array
from export_engine.run.builtin_backends.needs import on_cpu, packages
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
        import openvino

        with _disable_telemetry():
            converted = openvino.convert_model(job.program)
        read: list[Any] = []
        inputs = _list_inputs(job)
        for value, parameter in zip(inputs, _parameters(converted, len(inputs)), strict=True):
            if parameter.output(0).get_target_inputs():
                read.append(value)
            else:  # a flag that export specialized has no type to compile
                converted.remove_parameter(parameter)
        file = job.folder / "model.xml"
        openvino.save_model(converted, file, compress_to_fp16=False)
        compiled = openvino.Core().compile_model(
            converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
        )
        fed = {number: as_array(value) for number, value in enumerate(read)}
        request = compiled.create_infer_request()
        count = len(job.program.graph_signature.user_outputs)

        def result(raw: Any) -> list[torch.Tensor]:
            tensors = [torch.from_numpy(raw[number].copy()) for number in range(len(raw))]
            return tensors[-count:]

        return Ready(
            call=lambda: request.infer(fed, share_inputs=True, share_outputs=True),
            result=result,
            saved=job.folder,
        )


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
