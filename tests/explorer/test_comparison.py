"""Comparing programs as a user does: from Python, in a test of their own, on the command line."""

import copy
import io
import json
import sys
from pathlib import Path

import msgspec
import pytest
import torch
from torch import nn

import explorer
from explorer.cli import main as command_line
from explorer.display.report import encode_page
from explorer.testing import UPDATE, assert_same_export
from export_engine.record import Difference, from_json


class Net(nn.Module):
    def __init__(self, act: nn.Module) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 8)
        self.act = act

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.lin(x)) + x.sum()


MODULE = """
import torch

class Net(torch.nn.Module):
    def __init__(self, act):
        super().__init__()
        self.lin = torch.nn.Linear(4, 8)
        self.act = act
    def forward(self, x):
        return self.act(self.lin(x)) + x.sum()

def make():
    return Net(torch.nn.ReLU()).eval(), (torch.ones(3, 4),)

def other():
    return Net(torch.nn.GELU()).eval(), (torch.ones(3, 4),)

def failing():
    return (lambda x: x.sin() if x.sum() > 0 else x), (torch.ones(3),)

def odd():
    return 3
"""


def net(act: nn.Module | None = None, shapes: str | None = "x: batch, _") -> explorer.Exploration:
    return explorer.explore(
        Net(act or nn.ReLU()), (torch.ones(3, 4),), dynamic_shapes=shapes, title="net(x)"
    )


@pytest.mark.after_check
def test_what_is_identical_says_so() -> None:
    found = explorer.diff(net(), net())
    assert found.ok
    assert str(found).splitlines()[1] == "Identical up to names: 4 ops."


@pytest.mark.slow
def test_weights_of_other_values_are_named(tmp_path: Path) -> None:
    model = Net(nn.ReLU())
    first = explorer.explore(model, (torch.ones(3, 4),), title="net(x)")
    old = first.save(tmp_path / "old.pt2")
    assert explorer.diff(first, first).weights == ""
    assert explorer.diff(old, first.save(tmp_path / "same.pt2")).weights == ""
    assert explorer.diff(old, first).weights == "Weight values were not compared."

    again = copy.deepcopy(model)
    with torch.no_grad():
        again.lin.bias += 1
    second = explorer.explore(again, (torch.ones(3, 4),), title="net(x)")
    new = second.save(tmp_path / "new.pt2")
    for found in (explorer.diff(first, second), explorer.diff(old, new)):
        assert found.ok
        assert str(found).splitlines()[1:] == [
            "Identical up to names: 4 ops.",
            "1 weight has different values: lin.bias.",
        ]
        shown = msgspec.json.decode(encode_page(found.session()))["diffs"][1][0]
        assert shown["weights"] == "1 weight has different values: lin.bias."


@pytest.mark.after_check
def test_of_many_weights_of_other_values_a_few_are_named() -> None:
    found = explorer.diff(*(explorer.explore(deep(), (torch.ones(4),)) for _ in range(2)))
    assert (
        found.weights == "6 weights have different values: 0.weight, 0.bias, 1.weight and 3 more."
    )


def deep() -> nn.Module:
    return nn.Sequential(*(nn.Linear(4, 4) for _ in range(3)))


@pytest.mark.after_check
def test_a_difference_is_said_with_its_place() -> None:
    found = explorer.diff(net(), net(nn.GELU()))
    assert not found.ok
    text = str(found)
    assert "1 node changed, 0 added, 0 removed" in text
    assert "op: aten.relu.default → aten.gelu.default" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_an_input_of_another_type_is_told_of_once_by_its_name() -> None:
    widths = (explorer.explore(nn.Linear(4, width), (torch.ones(3, 4),)) for width in (8, 6))
    found = explorer.diff(*widths)
    assert found.diff.others == [Difference("output", "output 0", "user output f32[3, 8]", SIXES)]
    lines = str(found).splitlines()
    assert lines[1] == "2 nodes changed, 0 added, 0 removed, 1 other difference; 1 op before."
    assert "~ p_weight = parameter weight: f32[8, 4]" in lines
    assert "    type: f32[8, 4] → f32[6, 4]" in lines


SIXES = "user output f32[3, 6]"


@pytest.mark.slow
def test_a_line_that_is_another_in_the_second_program_is_said_too() -> None:
    def before(x: torch.Tensor) -> torch.Tensor:
        return x.relu()

    def after(x: torch.Tensor) -> torch.Tensor:
        return x.sigmoid()

    programs = [explorer.explore(each, (torch.ones(2),)) for each in (before, after)]
    lines = [each.__code__.co_firstlineno + 1 for each in (before, after)]
    file = Path(__file__).name
    assert f"    at {file}:{lines[0]} → {file}:{lines[1]}" in str(explorer.diff(*programs))
    assert " → " not in str(explorer.diff(net(), net(nn.GELU()))).splitlines()[-1]


@pytest.mark.after_check
def test_a_new_guard_is_said_with_its_line() -> None:
    def before(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    def after(x: torch.Tensor) -> torch.Tensor:
        return x.sin() if x.shape[0] > 5 else x.cos()

    x = (torch.ones(8, 3),)
    found = explorer.diff(
        *(explorer.explore(f, x, dynamic_shapes="x: *, _") for f in (before, after))
    )
    lines = str(found).splitlines()
    place = f"    at {Path(__file__).name}:{after.__code__.co_firstlineno + 1}"
    assert lines[lines.index("  guard x.shape[0] > 5: none → checked") + 1] == place
    assert lines[lines.index("  symbol x.shape[0]: [2, ∞) → [6, ∞)") + 1] == place


class Stack(nn.Module):
    def __init__(self, name: str, act: nn.Module) -> None:
        super().__init__()
        blocks = [nn.ModuleDict({name: Net(nn.ReLU())}) for _ in range(3)]
        blocks[1][name].act = act  # type: ignore[union-attr]
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum(next(iter(each.values()))(x) for each in self.blocks)  # type: ignore[operator,misc,union-attr]


@pytest.mark.after_check
def test_a_renamed_module_is_one_difference_and_hides_no_other() -> None:
    made = (Stack("inner", nn.ReLU()), Stack("core", nn.Tanh()))
    found = explorer.diff(*(explorer.explore(each, (torch.ones(3, 4),)) for each in made))
    lines = str(found).splitlines()
    at = lines.index("~ scope blocks.*.inner → blocks.*.core")
    assert lines[at + 1].endswith("nodes and 6 inputs, otherwise the same")
    assert "    op: aten.relu.default → aten.tanh.default" in lines[:at]
    assert "blocks.0" not in str(found)
    assert not found.ok
    [scope] = found.diff.renamed
    assert scope.modules == 3
    assert len(scope.others) == 2 * 6 == len(found.diff.others)


@pytest.mark.after_check
def test_anything_that_is_a_program_can_be_compared(tmp_path: Path) -> None:
    first = net()
    plain = tmp_path / "plain.pt2"
    torch.export.save(first.program, plain)
    for other in (first.program, str(plain), plain, first.save(tmp_path / "kept.pt2")):
        found = explorer.diff(first, other)
        assert not [graph for graph in found.diff.graphs if graph.added or graph.removed]
    with pytest.raises(TypeError, match="int is not a program"):
        explorer.diff(first, 3)


@pytest.mark.slow
def test_a_failed_export_has_nothing_to_compare() -> None:
    failed = explorer.explore(lambda x: x if x.sum() > 0 else -x, (torch.ones(2),))
    with pytest.raises(ValueError, match="export failed"):
        explorer.diff(net(), failed)


@pytest.mark.slow
def test_two_names_of_one_result_are_not_compared_once_it_was_decomposed() -> None:
    ex = explorer.explore(nn.Linear(4, 2), (torch.ones(1, 4),))
    assert explorer.diff(ex, ex).ok
    other = ex.decompose("core")
    with pytest.raises(ValueError, match="the same result, which is now at: Decomposed: core"):
        explorer.diff(ex, other)


def test_a_golden_file_is_written_kept_and_defended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = tmp_path / "deep" / "golden.pt2"
    monkeypatch.delenv(UPDATE, raising=False)
    with pytest.raises(AssertionError, match="--update-exports"):
        assert_same_export(net(), golden)
    monkeypatch.setenv(UPDATE, "1")
    assert_same_export(net(), golden)
    monkeypatch.delenv(UPDATE)
    assert_same_export(net(), golden)
    with pytest.raises(AssertionError, match=r"aten\.relu\.default → aten\.gelu\.default"):
        assert_same_export(net(nn.GELU()), golden)
    assert_same_export(net(nn.GELU()).program, golden, update=True)
    assert_same_export(net(nn.GELU()).program, golden)


@pytest.mark.slow
def test_pytest_has_the_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test = tmp_path / "test_golden.py"
    test.write_text(
        "import torch, explorer\n"
        "from explorer.testing import assert_same_export\n"
        "def test_it():\n"
        "    ex = explorer.explore(torch.nn.ReLU(), (torch.ones(2),))\n"
        f"    assert_same_export(ex, {str(tmp_path / 'golden.pt2')!r})\n"
    )

    monkeypatch.delenv(UPDATE, raising=False)
    # In this process: importing torch would be most of what another one takes.
    without = ("-p", "no:cacheprovider", "-p", "no:unraisableexception")  # which collects garbage
    line = ["-q", *without, "--import-mode=importlib", str(test)]
    codes = [pytest.main([*flags, *line]) for flags in ([], ["--update-exports"], [])]
    assert codes == [1, 0, 0]


@pytest.mark.slow
def test_what_a_backend_lacks_is_counted() -> None:
    ex = net()
    assert ex.unsupported_ops() == {"aten.linear.default": 1, "aten.sum.default": 1}
    assert ex.decompose("core").unsupported_ops() == {}
    has = ["aten.addmm", "aten.permute.default", "aten.relu.default", "aten.add"]
    assert ex.unsupported_ops(has) == {"aten.sum.dim_IntList": 1}
    failed = explorer.explore(lambda x: x if x.sum() > 0 else -x, (torch.ones(2),))
    with pytest.raises(explorer.errors.ExportFailed):
        failed.unsupported_ops()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nets_of_ours.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "nets_of_ours", raising=False)
    return tmp_path


@pytest.mark.slow
def test_the_command_line_exports_saves_and_opens(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-d", "x: batch, _", "--save", "a.pt2", "--html", "a.html", "--json", "a.json"]
    assert command_line.main(["nets_of_ours:make", *options]) == 0
    assert "exported, non-strict, 4 ops, batch in [0, ∞)" in capsys.readouterr().out
    assert (here / "a.html").read_text().startswith("<!doctype html>")
    record = from_json((here / "a.json").read_text())
    assert record.symbols[0].name == "batch"
    assert json.loads((here / "a.json").read_text())["schema"] == record.schema
    assert command_line.main(["a.pt2"]) == 0
    assert "loaded, 4 ops" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_line_verifies_and_compares(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("make", "other"):
        assert command_line.main([f"nets_of_ours:{name}", "--save", f"{name}.pt2"]) == 0
    assert command_line.main(["nets_of_ours:make", "-d", "x: batch, _", "--verify"]) == 0
    assert "11 guarantees hold" in capsys.readouterr().out
    assert command_line.main(["make.pt2", "--verify"]) == 0
    assert command_line.main(["make.pt2", "--diff", "make.pt2"]) == 0
    capsys.readouterr()
    assert command_line.main(["make.pt2", "--diff", "other.pt2"]) == 1
    assert "aten.relu.default → aten.gelu.default" in capsys.readouterr().out
    assert command_line.main(["make.pt2", "--diff", "other.pt2", "--html", "both.html"]) == 1
    assert (here / "both.html").exists()


@pytest.mark.slow
def test_the_command_line_says_what_went_wrong(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["nets_of_ours:failing"]) == 1
    assert "not exported" in capsys.readouterr().out
    for arguments, said in (
        (["nope.pt2"], "does not exist"),
        (["nets_of_ours:nope"], "no attribute"),
        (["no_such_module_of_ours:make"], "No module named"),
        (["nets_of_ours:odd"], "(model, args)"),
        (["nets_of_ours.py"], "not a .pt2 archive"),
        (["nets_of_ours:make", "-d", "x: (", "--verify"], "x: ("),
    ):
        assert command_line.main(arguments) == 2, arguments
        assert said in capsys.readouterr().err, arguments


@pytest.mark.slow
def test_the_record_follows_its_schema(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import jsonschema  # takes seconds, which each worker would pay

    assert command_line.main(["--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["$defs"]["Guard"]["description"]
    texts = [*schema["$defs"]["ValueType"]["properties"].values()]
    assert any("f32[batch, 128]" in each.get("description", "") for each in texts)
    for name in ("make", "failing"):
        command_line.main([f"nets_of_ours:{name}", "--json", "a.json"])
        jsonschema.validate(json.loads((here / "a.json").read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": 3}, schema)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.slow
def test_text_is_as_wide_as_the_terminal(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name in ("make", "other"):
        command_line.main([f"nets_of_ours:{name}", "--save", f"{name}.pt2", "--verify"])
    command_line.main(["make.pt2", "--diff", "other.pt2"])
    lines = capsys.readouterr().out.splitlines()
    assert columns - 40 < max(map(len, lines)) <= columns


def test_the_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "exit codes" in text
    assert "--diff new.pt2" in text


@pytest.mark.after_check
def test_texts_that_differ_come_in_the_order_of_the_files() -> None:
    from export_engine.diff import text_differences
    from export_engine.record import Record, SourceFile

    def record(text: str) -> Record:
        empty = net().record
        files = [SourceFile(f"/{name}.py", f"{name}.py", "user", text) for name in "dbcaehgf"]
        return msgspec.structs.replace(empty, files=files, graphs=[])

    found = text_differences(record("x = 1\n"), record("x = 2\n"))
    assert [each.name for each in found] == [f"{name}.py" for name in "dbcaehgf"]


@pytest.mark.after_check
def test_a_log_that_has_no_such_character_gets_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [
        str(net(each).save(tmp_path / name))
        for each, name in ((nn.ReLU(), "a.pt2"), (nn.GELU(), "b.pt2"))
    ]
    log = io.BytesIO()
    stream = io.TextIOWrapper(log, encoding="cp1252", write_through=True)
    with monkeypatch.context() as context:
        context.setattr(sys, "stdout", stream)
        assert command_line.main([programs[0], "--diff", programs[1]]) == command_line.BAD
    assert b"aten.relu.default ? aten.gelu.default" in log.getvalue()


@pytest.mark.after_check
def test_a_new_parameter_is_told_once_as_an_input() -> None:
    plain = nn.Sequential(nn.Linear(3, 3, bias=False))
    biased = nn.Sequential(nn.Linear(3, 3))
    x = (torch.ones(2, 3),)
    text = str(explorer.diff(*(explorer.explore(each, x) for each in (plain, biased))))
    assert "0 added, 0 removed, 1 other difference" in text
    assert text.splitlines()[-1] == "  input 0.bias: none → parameter f32[3]"


class Layers(nn.Module):
    def __init__(self, *acts: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), act) for act in acts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.mark.after_check
@pytest.mark.parametrize("added", [True, False])
def test_a_module_that_only_one_calls_is_one_difference(added: bool) -> None:
    made = Layers(nn.ReLU()), Layers(nn.ReLU(), nn.Tanh())
    first, second = made if added else made[::-1]
    x = (torch.ones(2, 4),)
    found = explorer.diff(explorer.explore(first, x), explorer.explore(second, x))
    sign = "+" if added else "-"
    assert f"{sign} module layers.1 (Sequential): 2 nodes and 2 inputs" in str(found).splitlines()
    assert "layers.1.0.weight" not in str(found)
    [module] = found.diff.modules
    assert (module.kind, module.path) == ("added" if added else "removed", "layers.1")


@pytest.mark.after_check
def test_a_module_that_both_call_is_not_told_as_one_however_much_of_it_differs() -> None:
    x = (torch.ones(2, 4),)
    made = [Layers(nn.Sequential(nn.ReLU(), act)) for act in (nn.ReLU(), nn.Tanh())]
    found = explorer.diff(*(explorer.explore(each, x) for each in made))
    assert found.diff.modules == []
    assert "op: aten.relu.default → aten.tanh.default" in str(found)
