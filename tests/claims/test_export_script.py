"""A saved script makes the same program again, in a process that does not know this package."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

import explorer
from export_engine.attempt import Exported, Request
from export_engine.describe import describe
from export_engine.diff import prove_identical
from export_engine.fixes import autofix
from export_engine.reproduce import NoScript, write_export_script
from export_engine.shapes import Shapes
from tests.fixes.case import Case
from tests.fixes.outcomes import TABLE
from tests.fixes.sources import all_cases

_RUNNER = """
import contextlib, importlib.util, json, os, runpy, sys, traceback
import torch
torch.export.export(torch.nn.ReLU(), (torch.ones(2),), strict=True)  # imports what each fork would
{written}
assert importlib.util.find_spec("export_engine") is None, "the package is on the path"
for script, program in json.load(sys.stdin):
    child = os.fork()
    if not child:
        sys.argv = [script]
        try:
            made = runpy.run_path(script, run_name="__main__")["program"]
            with open(program + ".txt", "w") as file:
                file.write(written(made))
            with contextlib.suppress(Exception):  # a class of the script is no longer in __main__
                torch.export.save(made, program)
        except BaseException:
            with open(program + ".error", "w") as file:
                file.write(traceback.format_exc())
        os._exit(0)
    os.waitpid(child, 0)
"""


def written(program):  # type: ignore[no-untyped-def]
    """A program as text: ops, arguments, values of nodes, signature and ranges."""
    values = []
    for node in program.graph.nodes:
        value = node.meta.get("val")
        tensor = isinstance(value, torch.Tensor)
        values.append(f"{node.name} {(value.shape, value.dtype) if tensor else type(value)}")
    specs = [str(each.kind) for each in program.graph_signature.input_specs]
    specs += [str(each.kind) for each in program.graph_signature.output_specs]
    ranges = sorted(f"{name}: {each}" for name, each in program.range_constraints.items())
    return "\n".join([str(program.graph), *values, *specs, *ranges])


def run_scripts(scripts: Sequence[Path]) -> list[Path]:
    """Runs scripts, each in a fork of one fresh process; the files of their programs."""
    programs = [each.with_suffix(".pt2") for each in scripts]
    pairs = [[str(one), str(other)] for one, other in zip(scripts, programs, strict=True)]
    folders = [each for each in sys.path if "site-packages" in each]
    runner = _RUNNER.replace("{written}", inspect.getsource(written))
    code = f"import sys; sys.path += {folders!r}\n{runner}"
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        input=json.dumps(pairs),
        text=True,
        check=True,
        cwd=scripts[0].parent,
        env={key: each for key, each in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
    )
    return programs


def check_same(exported: Sequence[Exported], folder: Path) -> dict[int, str]:
    """What is wrong with the script of each export, by its number."""
    scripts = []
    for number, each in enumerate(exported):
        script = folder / f"script_{number}.py"
        script.write_text(write_export_script(each), encoding="utf-8")
        scripts.append(script)
    wrong = {}
    for number, (file, each) in enumerate(zip(run_scripts(scripts), exported, strict=True)):
        error = Path(f"{file}.error")
        if error.is_file():
            wrong[number] = error.read_text(encoding="utf-8").strip().splitlines()[-1]
        elif Path(f"{file}.txt").read_text(encoding="utf-8") == written(each.program):
            continue  # the same, in the names of its nodes as well
        elif not file.is_file():
            wrong[number] = "other names of nodes, and no file to compare"
        elif found := find_difference(each, torch.export.load(file)):
            wrong[number] = found
    return wrong


def find_difference(exported: Exported, program: torch.export.ExportedProgram) -> str:
    """The first difference by the proof of a diff; empty if there is none."""
    other = describe(replace(exported, program=program, agreement=None, kept=None))
    found = prove_identical(describe(exported), other, same_objects=True).mismatch
    return "" if found is None else f"{found.what}: {found.before}, {found.after}"


def fixed(case: Case, strict: bool) -> Exported | None:
    """The program of a case, with fixes; None without one."""
    args, kwargs = case.call(0)
    shapes = Shapes.parse(case.shapes) if isinstance(case.shapes, str) else case.shapes
    request = Request(
        target=case.build(), args=args, kwargs=kwargs, dynamic_shapes=shapes, strict=strict
    )
    attempt = autofix(request).attempt
    return attempt if isinstance(attempt, Exported) else None


def list_fixed_cases() -> list[tuple[str, bool]]:
    """Every case and mode whose program needs a fix, the cheapest first."""
    rows = json.loads(TABLE.read_text(encoding="utf-8"))["2.13"]
    cases = sorted(
        (row["seconds"], name, mode == "strict")
        for name, modes in rows.items()
        for mode, row in modes.items()
        if row["ended"] == "exports" and row.get("fixes")
    )
    return [(name, strict) for _, name, strict in cases]


CASES = list_fixed_cases()
QUICK = [
    ("loops/integers-loop", False),  # exported within torch.no_grad
    ("inputs/makes", False),  # registers a class with slots
    ("inputs/target", False),  # returns a class that an earlier capture registered
    ("inputs/gives-levels", False),  # registers a dict with attributes of its own
    ("reports/takes-pair", False),  # a named tuple, which torch takes the specs of as one
    ("reports/takes-easy-dict", False),  # takes a dict of a class of its own
    ("max_pool1d/max-pool1d", False),  # a fix rewrites functions of torch itself
    ("numbers/logs-mean", False),  # holds a logger
    ("reports/example-below-the-range", False),  # a Dim is called as an argument is
    ("numbers/crops-box", False),  # gives NaN on random inputs
]
TOPICS = sorted({name.partition("/")[0] for name, _ in CASES})


def wrong_of(cases: Sequence[tuple[str, bool]], folder: Path) -> dict[str, str]:
    """What is wrong, by case."""
    named = {each.name: each for each in all_cases()}
    made = [(name, fixed(named[name], strict)) for name, strict in cases]
    exported = [(name, each) for name, each in made if each is not None]
    assert len(exported) == len(cases)
    wrong = check_same([each for _, each in exported], folder)
    return {exported[number][0]: said for number, said in wrong.items()}


@pytest.mark.slow
def test_scripts_of_fixed_cases_make_the_same_programs(tmp_path: Path) -> None:
    assert {*QUICK} <= {*CASES}
    assert not wrong_of(QUICK, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("topic", TOPICS)
def test_scripts_of_every_fixed_case_make_the_same_programs(topic: str, tmp_path: Path) -> None:
    assert not wrong_of([each for each in CASES if each[0].startswith(f"{topic}/")], tmp_path)


class Tied(torch.nn.Module):
    """Weights under two names, and a layer that another mode than the model's is."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(8, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.norm.eval()
        self.head = torch.nn.Linear(4, 8, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.embed(ids)))


class Hooked(torch.nn.Module):
    """A hook, a frozen weight, and a function with an argument that is set."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.linear.weight.requires_grad_(False)
        self.linear.register_forward_hook(lambda module, args, output: output * 2)
        self.act = partial(torch.nn.functional.leaky_relu, negative_slope=0.5)

    def forward(self, x: torch.Tensor, *rest: torch.Tensor, **more: torch.Tensor) -> torch.Tensor:
        return self.act(self.linear(x)) + sum(rest) + more["bias"]

    def head(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + 1


def double(x: torch.Tensor, by: int = 2, *, plus: int = 1) -> torch.Tensor:
    return x * by + plus


@pytest.mark.slow
def test_scripts_write_ties_hooks_modes_partials_and_arguments_as_they_are(tmp_path: Path) -> None:
    x = torch.randn(3, 4)
    calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (Tied(), (torch.arange(3),), {}),
        (Hooked(), (x, x), {"bias": x}),  # one tensor is three inputs
        (Hooked().head, (x,), {}),
        (double, (x,), {"plus": 3}),
        (torch.nn.MultiheadAttention(4, 2), (x, x, x), {}),
        (torch.nn.TransformerEncoderLayer(4, 2, 8).eval(), (x,), {}),
        (torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 4)), (x,), {}),
    ]
    attempts = []
    for model, args, kwargs in calls:
        attempt = explorer.explore(model, args, kwargs).session.entry.attempt
        assert isinstance(attempt, Exported)
        attempts.append(attempt)
    assert not check_same(attempts, tmp_path)


class Scaled(torch.nn.Module):
    """A model with weights, of which the file has none."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * x.shape[0]


@pytest.mark.slow
def test_a_script_with_a_state_dict_makes_a_program_with_its_weights(tmp_path: Path) -> None:
    model = Scaled()
    ex = explorer.explore(model, (torch.randn(3, 4),), dynamic_shapes="x: n, _")
    script = ex.save(tmp_path / "export.py")
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    saved = tmp_path / "model.pt2"
    command = [sys.executable, str(script), str(saved), str(tmp_path / "weights.pt")]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    x = torch.randn(5, 4)

    assert "explorer" not in script.read_text(encoding="utf-8")
    torch.testing.assert_close(torch.export.load(saved).module()(x), model(x))


def test_a_program_without_its_call_has_no_script() -> None:
    program = torch.export.export(Scaled(), (torch.randn(3, 4),))
    ex = explorer.view(program)
    with pytest.raises(NoScript, match="without the call"):
        ex.save("never.py")
