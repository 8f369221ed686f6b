"""What the README and the docs show is run as it stands there: cells, Python and command lines.

Left out are what `make lab` and `make test` do (that there are such targets is held here), the
calls that run all cases or all backends (each has a test of its own), and the drawing of the pieces
(the test of imports holds its arrows). What asks for a GPU is run, and has rows that say why not.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from transformers import LlamaConfig

import explorer
from explorer.cli import main as command_line
from explorer.cli.check.config import Target
from explorer.testing import UPDATE
from export_engine.run import backend_registry
from export_engine.shapes import Shapes
from kernel_ext.command import OPTIONS

from .cells import run
from .test_sets_magic import SETUP as GENERATES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEACHING = (ROOT / "notebooks" / "TEACHING.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DOCS = {
    path.relative_to(ROOT / "docs").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if not path.relative_to(ROOT / "docs").parts[0].startswith("_")  # made by `make docs`
}
del DOCS["continuous-integration.md"]  # its blocks are held in tests/explorer/test_checking.py
LISTED = "reference/names.md"
"""Made from the code, as tests/test_house.py holds it."""
PAGES = "\n".join([README, *(text for name, text in DOCS.items() if name != LISTED)])
BLOCKS = re.findall(r"^```\w*\n(.*?)^```", PAGES, re.DOTALL | re.MULTILINE)
"""The code blocks of the README and of the docs."""
OF_THE_VIEW = DOCS["reference/view.md"] + "".join(
    text for name, text in DOCS.items() if name.startswith("how-to/")
)
DRAWN = "cell: %export -d"
"""In the block that is a drawing."""
SETUP = """
import torch, explorer
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
    def forward(self, x):
        return self.lin(x).relu() * 2
class Undecided(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()
torch.manual_seed(0)
model, undecided, x = Scaled().eval(), Undecided(), torch.randn(3, 4)
"""

SMALL = {
    "vocab_size": 200,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
LLAMA = """
from transformers import LlamaConfig, LlamaForCausalLM
config = LlamaConfig(
    vocab_size=200, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
    num_attention_heads=4, num_key_value_heads=2,
)
model = LlamaForCausalLM(config).eval()
prompt = torch.randint(3, 200, (2, 6))
inputs = {"input_ids": prompt, "attention_mask": torch.ones_like(prompt)}
expected = model.generate(**inputs, max_new_tokens=16, do_sample=False, eos_token_id=None)
"""


def block(words: str) -> str:
    """The one code block with these words in it."""
    (found,) = [text for text in BLOCKS if words in text]
    return str(found)


@pytest.fixture
def shell(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> InteractiveShell:
    """With a model, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    assert shell.run_cell(SETUP).success
    return shell


def cell(shell: InteractiveShell, text: str) -> str:
    """What a cell shows; it must not raise."""
    result, said = run(shell, text)
    assert result.success, (text, said)
    return said


def only_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """`all` backends are the two that compile nothing; the others have tests of their own."""
    kept = tuple(each for each in backend_registry.BUILT_IN if each.name in ("eager", "program"))
    monkeypatch.setattr(backend_registry, "BUILT_IN", kept)


def test_every_block_is_held_by_a_test_of_this_file() -> None:
    own = Path(__file__).read_text(encoding="utf-8")
    asked = [block(words) for _, words in re.findall(r"""\bblock\((['"])(.+?)\1\)""", own)]

    assert len(BLOCKS) == PAGES.count("\n```") // 2
    assert [text for text in BLOCKS if text not in asked and DRAWN not in text] == []


@pytest.mark.parametrize("page", [PAGES, TEACHING, CONTRIBUTING], ids=["docs", "teach", "add"])
def test_what_make_is_asked_for_is_there(page: str) -> None:
    asked = re.findall(r"(?:^|`)make ([a-z-]+)(?: BENCHMARKS=(\w+))?", page, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    benchmarks = {path.stem for path in (ROOT / "tests" / "benchmarks").glob("*.py")}

    assert asked
    assert re.findall(r"^make (\w+)", block("make lab"), re.MULTILINE) == ["lab", "test"]
    for target, benchmark in asked:
        assert f"\n{target}:" in makefile, target
        assert not benchmark or benchmark in benchmarks


def test_a_look_without_torch_is_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uvx and pipx themselves are tried by hand: they fetch packages."""
    monkeypatch.chdir(tmp_path)
    explorer.explore(torch.nn.ReLU(), (torch.ones(3),)).save("model.pt2")
    lines = block("uvx --from . export-explorer").splitlines()

    looks = re.findall(r"export-explorer (\S+)", lines[0])
    assert looks == ["model.pt2", "model.pt2"]
    assert command_line.main(looks[:1]) == 0
    assert lines[1].startswith("pip install . ")


@pytest.mark.slow
def test_without_a_screen_the_lab_opens_no_browser() -> None:
    """What make would run, by its own word."""

    def asked(**screen: str) -> str:
        hidden = ("DISPLAY", "WAYLAND_DISPLAY", "LAB_OPTIONS", "MAKEFLAGS")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        done = subprocess.run(
            ["make", "--dry-run", "lab"],
            cwd=ROOT, env={**kept, **screen}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    without = asked()
    assert "notebooks/00_tour.ipynb" in without
    assert ("--no-browser" in without) is (sys.platform == "linux")
    assert "--no-browser" not in asked(DISPLAY=":0")


def test_every_dependency_has_its_reason_beside_it() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = text.partition("\ndependencies = [\n")[2].partition("\nlab = ")[0]
    listed = [line for line in needed.splitlines() if line.startswith("  ")]

    assert len(listed) > 10
    assert [line for line in listed if not re.search(r'",\s+# \w+', line)] == []


def test_what_it_needs_is_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")

    (python,) = re.findall(r"need Python ([\d.]+) or newer", README)
    (written,) = re.findall(r"supports torch ([^\n]+)", DOCS["reference/versions.md"])
    (oldest, tested) = re.findall(r"\d+\.[\d.]*\d", written)
    assert project["requires-python"] == f">={python}"
    assert f"torch>={oldest}" in project["optional-dependencies"]["torch"]
    assert f"\ntorch=={tested}\n" in pinned
    for page in (PAGES, TEACHING):
        for place, extra in re.findall(r'pip install "?([\w.-]+)\[(\w+)\]', page):
            assert place == "."  # there is no registry that has it
            assert extra in project["optional-dependencies"]


@pytest.mark.slow
def test_the_first_cell_exports(shell: InteractiveShell) -> None:
    cell(shell, "class Reads(torch.nn.Module):\n    def forward(self, tokens): return tokens * 2")
    cell(shell, "model, tokens = Reads(), torch.ones(2, 16)")

    said = cell(shell, block("--as ex model(tokens)"))

    assert "batch in [0, ∞), seq in [2, 512]" in said
    assert shell.user_ns["ex"].ok


@pytest.mark.slow
def test_a_model_that_generates_is_cut_and_checked_as_shown(shell: InteractiveShell) -> None:
    cell(shell, GENERATES)
    said = cell(shell, block('kit.save("model.pt2")'))

    assert "The same 16 tokens as generate()." in said
    assert "? prefill" in said
    programs = explorer.load("model.pt2")
    assert isinstance(programs, explorer.Programs)
    assert list(programs) == ["prefill", "decode"]


@pytest.mark.slow
def test_a_saved_language_model_generates_by_the_explorer_and_without_it(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers", reason="it is not installed: pip install '.[bench]'")
    # Its warning on a cache among the example's inputs has too few arguments, measured on 2.13.
    monkeypatch.setattr(logging.getLogger("torch._export.serde.serialize"), "disabled", True)
    cell(shell, LLAMA)
    cell(shell, block('kit.save("model.pt2")'))
    cell(shell, block("kit.generate(inputs, 16)"))
    own = "model.generate(**inputs, max_new_tokens=16, do_sample=False)"
    assert cell(shell, f"print(torch.equal(tokens, {own}))") == "True\n"
    cell(shell, block("load_pt2"))
    assert cell(shell, "print(torch.equal(tokens, expected[:, :-1]))") == "True\n"


@pytest.mark.slow
def test_calls_are_watched_and_exported_as_they_were(shell: InteractiveShell) -> None:
    cell(shell, "a, b, text = torch.randn(2, 4), torch.randn(5, 4), torch.randn(1, 4)")
    cell(shell, "pipeline = lambda text: model(text).sum()")
    cell(shell, block("explorer.observe(model)"))
    assert cell(shell, "print(calls.shapes, calls.check(ex).ok)").split() == [
        "x:", "batch,", "_", "True",
    ]  # fmt: skip
    assert "batch" in cell(shell, "%export -D calls.shapes model(a)")


@pytest.mark.slow
def test_the_guide_goes_from_the_cell_and_from_python(shell: InteractiveShell) -> None:
    magic, python = block("%export --guide model(x)").split("# or, from Python: ")

    assert "guarantees hold" in cell(shell, f"{magic}# a comment")
    assert isinstance(eval(python, shell.user_ns), explorer.typing.Guided)


@pytest.mark.after_check
def test_two_programs_are_compared(shell: InteractiveShell) -> None:
    cell(shell, '%export --no-display -d "x: batch, _" --as a model(x)')
    cell(shell, '%export --no-display -d "x: n, _" --as b --save old.pt2 model(x)')
    cell(shell, "%export --no-display --save golden.pt2 model(x)")
    cell(shell, "ex = a")

    said = cell(shell, block("%export_diff a b"))

    assert said.lower().count("identical up to names") == 3  # shown twice, and printed


def test_the_golden_file_is_kept_by_the_test_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(UPDATE, raising=False)
    names: dict[str, Any] = {"model": torch.nn.ReLU(), "x": torch.ones(2)}
    exec(block("import assert_same_export"), names)

    with pytest.raises(AssertionError, match="--update-exports"):
        names["test_the_export_is_stable"]()
    monkeypatch.setenv(UPDATE, "1")  # what the flag sets
    names["test_the_export_is_stable"]()
    monkeypatch.delenv(UPDATE)
    names["test_the_export_is_stable"]()
    assert (tmp_path / "tests" / "golden.pt2").exists()


@pytest.mark.slow
def test_runs_are_asked_for_as_shown(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell(shell, '%export --no-display -d "x: batch, _" --as ex model(x)')
    lines = block("ex.cost().measure(sizes=").splitlines()
    (on_gpu,) = [line for line in lines if '"cuda"' in line]
    asked = re.findall(r'"(\w+)"', on_gpu.partition("[")[2].partition("]")[0])
    assert {*asked} <= {each.name for each in backend_registry.BUILT_IN}

    if not torch.cuda.is_available():  # where it is, two compilers would be waited for
        cell(shell, on_gpu)
        reasons = [row.sentence for row in shell.user_ns["ex"].record.runs]
        assert len(reasons) == len(asked)
        assert all("no cuda" in reason for reason in reasons)
    only_two(monkeypatch)
    for line in lines:
        if line is not on_gpu:
            cell(shell, line)
    runs = [row for row in shell.user_ns["ex"].record.runs if row.device == "cpu"]
    assert len(runs) == 2 + 2 * 2 + 4 * 2  # batch=1 is one of the five drawn: its rows are renewed
    assert all(row.outcome == "agrees" for row in runs)


@pytest.mark.slow
def test_a_slow_line_is_found_as_shown(shell: InteractiveShell) -> None:
    cell(shell, '%export --no-display -d "x: batch, _" --as ex model(x)')
    lines = block("stages = ex.stages()").splitlines()
    compiled_again = "other = "  # tests/claims/test_stages.py compares two
    for line in lines:
        if compiled_again not in line and "diff" not in line:
            cell(shell, line)
    assert shell.user_ns["ex"].record.stages[0].kernels


@pytest.mark.slow
def test_runs_on_other_machines_are_asked_for_as_shown() -> None:
    pytest.importorskip("ipyparallel", reason="it is not installed: pip install '.[distributed]'")
    ex = explorer.explore(torch.nn.ReLU(), (torch.ones(2),))
    quick = block("import ipyparallel").replace('"all"', '"eager,program"')

    with capture_output() as captured:
        exec(quick, {"ex": ex})

    (row,) = ex.record.runs  # the eager model stays here
    assert (row.backend, row.device) == ("program", "cuda:0")
    assert row.where.startswith("engine ")
    assert row.title in captured.stdout


def test_exportdb_is_asked_as_shown(shell: InteractiveShell) -> None:
    asked = re.findall(r"%(?:exportdb|graph_breaks)(?: [\w.-]+)?", block("%exportdb --check"))
    assert len(asked) == 6

    for line in asked:
        if not line.endswith("--check"):  # `test_check_prints_every_case...` runs them all
            assert cell(shell, line)


@pytest.mark.slow
def test_compile_beside_export_reads_as_shown(shell: InteractiveShell) -> None:
    command, _, wanted = block("%export --vs-compile --sizes").partition("\n\n")
    shell.run_cell("x, w = torch.randn(512, 8), torch.randn(8, 8)", store_history=True)
    shell.run_cell(
        "# the example's function\n\n"
        "def f(x, w):\n"
        "    if x.shape[0] <= 1024:\n"
        "        return torch.relu(x @ w)\n"
        "    return torch.sigmoid(x @ w) * 2\n",
        store_history=True,
    )

    said = cell(shell, command)

    assert wanted.strip() in said


@pytest.mark.slow
def test_the_python_way_works_line_by_line(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = shell.user_ns
    names["opset"] = ["aten.linear", "aten.relu", "aten.mul"]
    only_two(monkeypatch)
    good, failing = block("explorer.explore(model, (x,), dynamic_shapes").split("ex.diagnosis")
    names["enc"] = names["model"]
    names["dec"] = torch.nn.Bilinear(2, 3, 1)
    names["config"] = LlamaConfig(num_hidden_layers=1, **SMALL)
    names["y"], names["z"] = torch.ones(4, 2), torch.ones(4, 3)
    names["program"] = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    names["loss_fn"] = lambda model, x, y: (model(x).sum() - y.sum()) ** 2
    left_out = [
        "explorer.exportdb.check()",  # tests/engine/test_exportdb.py runs all cases
        *("explore_generation", "kit.generate"),  # tests/engine/test_generation.py does
        "ex.stages()",  # tests/claims/test_stages.py does
        "model.pte",  # tests/claims/test_pte.py does
    ]
    if not shutil.which("dot"):
        left_out.append("graph.svg")

    for line in good.splitlines():
        if not any(each in line for each in left_out):
            cell(shell, line)
    assert len(names["ex"].session.attempts) == 3  # as exported, decomposed, and lowered
    assert {"model.pt2", "report.html", "record.json"} <= {each.name for each in tmp_path.iterdir()}

    cell(shell, "ex = explorer.explore(undecided, (x,))")
    for line in f"ex.diagnosis{failing}".splitlines():
        if "ex.reproduce" in line:  # tests/engine/test_reproduce.py does
            continue
        cell(shell, line)
        if line.startswith("ex.undo()"):
            assert not names["ex"].ok
            names["ex"].apply_fixes(0)
    assert "torch.where" in next(iter(names["ex"].session.fixed_source.values()))


@pytest.mark.slow
def test_programs_are_opened_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    x = torch.ones(2)
    program = torch.export.export(torch.nn.ReLU(), (x,))
    torch.export.save(program, "model.pt2")
    held = Path(__file__).parents[1] / "claims" / "delegated.pte"
    Path("model.pte").write_bytes(held.read_bytes())
    names = {"explorer": explorer, "program": program, "x": x, "one": program, "other": program}
    names["graph_module"] = torch.fx.symbolic_trace(torch.nn.ReLU())
    lines = [line for line in block("explorer.view(edge_manager)").splitlines() if line]
    assert len(lines) == 7
    for line in lines:
        if "edge_manager" not in line:  # tests/explorer/test_viewing.py opens one
            assert eval(line, names)


@pytest.mark.slow
def test_costs_are_asked_for_as_shown() -> None:
    model, x = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()), torch.ones(2, 3, 4)
    names: dict[str, Any] = {"explorer": explorer, "model": model, "x": x, "y": torch.ones(2, 3, 4)}
    names["ex"] = explorer.explore(model, (x,), dynamic_shapes="input: batch, seq, _")
    names["loss_fn"] = lambda model, x, y: (model(x) - y).square().sum()
    asked = block("cost = ex.cost()").replace('checkpointing("layers.0")', 'checkpointing("0")')
    with capture_output():
        exec(asked, names)


@pytest.mark.slow
def test_a_config_is_exported_without_weights_as_shown() -> None:
    config = LlamaConfig(num_hidden_layers=2, **SMALL)
    asked = block("whole = explorer.explore_config").partition('405B")\n')[2]
    asked = asked.replace("verify()", "verify(sizes=1)")
    with capture_output() as captured:
        exec(asked, {"explorer": explorer, "config": config})
    assert "guarantees hold" in captured.stdout


@pytest.mark.slow
def test_a_delegate_is_asked_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("executorch", reason="it is not installed: pip install '.[executorch]'")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(block("return torch.relu(y).mean((2, 3))"), names)
    with capture_output() as captured:
        exec(block("found.share_of_ops"), names)
        exec(block('"vulkan", "onnxruntime"))'), names)
        exec(block("for fix in found.fixes():"), names)
    assert "alpha" in captured.stdout
    assert (tmp_path / "delegation.json").exists()


@pytest.mark.slow
def test_a_run_of_a_pte_is_read_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("executorch", reason="it is not installed: pip install '.[executorch]'")
    from executorch.exir import to_edge_transform_and_lower
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    monkeypatch.chdir(tmp_path)
    x = (torch.ones(2, 4),)
    program = torch.export.export(torch.nn.Linear(4, 4), x)
    lowered = to_edge_transform_and_lower(program, generate_etrecord=True).to_executorch()
    Path("model.pte").write_bytes(lowered.buffer)
    lowered.get_etrecord().save("etrecord.bin")
    method = _load_for_executorch_from_buffer(lowered.buffer, enable_etdump=True)
    method.forward(x)
    method.write_etdump_result_to_file("trace.etdp", "values.bin")
    with capture_output() as captured:
        exec(block("file.read_run("), {"explorer": explorer})
    assert "linear" in captured.stdout


def test_a_check_of_a_delegate_is_read_as_shown() -> None:
    (table,) = tomllib.loads(block('delegate = "xnnpack"'))["tool"]["export-explorer"]["check"]

    assert msgspec.convert(table, Target).delegate_golden == "delegation.json"


MODULE = """
import torch
class Net(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x).relu()
def make():
    return Net(4, 4), (torch.ones(3, 4),)
"""


@pytest.mark.slow
def test_the_command_lines_of_the_readme_and_of_the_help_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    only_two(monkeypatch)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").write_text(MODULE)
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.export-explorer.check]]\ncall = "package/module.py:make"\n'
    )
    made = explorer.explore(torch.nn.ReLU(), (torch.ones(3, 4),))
    for name in ("model", "old", "new"):
        made.save(f"{name}.pt2")
    with pytest.raises(SystemExit):
        command_line.main(["--help"])
    taught = re.findall(r"^  (export-explorer \S+.*?)(?:   .*)?$", capsys.readouterr().out, re.M)
    lines = block("export-explorer model.pt2 --verify").splitlines()
    assert (len(lines), len(taught)) == (7, 9)

    for line in (*lines, *taught):
        if ".pte" in line:  # tests/claims/test_pte.py reads one
            continue
        assert command_line.main(shlex.split(line)[1:]) == 0, capsys.readouterr()
    assert (tmp_path / "report.html").exists()


def test_the_short_language_takes_what_is_shown() -> None:
    section = DOCS["reference/magic.md"].partition("The short language has")[2]
    specs = [each for each in re.findall(r"`([^`]+)`", section) if ":" in each]

    assert len(specs) == 5
    for spec in specs:
        assert str(Shapes.parse(spec)) == spec


@pytest.mark.after_check
def test_controls_that_a_page_names_are_on_the_page() -> None:
    """Words in bold, or slanted, are what a view or a button is called."""
    front_end = ROOT / "widgets" / "frontend" / "src"
    texts = [
        path.read_text(encoding="utf-8")
        for path in front_end.rglob("*.ts*")
        if ".test." not in path.name and "testing" not in path.parts
    ]
    notebooks = "".join(
        "".join(part["source"])
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        for part in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if part["cell_type"] == "markdown"
    )
    named = {
        words
        for words in re.findall(r"\*\*([A-Z][\w ]+?)\*\*", OF_THE_VIEW + notebooks)
        if words not in ("Outline", "Strict")  # a tree without a heading; a word explained
    }
    named |= set(re.findall(r"(?<!\*)\*([A-Za-z ]+)\*(?!\*)", OF_THE_VIEW))
    assert len(named) > 14
    label = r'[">`\s]{}["<`\s]'
    missing = [
        words
        for words in named
        if not any(re.search(label.format(re.escape(words)), text) for text in texts)
    ]
    assert missing == []


def test_no_text_is_set_as_html() -> None:
    """What a model says is data, on the page as well."""
    asks = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc")
    front_end = ROOT / "widgets" / "frontend" / "src"
    sources = [path for path in front_end.rglob("*.ts*") if ".test." not in path.name]

    assert len(sources) > 100
    assert [path.name for path in sources if asks.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.after_check
def test_the_help_of_the_magic_says_what_holds(shell: InteractiveShell) -> None:
    text = inspect.cleandoc(shell.find_line_magic("export").__doc__ or "")
    options = text.partition("Options, before the call:")[2].partition("The last result")[0]
    language = text.partition("names a dim for each size of an input:")[2].partition("`;`")[0]

    said = re.findall(r"^(?:(-d), )?(-{1,2}[\w-]+)", options, re.MULTILINE)
    assert {each for pair in said for each in pair if each} == set(OPTIONS)
    (named,) = re.findall(r"backends: ([\w,\s]+?), or all", options)
    assert {each.strip() for each in named.split(",")} <= {
        each.name for each in backend_registry.BUILT_IN
    }
    specs = re.findall(r"^(\w.*?)  ", language, re.MULTILINE)
    assert len(specs) == 8
    for spec in specs:
        assert str(Shapes.parse(spec)) == spec
    for line in re.findall(r"^%export .*?(?=  )|^%export -d .*?\)", text, re.MULTILINE)[:2]:
        assert "exported, non-strict" in cell(shell, line)
