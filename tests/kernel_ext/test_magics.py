"""`%export` in IPython, without a notebook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import CompletionContext, provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import explorer
from export_engine.source import source_text
from kernel_ext.completion import export_matcher

from .cells import run

SETUP = """
import torch

class Doubled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)

    def forward(self, x, scale=2):
        return self.lin(x) * scale

    def gen(self, x):
        return self.lin(x)

class Undecided(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x

class Untouchable(torch.nn.Module):
    def forward(self, x):
        raise SystemExit("the model was run")

model, undecided, x = Doubled(), Undecided(), torch.ones(4, 3)
"""


@pytest.fixture
def shell(shell: InteractiveShell) -> InteractiveShell:
    assert shell.run_cell(SETUP).success
    return shell


def plain(text: str) -> str:
    """Without a terminal's colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_an_export_is_summed_up_in_text(shell: InteractiveShell) -> None:
    result, text = run(shell, '%export -d "x: batch, _" --as ex model(x)')
    assert result.success
    assert "exported, non-strict, 2 ops, batch in [0, ∞)" in text
    assert "f32[batch, 3]" in text
    assert shell.user_ns["ex"] is shell.user_ns["_export"]
    assert shell.user_ns["ex"].program.range_constraints


@pytest.mark.slow
def test_a_failure_is_shown_with_its_line_and_does_not_raise(shell: InteractiveShell) -> None:
    result, text = run(shell, "%export undecided(x)")
    assert result.success
    assert "if x.sum() > 0:" in text
    assert "Cell In[1], line" in text
    assert "Traceback" not in text


@pytest.mark.slow
def test_the_program_of_a_failure_says_that_there_is_none(shell: InteractiveShell) -> None:
    run(shell, "%export --no-display undecided(x)")
    result, text = run(shell, "_export.program")
    assert not result.success
    assert "There is no program: the export failed." in text
    assert "torch/" not in text


@pytest.mark.slow
def test_a_failure_can_be_fixed_by_itself(shell: InteractiveShell) -> None:
    shape = "x: a, b; y: c, d"
    run(shell, "def product(x, y): return x @ y\ny = torch.ones(3, 5)")
    _, text = run(shell, f'%export -d "{shape}" --as ex product(x, y)')
    assert "Require c = b" in text
    result, text = run(shell, f'%export --fix -d "{shape}" --as ex product(x, y)')
    assert result.success
    assert "Fixed by" in text
    assert "f32[a, d]" in text
    assert shell.user_ns["ex"].ok


def test_a_program_is_saved_and_opened(shell: InteractiveShell, tmp_path: Path) -> None:
    path = tmp_path / "doubled.pt2"
    run(shell, f'%export --save {path} -d "x: batch, _" model(x)')
    _, text = run(shell, f"%export --load {path}")
    assert "loaded, 2 ops, batch in [0, ∞)" in text
    result, text = run(shell, f"%export --save {tmp_path}/no/folder.pt2 model(x)")
    assert not result.success
    assert "cannot be written" in text


@pytest.mark.slow
def test_what_a_failed_export_leaves_undone_is_told(shell: InteractiveShell) -> None:
    _, text = run(shell, "%export --no-display --verify --save m.pt2 undecided(x)")
    assert text.strip() == "Skipped because the export failed: --verify, --save m.pt2."
    assert not Path("m.pt2").exists()


def test_an_error_of_a_call_is_its_sentence_alone(shell: InteractiveShell) -> None:
    run(shell, "import explorer\n%export --no-display --as ex model(x)")
    for cell in (
        "explorer.load('none.pt2')",
        "ex.query('op:')",
        "explorer.Shapes.parse('x batch')",
        "ex.run(sizes='batch=3')",
        "ex.apply_fixes('first')",
    ):
        result, text = run(shell, cell)
        assert not result.success
        assert "File " not in text, cell


@pytest.mark.parametrize(
    "option",
    ["--decompose cor", "--save no/x.pt2", "--html no/x.html", "--run --backend cor"],
)
def test_a_mistake_is_told_before_the_model_runs(shell: InteractiveShell, option: str) -> None:
    result, text = run(shell, f"%export {option} Untouchable()(x)")
    assert not result.success
    assert "'cor'" in text or "cannot be written" in text
    assert "the model was run" not in text


@pytest.mark.slow
def test_a_view_is_written_as_a_page(shell: InteractiveShell, tmp_path: Path) -> None:
    _, text = run(shell, f"%export --html {tmp_path}/report.html undecided(x)")
    assert f"Saved {tmp_path}/report.html (" in text
    assert "if x.sum()" in (tmp_path / "report.html").read_text()
    result, text = run(shell, f"%export --html {tmp_path}/no/report.html model(x)")
    assert not result.success
    assert "No such file or directory" in text


def test_nothing_is_shown_when_asked(shell: InteractiveShell) -> None:
    _, text = run(shell, "%export --no-display --as ex model(x)")
    assert text == ""
    assert shell.user_ns["ex"].ok


def test_a_cell_is_run_and_its_last_line_exported(shell: InteractiveShell) -> None:
    result, text = run(shell, "%%export --as ex\nz = torch.ones(7, 3)\nmodel(z, scale=5)")
    assert result.success
    assert "f32[7, 3]" in text
    assert shell.user_ns["z"].shape == (7, 3)
    assert shell.user_ns["ex"].record.title == "model(z, scale=5)"


def test_nothing_else_of_a_cell_is_displayed(shell: InteractiveShell) -> None:
    with capture_output() as captured:
        shell.run_cell("%%export\nlabel = 'é'; label\nmodel(\n  x +\n  x)")
    assert len(captured.outputs) == 1
    assert shell.user_ns["_export"].record.title == "model( x + x)"


def test_a_cell_may_hold_magics(shell: InteractiveShell) -> None:
    result, text = run(shell, "%%export\nlisted = !echo hello\n%env NAME=1\nmodel(x)")
    assert result.success
    assert shell.user_ns["listed"] == ["hello"]
    assert "exported, non-strict" in text


@pytest.mark.slow
def test_lines_of_a_cell_are_counted_as_the_user_sees_them(shell: InteractiveShell) -> None:
    cell = """%%export
class Here(torch.nn.Module):
    def forward(self, x):
        return x.unsqueeze(0).nonzero() if x.sum() > 0 else x

Here()(x)"""
    _, text = run(shell, cell)
    assert "Cell In[1], line 4, in forward" in text
    assert "x.unsqueeze(0)" in text


def test_the_source_of_a_cell_has_its_magics_as_they_were_typed(shell: InteractiveShell) -> None:
    cell = """class Where(torch.nn.Module):
    def forward(self, x):
        return x + 1

%export --as where Where()(x)"""
    run(shell, cell)
    record = shell.user_ns["where"].record
    files = [number for number, each in enumerate(record.files) if each.origin == "cell"]
    assert [source_text(record, number).strip() for number in files] == [cell]


@pytest.mark.parametrize("mode", ["", "--strict"])
@pytest.mark.slow
def test_a_class_of_the_cell_is_exported(shell: InteractiveShell, mode: str) -> None:
    cell = f"""%%export {mode}
class There(torch.nn.Module):
    def forward(self, x):
        return x + 1

There()(x)"""
    result, text = run(shell, cell)
    assert result.success
    assert ", 1 op" in text


@pytest.mark.after_check
def test_a_cell_that_raises_fails_and_exports_nothing(shell: InteractiveShell) -> None:
    run(shell, "%export --no-display --as ex model(x)")
    before = shell.user_ns["ex"]
    result, text = run(shell, "%%export --as ex\nz = 1\nz / 0\nmodel(z)")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert shell.user_ns["ex"] is before
    assert "----> 3 z / 0" in plain(text)
    assert "kernel_ext" not in text


def test_the_value_of_the_magic_is_the_result_where_it_is_used(shell: InteractiveShell) -> None:
    assert run(shell, "%export model(x)")[0].result is None
    run(shell, "ex = %export --no-display model(x)")
    assert shell.user_ns["ex"] is shell.user_ns["_export"]


CALLS = {
    "model.lin(x)": 1,
    "model.gen(x)": 1,
    "model(x, **{'scale': 4})": 2,
    "model(*[x])": 2,
    "(lambda t: t + 1)(x)": 1,
    "torch.relu(x)": 1,
    "[model][0](y := x)": 2,
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_any_callable_is_exported(shell: InteractiveShell, call: str) -> None:
    result, _ = run(shell, f"%export {call}")
    assert result.success
    ops = "1 op" if CALLS[call] == 1 else "2 ops"
    assert shell.user_ns["_export"].record.verdict == f"exported, non-strict, {ops}"
    assert shell.user_ns["_export"].record.title == call


def test_an_assignment_keeps_the_result(shell: InteractiveShell) -> None:
    run(shell, "%export ex = model(x)")
    assert shell.user_ns["ex"].ok


def test_a_dynamic_shapes_expression_is_evaluated(shell: InteractiveShell) -> None:
    run(shell, "spec = {'x': {0: torch.export.Dim('rows', max=9)}}")
    _, text = run(shell, "%export -D spec model(x)")
    assert "rows in [0, 9]" in text


def test_braces_and_dollars_of_the_call_are_left_alone(shell: InteractiveShell) -> None:
    result, text = run(shell, "%export model(**{'x': x})")
    assert result.success
    assert "exported" in text


USAGE = {
    "%export modle(x)": "name 'modle' is not defined. Did you mean model?",
    "%export": "Pass the call to export",
    "%export modle": "Not a call: modle",
    "%export model(x) --strict": "Options come before the call",
    "%export model(x, **{'x': x}, x=x)": "passes x twice",
    "%export model((await x))": "This is not valid Python",
    "%%export --load f.pt2\nmodel(x)": "%%export runs a cell",
    "%%export model(x)\nmodel(x)": "exports the call in the cell's last line",
    "%%export\n%time model(x)": "ends with a magic",
    "%%export\nawait x\nmodel(x)": "'await' outside function",
    "%export x(1)": "x is a Tensor and cannot be called",
    '%export -d "x: batch" model(x)': "x has 2 dims, [4, 3], but the spec has 1",
    '%export -d "x: a b" model(x)': "expected `,`",
    "%export model(x, y=1)": "unexpected keyword argument 'y'",
    "%export --load nowhere.pt2": "nowhere.pt2 does not exist",
}


@pytest.mark.parametrize("line", USAGE)
def test_a_line_that_does_not_work_says_why_without_a_traceback(
    shell: InteractiveShell, line: str
) -> None:
    result, text = run(shell, line)
    assert not result.success
    assert USAGE[line] in text
    assert "Traceback" not in text
    assert 'File "' not in text


@pytest.mark.after_check
def test_an_error_of_the_users_own_expression_is_theirs_to_see(shell: InteractiveShell) -> None:
    result, text = run(shell, "%export model(1 / 0)")
    assert not result.success
    assert "ZeroDivisionError" in text
    assert "model(1 / 0)" in plain(text).rpartition("<%export")[2]
    assert "kernel_ext" not in text


def test_an_interrupt_says_so_and_keeps_the_last_result(shell: InteractiveShell) -> None:
    run(shell, "%export --no-display --as ex model(x)")
    before = shell.user_ns["ex"]
    interrupting = """
class Stops(torch.nn.Module):
    def forward(self, x):
        raise KeyboardInterrupt
"""
    run(shell, interrupting)
    result, text = run(shell, "%export --as ex Stops()(x)")
    assert result.success
    assert "Interrupted. Nothing has changed." in text
    assert shell.user_ns["ex"] is before


COMPLETIONS = {
    "%export --st": ({"--strict"}, {"staticmethod"}),
    "%%export --st": ({"--strict"}, {"staticmethod"}),
    "%export ": ({"model", "undecided", "--both", "-d"}, {"x", "exit"}),
    "%export --strict mod": ({"model"}, {"%mode"}),
    "%export ex = mod": ({"model"}, {"%mode"}),
    "ex = %export mod": ({"model"}, {"%mode"}),
    "%export -d 'x: batch, _' model(x": ({"x", "x="}, {"%xdel"}),
    "%export model(x, sc": ({"scale="}, {"%sc"}),
    "%export model.lin(x, inp": ({"input="}, set()),
    "%export model.ge": ({"gen"}, set()),
    "%export -D mod": ({"model"}, set()),
    "%export --run mod": ({"model"}, {"%mode"}),
    "%export --run cuda mod": ({"model"}, {"%mode"}),
    "%export --backend on": (set(), {"--strict"}),
    "%export --load nowh": (set(), {"--strict"}),
    "%export -d 'x: ": (set(), {"--strict"}),
    "mod": ({"model"}, {"--strict"}),
}


@pytest.mark.parametrize("line", COMPLETIONS)
@pytest.mark.parametrize("jedi", [True, False])
@pytest.mark.slow
def test_what_may_follow_is_completed(shell: InteractiveShell, line: str, jedi: bool) -> None:
    completer: Any = shell.Completer
    completer.use_jedi = jedi
    with provisionalcompleter():
        found = {each.text for each in completer.completions(line, len(line))}
    wanted, unwanted = COMPLETIONS[line]
    if "." not in line or jedi:  # attributes are IPython's to find
        assert wanted <= found
    assert not unwanted & found


def test_completing_runs_nothing_of_the_users(shell: InteractiveShell) -> None:
    run(
        shell,
        """
class Trap:
    touched = False
    @property
    def inner(self):
        Trap.touched = True
trap = Trap()""",
    )
    line = "%export trap.inner(x"
    export_matcher(CompletionContext("x", line, len(line), 0, None))
    assert not shell.user_ns["Trap"].touched


def test_unloading_takes_everything_away(shell: InteractiveShell) -> None:
    completer: Any = shell.Completer
    shell.run_line_magic("reload_ext", "kernel_ext")
    assert len(completer.custom_matchers) == 1
    shell.run_line_magic("unload_ext", "kernel_ext")
    assert completer.custom_matchers == []
    assert shell.find_line_magic("export") is None


@pytest.mark.slow
def test_a_program_in_hand_is_shown(shell: InteractiveShell) -> None:
    run(shell, "program = torch.export.export(Doubled(), (torch.randn(2, 3),))")
    _, text = run(shell, "%view program")
    assert "ExportedProgram, 2 ops" in text
    run(shell, "seen = %view program")
    assert shell.user_ns["seen"].ok
    for words, said in (("", "%view needs a program"), ("Doubled()", "Doubled is not a program")):
        result, _ = run(shell, f"%view {words}")
        assert said in str(result.error_in_exec)


@pytest.mark.slow
def test_a_training_step_is_shown(shell: InteractiveShell) -> None:
    run(shell, "def loss_fn(model, x): return model(x).pow(2).mean()")
    _, text = run(shell, "%export --joint --as step loss_fn(Doubled(), torch.randn(2, 3))")
    assert "joint graph" in text
    record = shell.user_ns["step"].record
    assert record.overlays[0].name == "pass"
    cells = [each.name for each in record.files if each.origin == "cell"]
    assert "Cell In[1]" in cells
    assert "a cell of another session" not in cells
    result, _ = run(shell, "%export --joint torch.sin(torch.randn(2))")
    assert "Nothing in the result needs a gradient" in str(result.error_in_exec)
    result, _ = run(shell, "%export --joint --verify loss_fn(Doubled(), torch.randn(2, 3))")
    assert "leave out --verify" in str(result.error_in_exec)


@pytest.mark.slow
def test_an_export_is_compared_at_once(shell: InteractiveShell, tmp_path: Path) -> None:
    golden = tmp_path / "golden.pt2"
    run(shell, f'%export --no-display --as golden --save "{golden}" Doubled()(torch.randn(2, 3))')
    run(shell, "def tripled(x): return x * 3")
    _, text = run(shell, "%export --diff golden tripled(torch.randn(2, 3))")
    assert "1 removed" in text
    _, text = run(shell, f'%export --diff "{golden}" --no-display Doubled()(torch.randn(2, 3))')
    assert "Identical up to names" in text
    assert explorer.diff(golden, shell.user_ns["_export"]).summary in text
    result, _ = run(shell, "%export --diff nothing tripled(torch.randn(2, 3))")
    assert "There is no variable nothing" in str(result.error_in_exec)
    result, _ = run(shell, "%export --diff golden --into kit --name a tripled(torch.randn(2, 3))")
    assert "leave out --into" in str(result.error_in_exec)


def test_help_teaches_the_options(shell: InteractiveShell) -> None:
    from kernel_ext.command import OPTIONS

    text = shell.find_line_magic("export").__doc__ or ""
    for option in OPTIONS:
        assert option in text


@pytest.mark.after_check
def test_two_results_are_compared(shell: InteractiveShell, tmp_path: Path) -> None:
    run(shell, '%export -d "x: batch, _" --as a model(x)')
    run(shell, '%export -d "x: n, _" --as b model(x)')
    result, text = run(shell, "%export_diff a b")
    assert result.success
    assert "Identical up to names" in text
    assert "batch → n" in text
    run(shell, "d = %export_diff a b")
    assert shell.user_ns["d"].ok
    shell.user_ns["b"].save(tmp_path / "b.pt2")
    _, text = run(shell, f'%export_diff a "{tmp_path / "b.pt2"}"')
    assert "Identical up to names" in text
    for words in ("a", "a nobody", "a 3.pt2", 'a "'):
        result, text = run(shell, f"%export_diff {words}")
        assert not result.success
        assert "Traceback" not in plain(text)


@pytest.mark.slow
def test_a_program_is_decomposed_and_verified(shell: InteractiveShell) -> None:
    result, text = run(shell, "%export --decompose core --verify --as c model(x)")
    assert result.success
    assert "decomposed (core)" in text
    assert "aten.linear.default ×1 → aten.permute.default ×1, aten.addmm.default ×1" in text
    assert "11 guarantees hold" in text
    assert len(shell.user_ns["c"].attempts) == 2
    run(shell, "mine = {torch.ops.aten.linear.default: lambda x, w, b: x @ w.t() + b}")
    result, text = run(shell, "%export --decompose mine model(x)")
    assert result.success
    assert "a table of 1 op" in text
    result, text = run(shell, "%export --decompose everything model(x)")
    assert not result.success
    assert "Unknown decomposition table 'everything'" in plain(text)


@pytest.mark.slow
def test_a_program_is_run_and_profiled(shell: InteractiveShell) -> None:
    result, text = run(shell, "%export --run cpu --profile --as r model(x)")
    assert result.success
    assert "✓ exported program" in text
    assert "Profile" in text
    assert [row.backend for row in shell.user_ns["r"].record.runs] == ["eager", "program"]
    result, text = run(shell, "%export --backend=program --run model(x)")
    assert result.success
    assert "eager module" not in text
    result, text = run(shell, "%export --on model model(x)")
    assert not result.success
    assert "The client has no engines" in plain(text)
    result, text = run(shell, "%export --backend tvm model(x)")
    assert not result.success
    assert "There is no backend 'tvm'" in plain(text)
    assert "Traceback" not in plain(text)


@pytest.mark.slow
def test_a_guide_goes_step_by_step_and_leaves_a_report(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    report = tmp_path / "report.html"
    result, text = run(shell, f"%export --guide --as ex --html {report} undecided(x)")

    assert result.success
    for heading in ("✗ 1. Export", "2. Explain: A branch on data", "✓ 3. Fix", "Verify", "Report"):
        assert heading in text
    assert "Cell In[1], line" in text
    assert "`ex.session.fixed_source` has the fixed code" in text
    assert shell.user_ns["ex"].ok
    assert shell.user_ns["ex"] is shell.user_ns["_export"]
    assert "guarantees hold" in report.read_text().partition("<main")[0]
    assert "exported, non-strict" in text.partition("Report")[2]  # the view comes last


@pytest.mark.parametrize("option", ["--both", "--no-display", "--decompose core", "--load x.pt2"])
def test_a_guide_goes_its_own_way(shell: InteractiveShell, option: str) -> None:
    call = "" if "load" in option else "model(x)"
    result, _ = run(shell, f"%export --guide {option} {call}")

    assert not result.success
    assert "--guide works only with" in str(result.error_in_exec)


def test_a_call_from_python_knows_the_notebooks_cells(shell: InteractiveShell) -> None:
    cell = """
import explorer, torch

def f(x):
    return x.relu()

ex = explorer.explore(f, (torch.ones(3),))
"""
    result = shell.run_cell(cell, store_history=True)
    assert result.success
    shell.run_cell("seen = explorer.view(ex.program)")
    for name in ("ex", "seen"):
        files = shell.user_ns[name].record.files
        assert [each.name for each in files if each.origin == "cell"] == ["Cell In[1]"]


def test_stages_are_printed_where_nothing_is_displayed(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def compiled(self: explorer.Exploration, backend: str, **options: Any) -> str:
        asked.append((backend, options["device"]))
        return "the ten slowest lines"

    monkeypatch.setattr(explorer.Exploration, "stages", compiled)
    result, text = run(shell, "%export --no-display --stages=aoti model(x)")
    assert result.success
    assert "the ten slowest lines" in text
    result, text = run(shell, "%export --stages model(x)")
    assert "the ten slowest lines" not in text
    assert asked == [("aoti", "cpu"), ("inductor", "cpu")]
