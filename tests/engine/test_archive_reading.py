"""Reading a `.pt2` as data: what is read is what `describe` makes of the program that was saved."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from export_engine.archive import ArchiveError, read, save
from export_engine.archive.operator_table import table
from export_engine.archive.operators import target_of
from export_engine.archive.same_program import find_difference
from export_engine.archive.saved_record import PLAIN
from export_engine.attempt import Exported, Kind, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.describe.live_graph import describe_target
from export_engine.findings.record_providers import RECORD_PROVIDERS
from export_engine.record import OPS, Record
from export_engine.shapes import Shapes
from export_engine.source import SourceMissing, source_text, with_sources
from export_engine.trace import Recording

from .. import models
from ..planted import plants


class Several(torch.nn.Module):
    """Results in containers, some of them unused; arguments by position and by name."""

    def forward(self, x: torch.Tensor, *rest: torch.Tensor, d: dict[str, torch.Tensor]) -> Any:
        a, _ = torch.split(x, [2, 2], dim=1)
        largest = x.max(dim=1)
        ordered, _ = x.sort(dim=0)
        return {"a": a + d["k"].sum(), "v": (largest.values, ordered)}, rest[0] * 2


class Computed(torch.nn.Module):
    """Sizes that are computed, multiplied, divided and derived from another's."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        zeros = torch.zeros(x.shape[0] * 2 + 1, dtype=torch.int64)
        half = x.reshape(-1)[: (x.shape[0] * x.shape[1]) // 2]
        return half, zeros, y.shape[0] - 1, torch.cat([x, x]), y[1:] + x.shape[0] / 2


class FromData(torch.nn.Module):
    """Sizes that only the data tell, with checks."""

    def forward(self, x: torch.Tensor) -> Any:
        found = x.nonzero()
        count = x.sum().item()
        torch._check(count >= 0)
        torch._check(count < 100)
        return found, torch.ones(count), torch.ones(count + found.shape[0])


class Stateful(torch.nn.Module):
    """Buffers, constants, writes, and arguments that are no tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("fleeting", torch.ones(3), persistent=False)
        self.constant = torch.ones(2, 3)
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(
        self, x: torch.Tensor, flag: bool = True, k: int = 3, none: None = None, f: float = 1.5
    ) -> Any:
        self.seen.add_(1)
        x.mul_(2)
        return self.norm(x) + self.seen + self.fleeting + self.constant[0] * k, none, k


class Guarded(torch.nn.Module):
    """Guards that travel with the program."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x + 1 if x.shape[0] % 2 == 0 else x) @ y


class Repeated(torch.nn.Module):
    """A module that is called twice, and a block without gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

    def forward(self, x: torch.Tensor) -> Any:
        for _ in range(2):
            for layer in self.layers:
                x = layer(x)
        with torch.no_grad():
            y = x * 2
        return torch.nn.functional.interpolate(x[None, None], scale_factor=2.0), y.to(
            torch.bfloat16
        )


CASES: dict[str, Callable[[], models.Case]] = {
    "tutorial": models.tutorial,
    "branching": models.branching,
    "vision": models.vision,
    "several": lambda: models.Case(
        Several(), (torch.randn(4, 4), torch.randn(3)), {"d": {"k": torch.randn(2)}}
    ),
    "computed": lambda: models.Case(
        Computed(), (torch.randn(4, 6), torch.randn(5)), shapes="x: a, b; y: a+1"
    ),
    "from data": lambda: models.Case(FromData(), (torch.randint(0, 2, (6,)),)),
    "stateful": lambda: models.Case(Stateful(), (torch.randn(2, 3),), shapes="x: n, _"),
    "guarded": lambda: models.Case(
        Guarded(), (torch.randn(8, 16), torch.randn(16, 4)), shapes="x: *, *; y: *, _"
    ),
    "repeated": lambda: models.Case(Repeated(), (torch.randn(3, 4),), shapes="x: n, _"),
    "bert2": models.bert2,
}
PLACED_ANEW = {"repeated"}
"""torch does not save where a node is that stands for a nested graph: those are put before the op
that runs them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_what_is_read_is_what_is_described(name: str, tmp_path: Path) -> None:
    attempt = models.exported(CASES[name]())
    path = tmp_path / "model.pt2"
    torch.export.save(attempt.program, path)
    alone = Exported(
        request=None, recording=Recording(), program=attempt.program, title="model.pt2"
    )
    described = describe(alone)
    found = read(path).record
    assert (found.warnings, found.sources_inside) == ([PLAIN], True)
    assert find_difference(found, described) == ""
    if name in PLACED_ANEW:
        assert found.probe == described.probe
        return
    expected = msgspec.structs.replace(described, sources_inside=True, warnings=[PLAIN])
    assert msgspec.structs.asdict(found) == msgspec.structs.asdict(expected)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reading") / "branching.pt2"
    torch.export.save(models.exported(models.branching()).program, path)
    return path


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Record]:
    attempt = models.exported(models.vision())
    record = describe(attempt)
    return save(attempt, record, tmp_path_factory.mktemp("ours") / "vision.pt2"), record


def test_the_record_inside_adds_what_a_program_does_not_keep(ours: tuple[Path, Record]) -> None:
    path, record = ours
    found = read(path).record
    assert found.guards == record.guards
    assert [each.name for each in found.symbols] == ["batch", "h", "w"]
    assert found == msgspec.structs.replace(
        with_sources(record),
        title="vision.pt2",
        mode="loaded",
        verdict=record.verdict.replace("exported, non-strict", "loaded"),
        sources_inside=True,
    )


def changed(path: Path, member: str, change: Callable[[Any], Any]) -> Path:
    """The file with another JSON member."""
    other = path.with_name("changed.pt2")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(other, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith(member):
                data = json.dumps(change(json.loads(data))).encode()
            target.writestr(entry.filename, data)
    return other


def lying(where: str, value: Any) -> Callable[[Any], Any]:
    """A Record that says otherwise of the program: a path of keys, `types.1.text`."""

    def change(record: Any) -> Any:
        inside, keys = record, [int(key) if key.isdecimal() else key for key in where.split(".")]
        for key in keys[:-1]:
            inside = inside[key]
        inside[keys[-1]] = value
        return record

    return change


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("types.1.text", "f32[1]"),
        ("targets.0.name", "aten.relu.default"),
        ("targets.0.mutates", ["self"]),
        ("graphs.0.args.30", 0),
        ("scopes.1.cls", "torch.nn.Identity"),
        ("frames.line.0", 1),
        ("signature.inputs.0.target", "other"),
        ("signature.inputs.0.bytes", 1),
        ("symbols.0.lower", 7),
        ("symbols.0.torch_name", "s1000"),
        ("outcome", "failed"),
    ],
)
@pytest.mark.slow
def test_a_record_that_says_otherwise_of_the_graph_is_left_aside(
    ours: tuple[Path, Record], where: str, value: Any
) -> None:
    found = read(changed(ours[0], "record.json", lying(where, value))).record
    assert found.warnings[-1].startswith("Export Explorer's Record in the file")
    assert found.symbols[0].name == "image.shape[0]"
    assert found.guards == []
    assert found.outcome == "exported"


def test_no_path_that_a_record_names_is_opened(ours: tuple[Path, Record], tmp_path: Path) -> None:
    """A cell's text comes from the session, a module's from its file; of an archive, neither."""
    secret = tmp_path / "secret.py"
    secret.write_text("secret = 1")

    def change(record: Any) -> Any:
        for file in record["files"]:
            file |= {"origin": "cell", "text": ""}
        record["files"] += [{"path": str(secret), "name": "secret.py", "origin": "cell"}]
        record["sources_inside"] = False
        return record

    record = read(changed(ours[0], "record.json", change)).record
    assert record.files[-1].path == str(secret)
    for number in range(len(record.files)):
        with pytest.raises(SourceMissing, match="Paths in an archive are never opened"):
            source_text(record, number)


def test_a_program_of_a_later_torch_is_shown_and_says_so(plain: Path) -> None:
    schema = ""

    def later(program: Any) -> Any:
        nonlocal schema
        program["schema_version"]["minor"] += 50
        schema = "{major}.{minor}".format(**program["schema_version"])
        program["torch_version"] = "9.9.0"
        program["something_new"] = {"a": [1]}
        node = program["graph_module"]["graph"]["nodes"][0]
        node["also_new"] = 7
        node["inputs"].append({"name": "new", "arg": {"as_something": {"a": 1}}, "kind": 2})
        return program

    found = read(changed(plain, "model.json", later))
    record = found.record
    assert record.torch_version == "9.9.0"
    assert any(f"torch 9.9.0 in its schema {schema}" in note for note in found.notes)
    assert any("as_something" in note for note in found.notes)
    assert any('new=<as_something {{"a": 1}}>' in text for text in record.strings)
    assert set(found.notes) <= set(record.warnings)
    assert found.unknown == {
        "something_new": '{"a":[1]}',
        "graph_module.graph.nodes[].also_new": "7",
    }
    assert any("does not know" in note and "nodes[].also_new" in note for note in found.notes)


UNKNOWN_PLACES = {
    "graph_module.graph.tensor_values.*.device.new": lambda program: next(
        iter(program["graph_module"]["graph"]["tensor_values"].values())
    )["device"],
    "graph_module.graph.nodes[].inputs[].arg.as_tensor.new": lambda program: program[
        "graph_module"
    ]["graph"]["nodes"][0]["inputs"][0]["arg"]["as_tensor"],
    "graph_module.graph.outputs[].as_tensor.new": lambda program: program["graph_module"]["graph"][
        "outputs"
    ][0]["as_tensor"],
    "graph_module.signature.input_specs[].*.arg.as_tensor.new": lambda program: program[
        "graph_module"
    ]["signature"]["input_specs"][-1]["user_input"]["arg"]["as_tensor"],
    "graph_module.graph.nodes[].inputs[].arg.as_graph.graph.new": lambda program: next(
        each["arg"]["as_graph"]["graph"]
        for node in program["graph_module"]["graph"]["nodes"]
        for each in node["inputs"]
        if "as_graph" in each["arg"]
    ),
    "schema_version.new": lambda program: program["schema_version"],
}


@pytest.mark.parametrize("path", UNKNOWN_PLACES)
def test_an_unknown_field_is_kept_and_named_at_any_depth(plain: Path, path: str) -> None:
    def later(program: Any) -> Any:
        UNKNOWN_PLACES[path](program)["new"] = [None, "x" * 1000]
        return program

    known, found = read(plain), read(changed(plain, "model.json", later))
    assert known.unknown == {}
    assert list(found.unknown) == [path]
    assert found.unknown[path].startswith('[null,"xxx')
    assert len(found.unknown[path]) <= 80
    assert found.record.graphs == known.record.graphs
    assert found.record.warnings[-1].endswith(f"does not show: {path}.")


def test_a_thousand_unknown_fields_are_named_within_bounds(plain: Path) -> None:
    def later(program: Any) -> Any:
        return program | {f"new_{number}": number for number in range(1000)}

    found = read(changed(plain, "model.json", later))
    assert len(found.unknown) == 50
    assert "and at least 45 more" in found.notes[-1]


def test_names_that_are_none_are_shown_as_text(plain: Path) -> None:
    evil = "x = __import__('os').system('true')"
    path = plain.with_name("evil.pt2")
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith("model.json"):
                data = data.replace(b'"sum_1"', json.dumps(evil).encode())
                data = data.replace(b"torch.ops.aten.gt.Scalar", b"torch.ops.os.system('true')")
            target.writestr(entry.filename, data)
    found = read(path)
    assert repr(evil) in found.record.strings
    assert any(each.name == repr("torch.ops.os.system('true')") for each in found.record.targets)
    assert any("are not valid names" in note and "__import__" in note for note in found.notes)


def test_several_programs_and_compiled_code_are_listed(plain: Path) -> None:
    path = plain.with_name("several.pt2")
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            target.writestr(entry.filename, source.read(entry))
        program = source.read("branching/models/model.json")
        target.writestr("branching/models/decoder.json", program)
        target.writestr("branching/data/aotinductor/fast/fast.so", b"\x7fELF")
        target.writestr("branching/data/executorch/small.pte", b"ET12")
    found = read(path)
    assert (found.model, found.models) == ("model", ("model", "decoder"))
    assert read(path, "decoder").record.graphs == found.record.graphs
    text = " ".join(found.notes)
    assert all(word in text for word in ("decoder", "AOTInductor", "fast", "small.pte"))
    with pytest.raises(ArchiveError, match="has no program 'other'"):
        read(path, "other")


@pytest.mark.slow
def test_opening_a_file_imports_neither_torch_nor_sympy(ours: tuple[Path, Record]) -> None:
    code = f"""
import sys
import explorer
from explorer.cli.main import main
ex = explorer.load({str(ours[0])!r})
str(ex), ex.code, ex.unsupported_ops(), ex.accepts(batch=3), explorer.diff(ex, ex).ok
assert main([{str(ours[0])!r}]) == 0
print("loaded:", *(each for each in ("torch", "sympy", "numpy", "IPython") if each in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded:"


@pytest.mark.slow
def test_the_table_of_operators_is_that_of_torch() -> None:
    """After an update of torch: python -m export_engine.archive.operator_table."""
    written = resources.files("export_engine.archive") / "operators.txt"
    if not torch.__version__.startswith("2.13."):
        pytest.skip("the table is of torch 2.13")
    assert written.read_text(encoding="utf-8") == table()


@pytest.mark.parametrize(
    "name", ["cond", "while_loop", "scan", "wrap_with_set_grad_enabled", "wrap_with_autocast"]
)
def test_a_higher_order_operator_is_described_as_it_is_read(name: str) -> None:
    described = describe_target(getattr(torch.ops.higher_order, name))
    assert described == target_of(f"torch.ops.higher_order.{name}")
    assert described.kind == "higher_order"


def test_nodes_are_found_where_they_should_be(plain: Path) -> None:
    record = read(plain).record
    [graph, *_] = record.graphs
    ops = [OPS[op] for op in graph.op]
    assert ops.count("get_attr") == 2
    assert [each.argument for each in graph.nested] == ["true_fn", "false_fn"]


RECORD_KINDS = {kind for _, kinds in RECORD_PROVIDERS for kind in kinds}
SLUGS = {kind.slug for kind in RECORD_KINDS}


@pytest.mark.slow
def test_what_the_record_tells_is_found_in_a_plain_archive_too(tmp_path: Path) -> None:
    """Each planted fault of such a kind: in the export, in its file, in neither of its twin."""
    planted_kinds = set()
    for number, plant in enumerate(each for each in plants() if each.kind in RECORD_KINDS):
        for target, args, faulty in (
            (plant.faulty, plant.args, True),
            (plant.clean, plant.clean_args or plant.args, False),
        ):
            shapes = Shapes.parse(plant.shapes) if plant.shapes else None
            attempt = capture(
                Request(target=target, args=args, dynamic_shapes=shapes, strict=plant.strict)
            )
            assert isinstance(attempt, Exported)
            torch.export.save(attempt.program, tmp_path / f"{number}.pt2")
            record = read(tmp_path / f"{number}.pt2").record
            exported = [each for each in describe(attempt).findings if each.kind in SLUGS]
            assert [(each.kind, each.node) for each in record.findings] == [
                (each.kind, each.node) for each in exported
            ]
            found = [each for each in record.findings if each.kind == plant.kind.slug]
            assert bool(found) is faulty
            assert Kind.BAKED_VALUE.value in record.not_looked_for
            assert plant.kind.value not in record.not_looked_for
            planted_kinds.add(plant.kind)
    assert planted_kinds >= {
        *(Kind.WRITTEN_INPUT, Kind.WRITTEN_CONSTANT, Kind.FROZEN_TENSOR, Kind.UNUSED_INPUT),
        *(Kind.TRAINING_MODE, Kind.RANDOM, Kind.SYNCHRONISES, Kind.RUNTIME_CHECK),
        *(Kind.HIDDEN_CONDITION, Kind.BAKED_ARGUMENT),
    }


@pytest.mark.after_check
def test_a_kept_record_does_not_hide_what_the_graph_shows(tmp_path: Path) -> None:
    attempt = models.exported(CASES["stateful"]())
    record = describe(attempt)
    assert {"written-input", "frozen-tensor"} <= {each.kind for each in record.findings}
    silent = msgspec.structs.replace(record, findings=[])
    told = read(save(attempt, record, tmp_path / "told.pt2")).record
    found = read(save(attempt, silent, tmp_path / "silent.pt2")).record
    assert told.findings == record.findings
    assert [(each.kind, each.node, each.stack) for each in found.findings] == [
        (each.kind, each.node, each.stack if each.node >= 0 else -1) for each in record.findings
    ]
    assert found.verdict.endswith(", 1 finding") or "findings" in found.verdict


@pytest.mark.after_check
def test_a_record_of_a_torch_with_other_tags_is_of_the_same_program(tmp_path: Path) -> None:
    """torch 2.13 tags in-place ops, 2.12 does not; what a file says of tags is not believed."""
    attempt = models.exported(CASES["stateful"]())
    record = describe(attempt)
    targets = [
        msgspec.structs.replace(each, tags=["a tag of another torch"], core=not each.core)
        for each in record.targets
    ]
    told = msgspec.structs.replace(record, targets=targets)
    found = read(save(attempt, told, tmp_path / "told.pt2"))
    assert found.kept
    assert {each.name: each.tags for each in found.record.targets} == {
        each.name: each.tags
        for each in read(save(attempt, record, tmp_path / "own.pt2")).record.targets
    }
