"""Code of a notebook's cell that uses what another cell imported."""

from __future__ import annotations

import linecache
import math
import sys
import types
from typing import Any

import numpy as np
import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.fixes import autofix
from export_engine.fixes.code.numpy_to_torch import with_torch
from export_engine.fixes.code.text_edits import Source
from export_engine.shapes import Shapes

COLLECTS = """class Model(torch.nn.Module):
    def forward(self, x):
        outs = []
        for i in range(x.shape[0]):
            outs.append(x[i] * torch.tensor(i))
        return torch.stack(outs)
"""
COMPARES = """class Model(torch.nn.Module):
    def forward(self, x):
        n = x.shape[1]
        length = (x != 0).sum(1)
        if int(length.max()) < n:
            x = x + int(length.max())
        return torch.relu(x)
"""
NAMES_NOTHING = COMPARES.replace("torch.nn.Module", "nn.Module").replace("torch.relu(x)", "x * 2")


def in_a_cell(text: str, name: str) -> Any:
    """The Model of a cell, below a cell that imported `torch`, `nn`, `np` and `math`."""
    file = f"/cells/{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType(name)
    sys.modules[name] = module
    vars(module).update(torch=torch, nn=torch.nn, np=np, math=math)
    exec(compile(text, file, "exec"), vars(module))
    return vars(module)["Model"]()


@pytest.mark.parametrize(
    ("text", "shapes", "given", "other"),
    [
        (COLLECTS, "x: n, _", torch.randn(5, 3), torch.randn(7, 3)),
        (COMPARES, "x: b, n", torch.ones(2, 5), torch.tensor([[1.0, 2.0, 0.0]])),
        (NAMES_NOTHING, "x: b, n", torch.ones(2, 5), torch.tensor([[1.0, 2.0, 0.0]])),
    ],
    ids=["collects", "compares", "names nothing"],
)
@pytest.mark.slow
def test_what_another_cell_imported_is_known(
    text: str, shapes: str, given: torch.Tensor, other: torch.Tensor
) -> None:
    model = in_a_cell(text, f"cell_{abs(hash(text))}")
    asked = Request(target=model, args=(given,), shapes=Shapes.parse(shapes))

    report = autofix(capture(asked))

    assert isinstance(report.attempt, Exported), report
    assert torch.allclose(report.attempt.program.module()(other), model(other))
    assert not any("__import__" in each.after for step in report.steps for each in step.fix.edits)


def test_numpy_of_another_cell_is_written_with_torch() -> None:
    text = "def forward(x):\n    return torch.tensor(np.tanh(x.numpy()))\n"
    assert "torch.tanh(x)" in with_torch(text, 2).text


@pytest.mark.parametrize(
    ("text", "module", "names"),
    [
        ("import numpy as n\ndef f(x):\n    return n.abs(x)", "numpy", {"n"}),
        ("import torch.nn\ndef f(x):\n    return torch.abs(x)", "torch", {"torch"}),
        ("def f(x):\n    return np.abs(x)", "numpy", {"np"}),
        ("def f(x, np):\n    return np.abs(x)", "numpy", set()),
        ("def f(x):\n    return x", "numpy", set()),
        ("import jax.numpy as np\ndef f(x):\n    return np.abs(x)", "numpy", set()),
        ("def g():\n    import numpy as n\ndef f(x):\n    return x", "numpy", set()),
        ("np = None\ndef f(x):\n    return np.abs(x)", "numpy", set()),
    ],
)
def test_a_name_that_a_text_binds_is_not_another_cells(
    text: str, module: str, names: set[str]
) -> None:
    line = text.count("\n") + 1
    assert Source(text, line).names_of(module) == names
