"""Opening `.pt2` files: good ones, and everything else that has the name."""

from __future__ import annotations

import errno
import gc
import json
import signal
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.utils._pytree import MappingKey, register_pytree_node

from export_engine.archive import ArchiveError, load, save
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.torch_internals import deregister_container

from ..models import branching


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    case = branching()
    program = torch.export.export(case.model, case.args)
    path = tmp_path_factory.mktemp("archive") / "branching.pt2"
    torch.export.save(program, path)
    return path


@pytest.mark.slow
def test_a_saved_program_shows_its_graph_signature_and_lines(saved: Path) -> None:
    record = describe(load(saved))
    assert record.mode == "loaded"
    assert record.title == "branching.pt2"
    assert [graph.title for graph in record.graphs] == ["main", "true_fn", "false_fn"]
    assert [each.path for each in record.signature.inputs if each.kind == "user_input"] == ["x"]
    assert any(file.name == "models.py" for file in record.files)


@pytest.mark.slow
def test_loading_keeps_what_a_fresh_export_shows(saved: Path) -> None:
    case = branching()
    fresh = describe(capture(Request(target=case.model, args=case.args)))
    loaded = describe(load(saved))
    for ours, theirs in zip(fresh.graphs, loaded.graphs, strict=True):
        assert [fresh.strings[n] for n in ours.name] == [loaded.strings[n] for n in theirs.name]
        assert [fresh.types[n].text for n in ours.type] == [
            loaded.types[n].text for n in theirs.type
        ]


def test_truncated_archives_are_refused_in_a_sentence(saved: Path, tmp_path: Path) -> None:
    data = saved.read_bytes()
    for part in range(1, 20):
        path = tmp_path / f"cut{part}.pt2"
        path.write_bytes(data[: len(data) * part // 20])
        with pytest.raises(ArchiveError, match=r"cut\d+\.pt2"):
            load(path)


def test_other_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.pt2").write_bytes(b"")
    (tmp_path / "text.pt2").write_text("hello")
    with zipfile.ZipFile(tmp_path / "other.pt2", "w") as archive:
        archive.writestr("readme.txt", "no program here")
    expected = {
        "empty.pt2": "is empty",
        "text.pt2": "not a .pt2 archive",
        "other.pt2": "contains no program",
        "missing.pt2": "does not exist",
        "": "is a folder",
    }
    for name, message in expected.items():
        with pytest.raises(ArchiveError, match=message):
            load(tmp_path / name)


def test_a_program_of_a_later_schema_is_refused_in_a_sentence(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "later.pt2"
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith("models/model.json"):
                program = json.loads(data)
                program["schema_version"]["major"] += 90
                data = json.dumps(program).encode()
            target.writestr(entry.filename, data)
    with pytest.raises(ArchiveError, match=r"later\.pt2: .*another version of torch"):
        load(path)


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("operator", "said"),
    [
        ("aten.withdrawn", r"has no `aten\.withdrawn`\. Open the file with the version of torch"),
        ("somebody.own", r"`somebody\.own` is not registered\. Import its library"),
    ],
)
def test_an_operator_that_is_not_here_is_named(
    saved: Path, tmp_path: Path, operator: str, said: str
) -> None:
    path = tmp_path / "elsewhere.pt2"
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith("models/model.json"):
                assert b"torch.ops.aten.linear.default" in data
                data = data.replace(b"aten.linear.default", f"{operator}.default".encode())
            target.writestr(entry.filename, data)

    with pytest.raises(ArchiveError, match=said):
        load(path)


class SomeCache:
    """A container of somebody's own, in a module of the name that transformers' caches have."""

    def __init__(self, keys: torch.Tensor) -> None:
        self.keys = keys


class Reads(torch.nn.Module):
    def forward(self, cache: SomeCache) -> torch.Tensor:
        return cache.keys * 2


@pytest.mark.after_check
@pytest.mark.parametrize("module", ["transformers.some_caches", "somebodys.caches"])
def test_a_container_that_is_not_here_is_registered_if_it_is_of_transformers_else_named(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def register(cls: type) -> None:
        register_pytree_node(
            cls,
            lambda cache: ([cache.keys], None),
            lambda children, _: SomeCache(*children),
            serialized_type_name=f"{module}:SomeCache",
            to_dumpable_context=lambda _: "",
            from_dumpable_context=lambda _: None,
            flatten_with_keys_fn=lambda cache: ([(MappingKey("keys"), cache.keys)], None),
        )

    of_transformers = SimpleNamespace(
        register_pytree_node=register, is_cache_class=lambda cls: cls is SomeCache
    )
    monkeypatch.setitem(sys.modules, module, SimpleNamespace(SomeCache=SomeCache))
    monkeypatch.setitem(
        sys.modules,
        "transformers.exporters.exporter_dynamo",
        of_transformers,
    )
    path = tmp_path / "cached.pt2"
    register(SomeCache)
    try:
        torch.export.save(torch.export.export(Reads(), (SomeCache(torch.ones(2)),)), path)
        deregister_container(SomeCache)
        if module.startswith("transformers"):
            result = load(path).program.module()(SomeCache(torch.ones(2)))
            assert result.tolist() == [2, 2]
        else:
            with pytest.raises(ArchiveError, match=r"a `somebodys\.caches:SomeCache`, which"):
                load(path)
    finally:
        deregister_container(SomeCache)


@pytest.mark.parametrize("at", [0, 3, 9])
@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.usefixtures("sigint_heard")
@pytest.mark.slow
def test_a_write_that_fails_leaves_the_process_and_no_file(
    at: int, interrupted: bool, tmp_path: Path
) -> None:
    """After an error in the middle of a record, torch's writer would end the process."""
    attempt = capture(Request(target=torch.nn.Linear(40, 40), args=(torch.ones(2, 40),)))
    assert isinstance(attempt, Exported)
    pieces = 0

    def written(_: memoryview) -> None:
        nonlocal pieces
        pieces += 1
        if pieces > at and interrupted:
            signal.raise_signal(signal.SIGINT)
        elif pieces > at:
            raise OSError(errno.ENOSPC, "No space left on device")

    reason = KeyboardInterrupt if interrupted else ArchiveError
    with pytest.raises(reason, match=None if interrupted else "No space left"):
        save(attempt, describe(attempt), tmp_path / "new.pt2", written)
    gc.collect()
    assert list(tmp_path.iterdir()) == []
