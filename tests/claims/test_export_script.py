"""A saved script makes the same program again, in a process that does not know this package."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.reproduce import write_export_script
from export_engine.shapes import Shapes
from export_engine.verify.same_graph import difference
from tests.fixes.case import Case
from tests.fixes.outcomes import TABLE
from tests.fixes.sources import all_cases

_RUNNER = """
import importlib.util, json, os, runpy, sys, traceback
import torch
{written}
assert importlib.util.find_spec("export_engine") is None, "the package is on the path"
for script, program in json.load(sys.stdin):
    child = os.fork()
    if not child:
        sys.argv = [script, program]
        try:
            made = runpy.run_path(script, run_name="__main__")["program"]
            with open(program + ".txt", "w") as file:
                file.write(written(made))
        except BaseException:
            with open(program + ".error", "w") as file:
                file.write(traceback.format_exc())
        os._exit(0)
    os.waitpid(child, 0)
"""


def written(program):  # type: ignore[no-untyped-def]
    """A program as text: ops, arguments, values of nodes, signature and ranges."""
    values = [f"{node.name} {node.meta.get('val')}" for node in program.graph.nodes]
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
            continue  # the same, in the names of its nodes and symbols as well
        elif (found := difference(torch.export.load(file), each.program)) is not None:
            wrong[number] = found.text
    return wrong


def fixed(case: Case, strict: bool) -> Exported | None:
    """The program of a case, with fixes; None without one."""
    args, kwargs = case.call(0)
    shapes = Shapes.parse(case.shapes) if isinstance(case.shapes, str) else case.shapes
    request = Request(target=case.build(), args=args, kwargs=kwargs, shapes=shapes, strict=strict)
    attempt = autofix(request).attempt
    return attempt if isinstance(attempt, Exported) else None


def cheap_cases() -> list[tuple[str, bool]]:
    """Cases whose program needs a fix, the cheapest first; one per topic, then the others."""
    rows = json.loads(TABLE.read_text(encoding="utf-8"))["2.13"]
    found = sorted(
        (row["seconds"], name, mode == "strict")
        for name, modes in rows.items()
        for mode, row in modes.items()
        if row["ended"] == "exports" and row.get("fixes") and "seconds" in row
    )
    topics: set[str] = set()
    first, others = [], []
    for _, name, strict in found:
        topic = name.partition("/")[0]
        (others if topic in topics else first).append((name, strict))
        topics.add(topic)
    return [*first, *others]


def check_cases(cases: Sequence[tuple[str, bool]], folder: Path) -> dict[str, str]:
    """What is wrong, by case."""
    named = {each.name: each for each in all_cases()}
    made = [(name, fixed(named[name], strict)) for name, strict in cases if name in named]
    exported = [(name, each) for name, each in made if each is not None]
    wrong = check_same([each for _, each in exported], folder)
    return {exported[number][0]: said for number, said in wrong.items()}
