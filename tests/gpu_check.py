"""What a GPU shows, in eight minutes: `python -m tests.gpu_check docs/reference/gpu.md`.

Runs on a machine with torch and one NVIDIA GPU, and with the packages of `NEEDS`. Each step is a
process of its own with what is left of the time; one that fails or takes too long is a row that
says so. The record replaces the page's part of this name, with its date, after each step. Without a
GPU or a package nothing is run and nothing is written.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

SECONDS = 480.0
"""For all steps together."""
NEEDS = (
    "msgspec",
    "pygments",
    "platformdirs",
    "graphviz",
    "numpy",
    "psutil",
    "pytest",
    "hypothesis",
)
"""Packages beside torch."""
HEADING = "## By `make gpu-check`"
ROOT = Path(__file__).parents[1]


class Step(NamedTuple):
    """A command and the seconds that it may take."""

    name: str
    command: Sequence[str]
    most: float


STEPS = (
    Step(
        "tests of what only a GPU shows",
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/engine/test_on_a_gpu.py"],
        220,
    ),
    Step("runs on the GPU beside eager", ["-m", "tests.gpu_check", "--runs"], 120),
    Step("stages: layers of a transformer", ["-m", "tests.gpu_check", "--stages", "0"], 120),
    Step("stages: convolutions", ["-m", "tests.gpu_check", "--stages", "1"], 120),
    Step("stages: a sort between elementwise ops", ["-m", "tests.gpu_check", "--stages", "2"], 120),
)


class Layers(nn.Module):
    """Two layers of attention."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(2)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x) * 2
        return x


class Convolutions(nn.Module):
    """A change of layout in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.first(x).relu().to(memory_format=torch.channels_last)
        out: torch.Tensor = self.second(h).relu().mean((2, 3))
        return out


class Sorted(nn.Module):
    """An op that Inductor does not fuse."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.sigmoid() * 2
        h = h.sort(-1).values
        return (h.exp() + 1).softmax(-1)


MODELS = (
    (Layers, (4, 16, 64)),
    (Convolutions, (4, 3, 32, 32)),
    (Sorted, (64, 4096)),
)


def main(arguments: Sequence[str]) -> int:
    """Runs one step, or all of them; 0 if none failed, or where there is no GPU."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        print(f"Nothing was checked. Install first: pip install {' '.join(missing)}")
        return 1
    if not torch.cuda.is_available():
        print("torch sees no NVIDIA GPU here: nothing was checked.")
        return 0
    if arguments[:1] == ["--runs"]:
        return show_runs()
    if arguments[:1] == ["--stages"]:
        return show_stages(int(arguments[1]))
    deadline = time.monotonic() + SECONDS
    rows: list[Outcome] = []
    for step in STEPS:
        rows.append(run_step(step, deadline))
        print(rows[-1], flush=True)
        for path in arguments[:1]:
            write_into(Path(path), record_of(rows))
    return int(any(not row.ok for row in rows))


class Outcome(NamedTuple):
    """How a step went."""

    name: str
    ok: bool
    seconds: float
    last: str
    """Its last line, or why it was ended."""


def run_step(step: Step, deadline: float) -> Outcome:
    """Runs a step within its own time and what is left of all."""
    most = min(step.most, deadline - time.monotonic())
    if most < 5:
        return Outcome(step.name, False, 0, "left out: the eight minutes were over")
    started = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, *step.command],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=most,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        printed = (error.stdout or b"").decode(errors="replace").split("\n")
        last = next((line for line in reversed(printed) if line.strip()), "")
        return Outcome(step.name, False, most, f"ended after {most:.0f} s {last}".strip())
    lines = [line for line in done.stdout.splitlines() if line.strip()] or [""]
    if done.returncode:
        lines += [line for line in done.stderr.splitlines() if line.strip()][-1:]
    return Outcome(step.name, not done.returncode, time.monotonic() - started, lines[-1].strip())


def show_runs() -> int:
    """Runs a model on the GPU by what is there, and prints how many agree with eager."""
    import explorer

    model = Layers().cuda().eval()
    x = torch.randn(4, 16, 64, device="cuda")
    runs = explorer.explore(model, (x,), dynamic_shapes="x: batch, _, _").run(
        "cuda", ["eager", "program", "inductor"]
    )
    print(runs)
    agree = sum(row.outcome == "agrees" for row in runs.rows)
    print(f"{agree} of {len(runs.rows)} backends agree with eager")
    return int(not runs.ok)


def show_stages(number: int) -> int:
    """Compiles one of three models, and prints its kernels: Triton's, each with lines."""
    import explorer

    kind, shape = MODELS[number]
    model = kind().cuda().eval()
    stages = explorer.explore(model, (torch.randn(shape, device="cuda"),)).stages(device="cuda")
    print(stages)
    triton = [each for each in stages.kernels if each.name.startswith("triton_")]
    lines = [each for each in stages.kernels if each.lines]
    timed = [each for each in stages.kernels if each.microseconds >= 0]
    times = stages.data.times
    share = f"{times.owned:.0%} of their time of known lines" if times else "not timed"
    count = len(stages.kernels)
    print(
        f"{count} kernels, {len(triton)} of Triton, {len(lines)} with lines, {len(timed)} timed, "
        f"{share}"
    )
    return int(not triton or len(lines) < count or len(timed) < count)


def record_of(rows: Sequence[Outcome]) -> str:
    """The part of the page, as Markdown."""
    name = torch.cuda.get_device_name(0)
    lines = [
        HEADING,
        "",
        f"Run on {date.today():%Y-%m-%d} on one {name}, with torch {torch.__version__}.",
        "",
        "| what | how it went | seconds |",
        "|---|---|---|",
        *(
            f"| {row.name} | {'✓' if row.ok else '✗'} {row.last.replace('|', '/')[:160]} "
            f"| {row.seconds:.0f} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


def write_into(page: Path, text: str) -> None:
    """Puts the record into a page, in place of the one before."""
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    kept = before.partition(HEADING)[0].rstrip()
    page.write_text(f"{kept}\n\n{text}" if kept else text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
