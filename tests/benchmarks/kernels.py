"""Real models compiled with their stages: which kernels have lines, and what is left of a call.

Budgets: every kernel has its ops and its lines, 95 % of the kernels' time is of known lines, a
compilation with stages takes at most 1.1 times a bare one, and 4,000 ops are joined in 0.5 s.
`EVERY=4` takes one model of four.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import nn

import explorer
from explorer.results.stages import StagesResult
from export_engine.stages.joining import Provenance, join_stages
from export_engine.torch_internals import compilation_traced, compile_package

from .table import Row
from .zoo import MODELS, Model
from .zoo.model import own

OF_PACKAGES = (
    "bert",
    "distilbert",
    "gpt2",
    "llama",
    "mistral",
    "mixtral",
    "mamba",
    "t5",
    "vit",
    "convnext",
    "resnet",
    "mobilenet-v2",
    "mobilevit",
    "selective scan",
    "gru",
    "transformer encoder",
)


class Perceptron(nn.Sequential):
    """Three layers."""

    def __init__(self) -> None:
        super().__init__(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 128), nn.ReLU())


class Recurrent(nn.Module):
    """An LSTM with a head."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(16, 32, batch_first=True)
        self.head = nn.Linear(32, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.lstm(x)[0]).softmax(-1)
        return out


class Passing(nn.Module):
    """Two rounds of messages along the edges of a graph."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.update = nn.Linear(8, 8), nn.Linear(16, 8)

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges[0], edges[1]
        for _ in range(2):
            sent = self.message(nodes[source]).relu()
            received = torch.zeros_like(nodes).index_add(0, target, sent)
            nodes = self.update(torch.cat([nodes, received], 1)).tanh()
        return nodes


class Denoiser(nn.Module):
    """A UNet of two levels."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(8, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.up = nn.ConvTranspose2d(8, 3, 2, stride=2)
        self.out = nn.Conv2d(6, 3, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        h = self.down(image).relu()
        h = h + self.norm(self.middle(h)).relu()
        out: torch.Tensor = self.out(torch.cat([self.up(h), image], 1))
        return out


class Chain(nn.Module):
    """4,000 ops, each of the one before."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2000):
            x = x.sin().cos()
        return x


def _graph(nodes: int, edges: int) -> tuple[tuple[torch.Tensor, ...], dict[str, torch.Tensor]]:
    return (torch.randn(nodes, 8), torch.randint(0, nodes, (2, edges))), {}


PLAIN = (
    own("perceptron", Perceptron, lambda batch: ((torch.randn(batch, 64),), {}), "", batch=32),
    own("lstm", Recurrent, lambda batch: ((torch.randn(batch, 9, 16),), {}), "", batch=4),
    own("message passing", Passing, _graph, "", nodes=10, edges=30),
    own("unet", Denoiser, lambda batch: ((torch.randn(batch, 3, 16, 16),), {}), "", batch=2),
)


def run() -> list[Row]:
    """The rows of all models, then what stages add to a compilation."""
    every = int(os.environ.get("EVERY", "1"))
    named = {model.name: model for model in MODELS}
    models = [*PLAIN, *(named[name] for name in OF_PACKAGES if name in named)][::every]
    rows: list[Row] = []
    for model in models:
        rows += _of_model(model)
        print(
            *(f"{row.subject}: {row.name} {row.figure}" for row in rows[-4:]), sep="\n", flush=True
        )
    return [
        *rows,
        _beside_bare("torch.compile", True, _compile),
        _beside_bare("AOTInductor", False, _package),
        _joining(),
    ]


def _of_model(model: Model) -> list[Row]:
    """Its kernels with lines, and the parts of its call."""
    torch.manual_seed(0)
    try:
        args, kwargs = model.call(**model.sizes)
        stages = explorer.explore(model.build(), args, kwargs, title=model.name).stages()
    except Exception as error:  # noqa: BLE001 - a package that is not here, or what does not compile
        said = " ".join(str(error).split())[:160]
        return [Row(model.name, "stages", None, means=f"{type(error).__name__}: {said}")]
    return _figures(model.name, stages)


def _figures(name: str, stages: StagesResult) -> list[Row]:
    times = stages.data.times
    assert times is not None
    without = [each.name for each in stages.kernels if not (each.lines and each.nodes)]
    untimed = [each.name for each in stages.kernels if each.microseconds < 0]
    total = times.kernels + times.between + times.overhead
    return [
        Row(
            name,
            f"kernels without ops or lines, of {len(stages.kernels)}",
            len(without),
            most=0,
            means=", ".join(without[:4]) or "each has both",
        ),
        Row(
            name,
            "kernels without a time",
            len(untimed),
            most=0,
            means=", ".join(untimed[:4]) or "each was measured",
        ),
        Row(
            name,
            "time of kernels with known lines",
            round(100 * times.owned, 1),
            "%",
            least=95,
            means="tied to lines of the user's code",
        ),
        Row(
            name,
            "kernels' share of a profiled call",
            round(100 * times.kernels / total, 1) if total else 0.0,
            "%",
            means="the rest is shown as the rest of the call",
        ),
    ]


def _beside_bare(title: str, in_python: bool, compile_once: Callable[[Any, Any], object]) -> Row:
    """CPU time of a compilation with stages beside a bare one, both without torch's caches."""
    model = PLAIN[-1]
    args, _ = model.call(**model.sizes)
    ex = explorer.explore(model.build().eval(), args)
    took: dict[bool, list[float]] = {False: [], True: []}
    with torch._inductor.config.patch(force_disable_caches=True, compile_threads=1):
        torch.compile(nn.GELU())(torch.ones(9))  # imports, and headers that are precompiled once
        compile_once(ex.program, args)
        for with_stages in (False, True) * 3:
            began = _cpu_seconds()
            traced = compilation_traced(lambda _: None, in_python=in_python)
            with traced if with_stages else nullcontext(), torch.no_grad():
                compile_once(ex.program, args)
            took[with_stages].append(_cpu_seconds() - began)
    bare, ours = (min(took[with_stages]) for with_stages in (False, True))
    return Row(
        model.name,
        f"{title} with stages, beside a bare one",
        round(ours / bare, 2),
        "times",
        most=1.1,
        means=f"{ours:.1f} s and {bare:.1f} s of CPU time, the quickest of three each",
    )


def _compile(program: Any, args: Any) -> None:
    torch._dynamo.reset()
    torch.compile(program.module())(*args)


def _package(program: Any, _: Any) -> None:
    with TemporaryDirectory() as folder:
        compile_package(program, Path(folder) / "model.pt2")


def _cpu_seconds() -> float:
    """Of this process and of the compilers that it started."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _joining() -> Row:
    """Seconds to join a program of 4,000 ops with what its compilation told, a kernel per two."""
    record = explorer.explore(Chain(), (torch.randn(4),)).record
    graph = record.graphs[0]
    names = [record.strings[graph.name[node]] for node in range(len(graph.name))][1:-1]
    rows = [
        f'        {name}: "f32[4][1]cpu" = torch.ops.aten.{name.rstrip("_0123456789")}'
        f".default({before});  {before} = None"
        for before, name in pairwise(["arg0_1", *names])
    ]
    text = "\n".join(
        [
            "class G(torch.nn.Module):",
            '    def forward(self, arg0_1: "f32[4][1]cpu"):',
            *rows,
            f"        return ({names[-1]},)",
        ]
    )
    pairs = [names[at : at + 2] for at in range(0, len(names), 2)]
    kernels = {f"cpp_fused_{at}:{at + 1}": pair for at, pair in enumerate(pairs)}
    provenance = Provenance({name: [name] for name in names}, kernels, {})
    texts = dict.fromkeys(
        ("before_pre_grad_graph", "before_post_grad_graph", "inductor_post_grad_graph"), text
    )
    seconds = []
    for _ in range(3):
        began = _cpu_seconds()
        joined = join_stages(record, texts, provenance)
        seconds.append(_cpu_seconds() - began)
    ops = sum(len(kernel.nodes) for kernel in joined.kernels)
    return Row(
        "chain",
        f"joining {ops:,} ops with {len(joined.kernels):,} kernels",
        round(min(seconds), 3),
        "s",
        most=0.5,
        means="added to what a compilation takes; the quickest of three",
    )
