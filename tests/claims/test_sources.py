"""What works with programs of every origin is what the table of the docs says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import explorer

from .sources import PAGE, SOURCES, cells, edge, exported, head, row, several_parts

QUICK = ("training", "symbolic_trace", "make_fx", "joint", "package", "pte")
"""Those that are tried each time; the others take seconds."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.thorough) for n in SOURCES]
)
def test_what_works_is_what_the_table_says(name: str, tmp_path: Path) -> None:
    needs = SOURCES[name].needs
    if needs and importlib.util.find_spec(needs) is None:
        pytest.skip(f"needs {needs}")
    assert row(name, cells(name, tmp_path)) in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_table_has_a_row_for_each_source() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert head().splitlines()[0] in lines
    rows = [each.split(" | ")[0].removeprefix("| ") for each in lines if each.startswith("| ")]
    assert rows[1:] == [each.title for each in SOURCES.values()]


def test_each_part_of_a_file_is_listed(tmp_path: Path) -> None:
    kit = explorer.load(several_parts(tmp_path))
    assert list(kit) == ["a", "b"]
    said = " ".join(kit["a"].record.warnings)
    assert "compiled by AOTInductor" in said
    assert "gpu" in said
    assert "model.pte" in said


def test_a_decomposed_program_is_compared_by_where_its_ops_come_from() -> None:
    before, after = explorer.view(exported()), explorer.view(exported().run_decompositions())
    assert isinstance(before, explorer.Exploration)
    assert isinstance(after, explorer.Exploration)
    (became,) = explorer.diff(before, after).diff.graphs[0].became
    assert [_op(before, node) for node in became.before] == ["aten.linear.default"]
    assert "aten.addmm.default" in [_op(after, node) for node in became.after]


@pytest.mark.thorough
def test_an_edge_op_is_the_aten_op_that_it_comes_from(tmp_path: Path) -> None:
    pytest.importorskip("executorch", reason="needs executorch")
    before, after = explorer.view(exported()), explorer.view(edge(tmp_path))
    assert isinstance(before, explorer.Exploration)
    assert isinstance(after, explorer.Exploration)
    ops = {target.name: target for target in after.record.targets}
    assert ops["aten.relu.default"].schema
    assert after.cost().flops
    pairs = explorer.diff(before, after).diff.graphs[0].pairs
    names = [_op(before, pair.before) for pair in pairs if pair.why == "provenance"]
    assert names == ["aten.add.Tensor", "aten.relu.default"]
    after.save(tmp_path / "edge.pt2")
    loaded = explorer.load(tmp_path / "edge.pt2")
    assert isinstance(loaded, explorer.Exploration)
    assert not loaded.record.warnings
    assert explorer.diff(after, loaded).diff.identical


def _op(ex: explorer.Exploration, node: int) -> str:
    return ex.record.targets[ex.record.graphs[0].target[node]].name


def test_a_set_is_what_holds_several_programs() -> None:
    program = exported()

    class Manager:
        """As ExecuTorch's EdgeProgramManager is."""

        methods = ("forward", "encode")

        def exported_program(self, name: str) -> object:
            return program

    kit = explorer.view(Manager())
    assert isinstance(kit, explorer.Programs)
    assert list(kit) == ["encode", "forward"]
    assert explorer.diff(kit, {"forward": program, "encode": program}).ok
