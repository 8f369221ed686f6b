"""Archives that torch 2.11 to 2.15 wrote open alike; `archives/make.py` makes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import torch

import explorer
from export_engine.record import Record

from .archives.make import MODELS

HERE = Path(__file__).parent / "archives"
VERSIONS = sorted(folder.name for folder in HERE.iterdir() if folder.name.startswith("torch-"))
NAMES = [make.__name__ for make in MODELS]


def opened(version: str, name: str) -> Record:
    return explorer.load(HERE / version / f"{name}.pt2").record


def test_there_is_one_of_each_supported_torch() -> None:
    assert [f"torch-2.{minor}" for minor in range(11, 16)] == VERSIONS
    assert [[file.stem for file in sorted((HERE / each).iterdir())] for each in VERSIONS] == [
        sorted(NAMES)
    ] * len(VERSIONS)
    assert sum(file.stat().st_size for file in HERE.rglob("*.pt2")) < 1_500_000


@pytest.mark.after_check
@pytest.mark.parametrize("name", NAMES)
def test_they_open_alike_and_say_which_torch_made_them(name: str) -> None:
    records = {version: opened(version, name) for version in VERSIONS}
    newest = records[VERSIONS[-1]]
    for version, record in records.items():
        assert version == "torch-" + ".".join(record.torch_version.split(".")[:2])
        assert not [note for note in record.warnings if "cannot be read" in note]
        assert same(record) == same(newest), version
        assert explorer.diff(HERE / version / f"{name}.pt2", HERE / VERSIONS[-1] / f"{name}.pt2").ok


def same(record: Record) -> Record:
    """What does not depend on the torch that wrote it: where in torch a line is does."""
    empty = msgspec.structs.replace(record.frames, line=record.frames.line[:0])
    return msgspec.structs.replace(record, torch_version="", frames=empty)


@pytest.mark.parametrize("version", VERSIONS)
def test_they_show_what_is_in_them(version: str) -> None:
    derived = opened(version, "derived")
    assert {each.range for each in derived.symbols} == {"[2, 32]"}
    assert [graph.title for graph in opened(version, "branching").graphs] == [
        "main",
        "true_fn",
        "false_fn",
    ]
    kinds = [each.kind for each in opened(version, "counting").signature.inputs]
    assert sorted(kinds) == ["buffer", "buffer", "user_input"]
    paths = [each.path for each in opened(version, "trees").signature.inputs]
    assert paths == ["pair.0", "pair.1", "more.a", "scale"]
    unbacked = opened(version, "unbacked")
    assert [each.range for each in unbacked.symbols] == ["[2, 63]"]


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_a_program_is_made_of_them_where_this_torch_can(version: str) -> None:
    for name in NAMES:
        ex = explorer.load(HERE / version / f"{name}.pt2", trusted=True)
        shown = ex.record
        assert isinstance(ex.program, torch.export.ExportedProgram)
        assert ex.record.graphs == shown.graphs


@pytest.mark.slow
def test_opening_one_costs_no_torch() -> None:
    code = (
        "import explorer, sys; ex = explorer.load(sys.argv[1]); repr(ex); "
        "print('torch' in sys.modules, 'sympy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(HERE / VERSIONS[0] / "derived.pt2")],
        cwd=HERE.parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False False"
