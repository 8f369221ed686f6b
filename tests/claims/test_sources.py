"""What works with programs of every origin is what the table of the docs says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import explorer

from .sources import PAGE, SOURCES, cells, exported, head, row, several_parts

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
