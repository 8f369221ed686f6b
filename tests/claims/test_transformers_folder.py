"""A folder that transformers' exporters wrote opens as a set, with what they recorded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import explorer
from explorer.sets.loaded_programs import LoadedPrograms
from export_engine.archive import ArchiveError

METADATA = {
    "architecture": "LlamaForCausalLM",
    "packages": {"transformers": "5.23.0", "torch": "2.13.0"},
    "export_config": {"dynamic": True},
    "export_dtype": "float32",
    "export_device": "cpu",
    "kwargs": {
        "input_ids": {"rank": 2, "shape": [1, 8], "dtype": "int64"},
        "past_key_values": {"container": "DynamicCache"},
        "use_cache": {"container": "bool"},
        "encoder": {"leaves": {"h": {"rank": 1, "shape": [4], "dtype": "float32"}}},
    },
    "in_spec": "[1, {}]",
    "out_spec": "[1, {}]",
    "in_constants": {"use_cache": False},
    "out_constants": [[1, None]],
}


def write_folder(folder: Path, kind: str = "dynamo", **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    names = files or {"prefill": "prefill.pt2", "decode": "decode.pt2"}
    components = {name: {"file": file, "metadata": METADATA} for name, file in names.items()}
    manifest = {"schema_version": 1, "export_format": kind, "components": components}
    (folder / "export.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_folder(tmp_path_factory.mktemp("written") / "llama")
    for name in ("prefill", "decode"):
        program = torch.export.export(torch.nn.Linear(3, 3), (torch.randn(2, 3),))
        torch.export.save(program, made / f"{name}.pt2")
    return made


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_or_a_zip_of_it_is_a_set(folder: Path, packed: bool, tmp_path: Path) -> None:
    path = folder
    if packed:
        path = Path(shutil.make_archive(str(tmp_path / "llama"), "zip", folder))
    kit = explorer.load(path)
    assert isinstance(kit, LoadedPrograms)
    assert list(kit) == ["prefill", "decode"]
    assert kit.recorded["prefill"].in_constants == {"use_cache": False}
    assert kit.record.notes[0] == (
        "`prefill`: LlamaForCausalLM, float32, cpu, by transformers 5.23.0. Traced with input_ids "
        "int64[1, 8], past_key_values DynamicCache, use_cache=False, encoder {h: float32[4]}."
    )
    assert isinstance(explorer.view(path), LoadedPrograms)
    decode = explorer.load(path, model="decode")
    assert isinstance(decode, explorer.Exploration)
    assert len(decode.query("op:linear")) == 1
    assert kit["prefill"].diff(decode).ok
    loaded = explorer.load(path, trusted=True)["prefill"].program
    assert "linear" in loaded.graph_module.code


def test_a_folder_names_no_file_outside_of_it(tmp_path: Path) -> None:
    for file in ("../secret.pt2", "/etc/passwd", "a/b.pt2", "..", "c:\\x.pt2"):
        with pytest.raises(ArchiveError, match="outside of the folder"):
            explorer.load(write_folder(tmp_path / "made", model=file))


@pytest.mark.parametrize(
    ("kind", "said"), [("onnx", "format onnx"), ("executorch", r"explorer\.view")]
)
def test_other_formats_are_named(tmp_path: Path, kind: str, said: str) -> None:
    with pytest.raises(ArchiveError, match=said):
        explorer.load(write_folder(tmp_path / "made", kind, model="model.bin"))


@pytest.mark.parametrize("text", ["[]", "{", '{"export_format": 1}', '{"components": {}}'])
def test_a_damaged_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(ArchiveError, match=r"export\.json"):
        explorer.load(tmp_path)


@pytest.mark.thorough
def test_what_transformers_writes_is_read(tmp_path: Path) -> None:
    exporters: Any = pytest.importorskip(
        "transformers.exporters", reason="transformers lacks its exporters"
    )
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    ids = torch.randint(0, 64, (2, 8))
    exported = exporters.DynamoExporter().export_for_generation(
        LlamaForCausalLM(config).eval(),
        {"input_ids": ids, "attention_mask": torch.ones_like(ids)},
        exporters.DynamoConfig(dynamic=True),
    )
    exported.save_pretrained(tmp_path)
    kit, live = explorer.load(tmp_path), explorer.view(exported)
    assert isinstance(kit, LoadedPrograms)
    assert isinstance(live, explorer.Programs)
    assert list(kit) == list(live) == ["prefill", "decode"]
    assert "past_key_values DynamicCache" in kit.record.notes[0]
    assert explorer.diff(live, kit).ok
