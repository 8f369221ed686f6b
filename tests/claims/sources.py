"""Programs of every origin, and what works with each: the table of `docs/reference/sources.md`.

`python -m tests.claims.sources` prints the table; with `--write`, it writes it into the page.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.fx.experimental.proxy_tensor import make_fx

import explorer
from explorer.results.pte import PteFile
from explorer.results.stages import StagesResult
from export_engine.attempt import Failed
from export_engine.record import check_record

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sources.md"
ARCHIVES = Path(__file__).parents[1] / "engine" / "archives"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"


class Net(torch.nn.Module):
    """One that is exported, traced and quantized."""

    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(4, 5)
        self.register_buffer("shift", torch.ones(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.up(x) + self.shift).relu()


X = torch.randn(3, 4)


def exported() -> torch.export.ExportedProgram:
    """As torch.export gives it: the training dialect."""
    shapes = {"x": {0: torch.export.Dim("batch")}}
    return torch.export.export(Net(), (X,), dynamic_shapes=shapes)


def after_a_pass() -> torch.export.ExportedProgram:
    """After a pass that replaces an op."""
    program = exported()
    for node in program.graph.nodes:
        if node.target is torch.ops.aten.relu.default:
            node.target = torch.ops.aten.sigmoid.default
    program.graph_module.recompile()
    return program


def edge(folder: Path) -> Any:
    """ExecuTorch's edge program."""
    from executorch.exir import to_edge

    return to_edge(exported()).exported_program()


def prepared() -> Any:
    """With torchao's observers, calibrated."""
    import torchao.quantization.pt2e.quantizer.x86_inductor_quantizer as x86
    from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config())
    graph = prepare_pt2e(torch.export.export(Net().eval(), (X,)).module(), quantizer)
    graph(X)
    return graph


def converted() -> Any:
    """Quantized by torchao."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e

    return convert_pt2e(prepared())


def quantized() -> torch.export.ExportedProgram:
    """With weights of torchao's tensor subclass."""
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    net = Net().eval()
    quantize_(net, Int8WeightOnlyConfig())
    return torch.export.export(net, (X,))


def lowered() -> Any:
    """ExecuTorch's program with parts for XNNPACK."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    manager = to_edge_transform_and_lower(exported(), partitioner=[XnnpackPartitioner()])
    return manager.exported_program()


def of_dynamo() -> torch.fx.GraphModule:
    """The graph that Dynamo hands to a backend."""
    seen: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        seen.append(graph)
        return graph.forward

    torch.compiler.reset()
    torch.compile(Net(), backend=keep, dynamic=True)(X)
    return seen[0]


def post_grad() -> torch.fx.GraphModule:
    """The graph that Inductor makes kernels of."""
    from torch._inductor import compile_fx, config

    seen: list[torch.fx.GraphModule] = []

    class Keep:
        def __call__(self, graph: torch.fx.Graph) -> None:
            seen.append(torch.fx.GraphModule(graph.owning_module, graph))

        def uuid(self) -> None:
            return None

    torch.compiler.reset()
    with config.patch(post_grad_custom_post_pass=Keep(), force_disable_caches=True):
        torch.compile(Net().eval(), backend=compile_fx.compile_fx)(X)
    return seen[0]


def joint_graph() -> torch.fx.GraphModule:
    """The joint graph of AOTAutograd."""
    from contextlib import ExitStack

    from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

    with ExitStack() as stack:
        return aot_export_joint_with_descriptors(stack, Net(), (X,)).graph_module


def joint_step() -> explorer.Exploration:
    """A training step, by `explorer.explore(joint=True)`."""
    return explorer.explore(lambda model, x: model(x).pow(2).mean(), (Net(), X), joint=True)


def new_file(folder: Path) -> Path:
    """What this torch saves."""
    torch.export.save(exported(), folder / "new.pt2")
    return folder / "new.pt2"


def old_file(folder: Path) -> Path:
    """What an older torch saved."""
    return sorted((ARCHIVES / "torch-2.11").glob("*.pt2"))[0]


def several_parts(folder: Path) -> Path:
    """Two programs, and parts of AOTInductor and ExecuTorch."""
    path = folder / "parts.pt2"
    explorer.Programs({"a": _viewed(exported()), "b": _viewed(after_a_pass())}).save(path)
    with zipfile.ZipFile(path, "a") as archive:
        root = archive.namelist()[0].partition("/")[0]
        archive.writestr(f"{root}/data/aotinductor/gpu/wrapper.so", b"\x7fELF not code")
        archive.writestr(f"{root}/data/executorch/model.pte", b"not read")
    return path


def pte_file(folder: Path) -> Path:
    """ExecuTorch's."""
    return Path(__file__).with_name("delegated.pte")


def package(folder: Path) -> Path:
    """Compiled by AOTInductor, without a program."""
    path = folder / "package.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("m/archive_format", "pt2")
        archive.writestr("m/data/aotinductor/model/kernel_information.json", json.dumps({}))
        archive.writestr("m/data/aotinductor/model/c0.wrapper.cpp", "cpp_fused_add_0(buf0);\n")
    return path


def transformers_folder(folder: Path) -> Path:
    """As transformers' DynamoExporter writes one."""
    from .test_transformers_folder import write_folder

    made = write_folder(folder / "llama", model="model.pt2")
    torch.export.save(exported(), made / "model.pt2")
    return made


def _viewed(program: Any) -> explorer.Exploration:
    found = explorer.view(program)
    assert isinstance(found, explorer.Exploration)
    return found


def _squared(x: torch.Tensor) -> torch.Tensor:
    return (x @ x.T).relu()


class Source(NamedTuple):
    """Where a program comes from."""

    title: str
    make: Callable[[Path], Any]
    needs: str = ""
    """The package that makes it."""


SOURCES = {
    "training": Source("`torch.export.export`", lambda _: exported()),
    "inference": Source("`run_decompositions({})`", lambda _: exported().run_decompositions({})),
    "core": Source("core ATen", lambda _: exported().run_decompositions()),
    "edge": Source("ExecuTorch's edge dialect", edge, "executorch"),
    "lowered": Source("ExecuTorch's lowered program", lambda _: lowered(), "executorch"),
    "quantized": Source("torchao's `quantize_`", lambda _: quantized(), "torchao"),
    "prepared": Source("torchao's `prepare_pt2e`", lambda _: prepared(), "torchao"),
    "converted": Source("torchao's `convert_pt2e`", lambda _: converted(), "torchao"),
    "pass": Source("after a pass of your own", lambda _: after_a_pass()),
    "symbolic_trace": Source("`symbolic_trace`", lambda _: torch.fx.symbolic_trace(Net())),
    "dynamo": Source("Dynamo's graph", lambda _: of_dynamo()),
    "make_fx": Source("`make_fx`", lambda _: make_fx(_squared, tracing_mode="symbolic")(X)),
    "joint": Source("AOTAutograd's joint graph", lambda _: joint_graph()),
    "step": Source("`explore(joint=True)`", lambda _: joint_step()),
    "post_grad": Source("post-grad graph", lambda _: post_grad()),
    "new": Source("`.pt2` of torch", new_file),
    "old": Source("`.pt2` of torch 2.11", old_file),
    "parts": Source("`.pt2` of several parts", several_parts),
    "folder": Source("folder of transformers", transformers_folder),
    "package": Source("AOTInductor package", package),
    "pte": Source("`.pte`", pte_file),
}


def _lines(ex: Any) -> bool:
    stacks = ex.record.graphs[0].stack
    return any(stack >= 0 for stack in stacks)


def _shapes(ex: Any) -> bool:
    record = ex.record
    graph = record.graphs[0]
    return any(kind >= 0 and "[" in record.types[kind].text for kind in graph.type)


def _check_graph(ex: Any) -> bool:
    check_record(ex.record)
    return len(ex.record.graphs[0].name) > 2


def _saves(suffix: str) -> Callable[[Any], bool]:
    def saved(ex: Any) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            return bool(ex.save(Path(folder) / f"x{suffix}").stat().st_size > 1000)

    return saved


COLUMNS: dict[str, Callable[[Any], bool]] = {
    "graph": _check_graph,
    "lines": _lines,
    "signature": lambda ex: len(ex.record.signature.inputs) > 0,
    "shapes": _shapes,
    "findings": lambda ex: isinstance(ex.findings, tuple),
    "query": lambda ex: len(ex.query("kind:op")) > 0,
    "diff": lambda ex: explorer.diff(ex, ex).ok and bool(explorer.diff(ex, exported()).summary),
    "HTML": _saves(".html"),
    ".pt2": _saves(".pt2"),
    "Verify": lambda ex: len(ex.verify(2).guarantees) > 0,
    "Run": lambda ex: len(ex.run().rows) > 0,
    "Watch": lambda ex: ex.record_values() is not None,
    "Compare": lambda ex: ex.compare("bfloat16") is not None,
}
"""Each as a user does it."""


def open_source(name: str, folder: Path) -> Any:
    """The program of a source as it is opened; of a set, its first."""
    made = SOURCES[name].make(folder)
    if isinstance(made, explorer.Exploration):
        return made
    if not isinstance(made, Path):
        return explorer.view(made)
    opened = explorer.view(made)
    if not isinstance(opened, explorer.Exploration | explorer.Programs):
        return opened
    found = explorer.load(made, trusted=True)
    return found if isinstance(found, explorer.Exploration) else next(iter(found.values()))


def cells(name: str, folder: Path) -> list[str]:
    """Per column `✓`, or `–` where that is refused with a sentence or there is nothing to show."""
    opened = open_source(name, folder)
    if isinstance(opened, StagesResult | PteFile):
        assert repr(opened)
        return ["–"] * len(COLUMNS)
    assert not isinstance(opened.session.entry.attempt, Failed)
    return [_cell(opened, works) for works in COLUMNS.values()]


def _cell(opened: Any, works: Callable[[Any], bool]) -> str:
    try:
        return "✓" if works(opened) else "–"
    except (explorer.errors.FixError, explorer.errors.ExportFailed, ValueError):
        return "–"


def row(name: str, marks: list[str]) -> str:
    """A line of the page's table."""
    return f"| {SOURCES[name].title} | {' | '.join(marks)} |"


def head() -> str:
    """The first two lines of the table."""
    return f"| | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}"


def main() -> None:
    """Prints the table, or writes it."""
    lines = [head()]
    for name in SOURCES:
        with tempfile.TemporaryDirectory() as folder:
            lines.append(row(name, cells(name, Path(folder))))
        sys.stdout.write(f"{lines[-1]}\n")
    if "--write" in sys.argv:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        table = "\n".join(lines)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
