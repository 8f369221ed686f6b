"""Programs that exist already, whatever made them: opened without exporting or running anything."""

from __future__ import annotations

import copy
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.shape_prop import ShapeProp

import explorer
from explorer.results.pte import PteFile
from export_engine.archive import ArchiveError
from export_engine.record import check_record


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(4, 5)
        self.register_buffer("shift", torch.ones(5))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"y": (self.up(x) + self.shift).relu(), "total": x.sum()}


X = torch.randn(3, 4)


def exported() -> torch.export.ExportedProgram:
    return torch.export.export(Net(), (X,), dynamic_shapes={"x": {0: torch.export.Dim("batch")}})


def after_a_pass() -> torch.export.ExportedProgram:
    program = exported()
    for node in program.graph.nodes:
        if node.target is torch.ops.aten.relu.default:
            node.target = torch.ops.aten.sigmoid.default
    program.graph_module.recompile()
    return program


def with_shapes() -> torch.fx.GraphModule:
    graph = torch.fx.symbolic_trace(Net())
    ShapeProp(graph).propagate(X)
    return graph


def of_dynamo() -> torch.fx.GraphModule:
    seen: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        seen.append(graph)
        return graph.forward

    torch.compile(Net(), backend=keep, dynamic=True)(X)
    return seen[0]


PROGRAMS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "training": (exported, "ExportedProgram", "aten.relu.default"),
    "inference": (
        lambda: exported().run_decompositions({}),
        "ExportedProgram",
        "aten.relu.default",
    ),
    "core": (lambda: exported().run_decompositions(), "ExportedProgram", "aten.addmm.default"),
    "after_a_pass": (after_a_pass, "ExportedProgram", "aten.sigmoid.default"),
    "symbolic_trace": (lambda: torch.fx.symbolic_trace(Net()), "GraphModule", "Tensor.relu"),
    "shape_prop": (with_shapes, "GraphModule", "Tensor.relu"),
    "make_fx": (
        lambda: make_fx(lambda x: (x @ x.T).relu(), tracing_mode="symbolic")(X),
        "GraphModule",
        "aten.relu.default",
    ),
    "dynamo": (of_dynamo, "GraphModule", "Tensor.relu"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_any_program_is_read(name: str, tmp_path: Any) -> None:
    make, kind, op = PROGRAMS[name]
    program = make()
    nodes = [(node.name, node.target, dict(node.meta)) for node in program.graph.nodes]
    ex = explorer.view(program)
    record = ex.record
    assert ex.ok
    assert record.verdict.startswith(kind)
    assert record.mode == "given"
    assert op in [each.name for each in record.targets]
    check_record(record)
    assert len(ex.query("kind:op")) >= 3
    assert explorer.diff(ex, program).ok
    assert ex.save(tmp_path / "page.html").stat().st_size > 10_000
    assert ex._repr_mimebundle_()
    same = [(node.name, node.target, dict(node.meta)) for node in program.graph.nodes]
    assert same == nodes  # nothing was written to it


def test_a_graph_without_nodes_opens_and_is_identical_to_itself() -> None:
    ex = explorer.view(torch.fx.GraphModule({}, torch.fx.Graph()))
    assert isinstance(ex, explorer.Exploration)
    assert explorer.diff(ex, ex).diff.identical
    other = explorer.view(torch.fx.symbolic_trace(torch.nn.ReLU()))
    assert isinstance(other, explorer.Exploration)
    assert not explorer.diff(ex, other).ok
    assert not explorer.diff(other, ex).ok


def test_a_graph_that_has_lost_an_attribute_is_read() -> None:
    graph = torch.fx.symbolic_trace(Net())
    del graph.shift
    assert explorer.view(graph).record.verdict.startswith("GraphModule")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shape_prop", "make_fx", "dynamo"])
def test_a_graph_says_its_sizes(name: str) -> None:
    record = explorer.view(PROGRAMS[name][0]()).record
    types = [record.types[record.graphs[0].type[node]].text for node in range(3)]
    assert any(text.startswith("f32[") for text in types)
    assert [each.range for each in record.symbols] == {
        "shape_prop": [],
        "make_fx": ["[2, ∞)"] * 2,
        "dynamo": ["[2, ∞)"],
    }[name]


def test_what_a_graph_cannot_do_is_said() -> None:
    ex = explorer.view(torch.fx.symbolic_trace(Net()))
    for act in (ex.verify, ex.run, ex.decompose, ex.record_values, lambda: ex.program):
        with pytest.raises(
            explorer.errors.FixError, match="a GraphModule cannot be run as a program"
        ):
            act()


def test_a_program_in_hand_is_verified_and_run() -> None:
    ex = explorer.view(exported().run_decompositions({}))
    verified = ex.verify()
    assert not verified.broken
    lacking = {each.name: each.sentence for each in verified.guarantees if each.lacking}
    assert lacking["sound"] == "The program was opened without its eager model."
    assert [row.outcome for row in ex.run().rows] == ["agrees"]
    core = ex.decompose("core")
    assert core.record.verdict.startswith("ExportedProgram, decomposed (core)")


def test_other_inputs_are_of_the_view_alone() -> None:
    program = exported()
    before = program.example_inputs
    ex = explorer.view(program, (torch.randn(7, 4),))
    assert ex.program.example_inputs is not None
    assert ex.program.example_inputs[0][0].shape == (7, 4)
    assert program.example_inputs is before
    with pytest.raises(TypeError, match="Pass the positional arguments as a tuple"):
        explorer.view(program, torch.randn(7, 4))  # type: ignore[arg-type]


def test_several_programs_are_a_set() -> None:
    program = exported()
    kit = explorer.view({"one": program, "other": copy.copy(program)})
    assert isinstance(kit, explorer.Programs)
    assert list(kit) == ["one", "other"]
    assert kit.record.title
    graphs = explorer.view({"graph": torch.fx.symbolic_trace(Net()), "program": program})
    assert isinstance(graphs, explorer.Programs)
    assert graphs.record.title == "dict"
    assert repr(graphs)


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Net is not a program.*explorer\.explore exports"):
        explorer.view(Net())


def test_exploring_a_program_opens_it() -> None:
    assert explorer.explore(exported()).record.mode == "given"


@pytest.mark.slow
def test_an_edge_program_beside_the_program_that_it_came_from() -> None:
    exir = pytest.importorskip("executorch.exir", reason="needs pip install '.[executorch]'")
    program = exported()
    edge = explorer.view(exir.to_edge(program))
    assert isinstance(edge, explorer.Programs)
    assert edge["forward"].record.verdict.startswith("edge program")
    assert not explorer.diff(program, edge["forward"]).ok


PTE = Path(__file__).parents[1] / "claims" / "delegated.pte"


def test_a_file_is_what_its_bytes_say(tmp_path: Path) -> None:
    torch.export.save(exported(), tmp_path / "program.pte")
    assert explorer.view(tmp_path / "program.pte").record.verdict.startswith("loaded")
    shutil.copy(PTE, tmp_path / "delegated.pt2")
    assert isinstance(explorer.view(tmp_path / "delegated.pt2"), PteFile)
    with pytest.raises(ArchiveError, match=r"is an ExecuTorch \.pte file"):
        explorer.load(tmp_path / "delegated.pt2")
    with pytest.raises(ArchiveError, match=r"nothing\.pte does not exist"):
        explorer.view(tmp_path / "nothing.pte")


def test_what_holds_files_names_them(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is a folder without a program"):
        explorer.view(tmp_path)
    torch.export.save(exported(), tmp_path / "program.pt2")
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer:
        outer.write(tmp_path / "program.pt2", "program.pt2")
    for path in (tmp_path, tmp_path / "outer.zip"):
        assert [*explorer.view(path)] == ["program"]
    with zipfile.ZipFile(tmp_path / "program.pt2") as archive:
        archive.extractall(tmp_path / "unpacked")
    with pytest.raises(ArchiveError, match=r"is an unpacked \.pt2 file"):
        explorer.view(tmp_path / "unpacked")


@pytest.mark.parametrize(
    "given", [{"one": Net()}, {}, "model.pt2", Path("model.pt2")], ids=["modules", "{}", "s", "p"]
)
def test_explore_and_load_name_view_for_what_they_do_not_open(given: object) -> None:
    with pytest.raises(TypeError, match=r"is not callable|explorer\.view opens programs and files"):
        explorer.explore(given)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"is not a path. explorer\.view opens"):
        explorer.load({"one": exported()})  # type: ignore[call-overload]


def test_meta_that_a_pass_left_in_another_form_is_left_out() -> None:
    for key, noted in {
        "stack_trace": 3,
        "nn_module_stack": {1: ("a", "b")},
        "val": object(),
    }.items():
        program = copy.deepcopy(exported())
        for node in program.graph.nodes:
            node.meta[key] = noted
        assert explorer.view(program).record.graphs


def test_names_of_a_set_may_be_numbers(tmp_path: Path) -> None:
    kit = explorer.view({1: exported()})
    assert isinstance(kit, explorer.Programs)
    assert kit.save(tmp_path / "set.pt2")


class Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, *, scale: torch.Tensor) -> torch.Tensor:
        return x * scale


def test_inputs_go_where_the_export_had_them() -> None:
    x, scale = torch.ones(2), torch.full((2,), 3.0)
    program = torch.export.export(Scaled(), (x,), {"scale": scale})
    for inputs in ((x, scale), {"x": x, "scale": scale}):
        example = explorer.view(program, inputs).program.example_inputs
        assert example is not None
        assert [len(example[0]), list(example[1])] == [1, ["scale"]]
    with pytest.raises(ValueError, match="The program accepts x, scale, but got x"):
        explorer.view(program, {"x": x})
