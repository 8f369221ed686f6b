"""ONNX: converted by torch.onnx, run by onnxruntime."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind

from export_engine.defects import log_internal_error
from export_engine.run.backend import WARM, Job, Ready, RuntimeNode
from export_engine.run.builtin_backends.arrays import as_array
from export_engine.run.builtin_backends.eager_layouts import replace_views
from export_engine.run.builtin_backends.needs import packages
from export_engine.run.builtin_backends.onnx_nodes import read_nodes
from export_engine.run.op_origins import ops_of, sources_of
from export_engine.torch_internals import as_result, flat_inputs

_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
_FILE = "model.onnx"


class Onnx:
    """`torch.onnx.export`, then an `onnxruntime.InferenceSession`."""

    name = "onnx"
    title = "ONNX Runtime"

    def missing(self, device: str) -> str | None:
        """The converter and the runtime."""
        absent = packages({"onnxscript": "onnxscript", "onnxruntime": "onnxruntime"})
        if absent or device == "cpu":
            return absent
        import onnxruntime

        provider = _PROVIDERS.get(torch.device(device).type)
        if provider in onnxruntime.get_available_providers():
            return None
        return f"This build of onnxruntime cannot run on {device}: onnxruntime-gpu can, on cuda."

    def prepare(self, job: Job) -> Ready:
        """Converts, saves, and opens a session."""
        session, file = _session(job)
        fed = _build_feeds(session, job)
        count = len(job.program.graph_signature.user_outputs)
        return Ready(
            call=lambda: session.run(None, fed),
            result=lambda raw: [torch.from_numpy(value) for value in raw[-count:]],
            saved=file,
        )

    def load(self, job: Job) -> Callable[..., Any]:
        """Converts and opens a session; tensors are its arrays, not copied where they need not."""
        session, _ = _session(job)
        names = [value.name for value in session.get_inputs()]

        def call_session(*args: Any, **kwargs: Any) -> Any:
            values = flat_inputs(job.program, args, kwargs)
            raw = session.run(None, {name: as_array(_input(values, name)) for name in names})
            return as_result(job.program, [torch.from_numpy(value) for value in raw])

        return call_session

    def nodes(self, job: Job, calls: int) -> list[RuntimeNode]:
        """The nodes of the optimized graph, timed by onnxruntime's own profile."""
        converted = _convert(job)
        sources = sources_of(job.program, converted.exported_program.graph.nodes)
        optimized, profile = job.folder / "optimized.onnx", job.folder / "profile"
        session, _ = _make_session(
            job,
            converted,
            optimized_model_filepath=str(optimized),
            enable_profiling=True,
            profile_file_prefix=str(profile),
        )
        fed = _build_feeds(session, job)
        for _ in range(calls + WARM):
            session.run(None, fed)
        return read_nodes(converted.model, optimized, Path(session.end_profiling()), sources)

    def without_values(self) -> str | None:
        """Nothing: each value can be an output."""
        return None

    def values(self, job: Job, space: int) -> dict[str, torch.Tensor]:
        """Each value is made an output, so onnxruntime fuses no op with the next one."""
        converted = _convert(job)
        graph = converted.model.graph
        ops = ops_of(job.program, converted.exported_program.graph.nodes)
        outputs = {output.name for output in graph.outputs}
        entries = {
            output.name: output for node in graph for output in node.outputs if output.name in ops
        }
        graph.outputs.extend(entries[name] for name in entries if name not in outputs)
        session, _ = _make_session(job, converted)
        fed = _build_feeds(session, job)
        found = dict(
            zip(
                (output.name for output in session.get_outputs()),
                session.run(None, fed),
                strict=True,
            )
        )
        return {ops[name]: torch.from_numpy(found[name]) for name in entries}


def _build_feeds(session: Any, job: Job) -> dict[str, Any]:
    values = flat_inputs(job.program, job.args, dict(job.kwargs))
    return {value.name: as_array(_input(values, value.name)) for value in session.get_inputs()}


def _input(values: Mapping[str, Any], name: str) -> Any:
    """An input by its name in the file: one that is also an output is renamed there."""
    return values[name if name in values else name.removesuffix("_orig")]


def _session(job: Job) -> tuple[Any, Path]:
    """A session of the converted program, and the file that it is in."""
    return _make_session(job, _convert(job))


def _convert(job: Job) -> Any:
    axes = _name_axes(job)
    convert = partial(torch.onnx.export, dynamo=True, verbose=False, dynamic_shapes=axes)
    try:
        converted = convert(job.program, ())
    except Exception as error:  # noqa: BLE001 - of attention, it decomposes some to other layouts
        log_internal_error(error, "converting to ONNX")
        converted = convert(replace_views(job.program), ())
    assert converted is not None  # it is None only where torch writes the file itself
    return converted


def _name_axes(job: Job) -> list[dict[int, str]]:
    """The named sizes of each input, as torch.onnx.export takes them: it renames the axes by them.

    A size that comes twice is named where it comes first.
    """
    inputs = {
        spec.arg.name: dict[int, str]()
        for spec in job.program.graph_signature.input_specs
        if spec.kind is InputKind.USER_INPUT and not isinstance(spec.arg, ConstantArgument)
    }
    symbolics: set[str] = set()
    for node in job.program.graph.find_nodes(op="placeholder"):
        for dim, size in enumerate(getattr(node.meta.get("val"), "shape", ())):
            symbolic = str(size)
            name = _SYMBOL.sub(lambda found: job.names.get(found[0], found[0]), symbolic)
            if node.name in inputs and name != symbolic and symbolic not in symbolics:
                symbolics.add(symbolic)
                inputs[node.name][dim] = name
    return list(inputs.values())


_SYMBOL = re.compile(r"\b[a-z]+\d+\b")


def _make_session(job: Job, converted: Any, **settings: Any) -> tuple[Any, Path]:
    import onnxruntime

    file = job.folder / _FILE
    converted.save(file)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only: its warnings go directly to the terminal
    for name, value in settings.items():
        setattr(options, name, value)
    kind, _, number = job.device.partition(":")
    of_provider: list[Any] = [{"device_id": number or "0"}] if kind == "cuda" else [{}]
    session = onnxruntime.InferenceSession(
        file, options, providers=[_PROVIDERS[kind]], provider_options=of_provider
    )
    return session, file
