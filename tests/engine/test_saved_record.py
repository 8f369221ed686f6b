"""Saving a program with what is known of it, and opening it again."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from export_engine.archive import RECORD, ArchiveError, load, read, save
from export_engine.attempt import Exported
from export_engine.describe import describe
from export_engine.record import Record, from_json, to_json
from export_engine.source import SourceMissing, source_text, with_sources

from .. import models


class Derived(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y[1:]


def exported(case: models.Case) -> tuple[Exported, Record]:
    attempt = models.exported(case)
    return attempt, describe(attempt)


def derived() -> models.Case:
    return models.Case(Derived(), (torch.randn(5), torch.randn(6)), shapes="x: n; y: n + 1")


def custom() -> models.Case:
    @torch.library.custom_op("saved_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.saved_tests.twice(x) + 1

    return models.Case(Twice(), (torch.randn(3, 4),), shapes="x: batch, _")


@pytest.mark.parametrize(
    "make",
    [models.bert2, models.gpt2_2, partial(models.llama, 2), models.branching, derived, custom],
)
@pytest.mark.slow
def test_what_is_saved_is_what_is_loaded(make: Callable[[], Any], tmp_path: Path) -> None:
    attempt, record = exported(make())
    path = save(attempt, record, tmp_path / "model.pt2")
    loaded = load(path)
    again = describe(loaded)
    same = msgspec.structs.replace(
        again, title=record.title, mode=record.mode, verdict=record.verdict
    )
    assert same == msgspec.structs.replace(with_sources(record), sources_inside=True)
    assert (again.title, again.mode) == ("model.pt2", "loaded")
    assert again.verdict.startswith("loaded, ")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    attempt, record = exported(derived())
    return save(attempt, record, tmp_path / "derived.pt2")


def rewritten(path: Path, change: Callable[[Any], Any]) -> Path:
    """The file with another Record in it."""
    other = path.with_name("changed.pt2")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(other, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith(RECORD):
                data = change(data)
            target.writestr(entry.filename, data)
    return other


def changed(**fields: Any) -> Callable[[bytes], bytes]:
    return lambda data: json.dumps({**json.loads(data), **fields}).encode()


def deep(path: list[Any], value: Any) -> Callable[[bytes], bytes]:
    """Sets one field somewhere inside."""

    def change(data: bytes) -> bytes:
        record = json.loads(data)
        inside = record
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = value
        return json.dumps(record).encode()

    return change


def test_a_record_of_before_the_containers_of_a_call_is_kept(saved: Path) -> None:
    def change(data: bytes) -> bytes:
        record = json.loads(data)
        for name in ("takes", "returns"):
            del record["signature"][name]
        return json.dumps(record).encode()

    found = read(rewritten(saved, change))
    assert found.kept
    assert found.record.signature == read(saved).record.signature


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data[:100],
        lambda data: b"[1, 2]",
        changed(schema=99),
        changed(outcome="failed"),
        changed(graphs=[]),
        changed(strings=[]),
        deep(["graphs", 0, "type"], [9999]),
        deep(["graphs", 0, "inputs", "starts"], [0, 5, 2]),
        deep(["graphs", 0, "nested"], [{"node": 0, "graph": 0, "argument": "f"}]),
        deep(["guards", 0, "stack"], 12345),
        deep(["symbols", 0, "places", 0, "entry"], -7),
        deep(["frames", "file"], ["<script>"]),
    ],
)
@pytest.mark.slow
def test_a_record_that_does_not_hold_together_is_left_aside(
    saved: Path, change: Callable[[Any], Any]
) -> None:
    attempt = load(rewritten(saved, change))
    assert attempt.kept is None
    record = describe(attempt)
    assert record.graphs
    assert any("holds only the program" in warning for warning in record.warnings)


@pytest.mark.slow
def test_the_record_of_another_program_is_left_aside(saved: Path, tmp_path: Path) -> None:
    _, record = exported(models.branching())
    other = to_json(record)
    loaded = load(rewritten(saved, lambda data: other))
    assert loaded.kept is None
    assert any("belongs to a different program" in warning for warning in loaded.warnings)


def test_the_text_of_the_files_travels_along(saved: Path) -> None:
    record = describe(load(saved))
    number = next(n for n, file in enumerate(record.files) if file.name == "test_saved_record.py")
    assert "class Derived" in source_text(record, number)
    assert record.guards[0].stack >= 0


def test_no_file_is_opened_for_a_path_that_an_archive_names(saved: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    files = [{"path": str(secret), "name": "secret.txt", "origin": "user"}]
    attempt = load(rewritten(saved, changed(files=files * 9)))
    assert attempt.kept is None  # its lines are those of other files than the program's
    assert not any(each.path == str(secret) for each in describe(attempt).files)
    record = describe(load(saved))
    emptied = [msgspec.structs.replace(each, text="") for each in record.files]
    with pytest.raises(SourceMissing, match="Paths in an archive are never opened"):
        source_text(msgspec.structs.replace(record, files=emptied), 0)


def test_a_save_that_fails_leaves_the_file_that_was_there(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt, record = exported(derived())
    before = saved.read_bytes()

    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr(torch.export, "save", broken)
    with pytest.raises(ArchiveError, match="disk full"):
        save(attempt, record, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_record_is_json_and_back() -> None:
    _, record = exported(derived())
    assert from_json(to_json(record)) == record
    assert json.loads(to_json(record))["symbols"][0]["name"] == "n"
