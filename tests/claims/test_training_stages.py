"""A training step after export: both passes are those of torch.compile, tied to the lines."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.results.stages import StagesResult
from explorer.session.session import FixError
from export_engine.record import check_record, from_json, to_json
from export_engine.stages import compiled
from export_engine.torch_internals import compilation_traced
from tests.claims.sources import joint_graph


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 4)
        self.dropout = nn.Dropout(0.25)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.up(x).tanh()  # <- up
        h = self.dropout(h)
        out: torch.Tensor = self.down(h)  # <- down
        return out


def loss_fn(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(x), y)  # <- loss


X, Y = torch.randn(8, 16), torch.randint(0, 4, (8,))


def line_of(name: str) -> str:
    rows = Path(__file__).read_text(encoding="utf-8").splitlines()
    number = next(n for n, row in enumerate(rows, 1) if row.endswith(f"# <- {name}"))
    return f"test_training_stages.py:{number}"


class Step:
    """A training step, compiled, with the gradients that its passes gave."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        torch.manual_seed(0)
        self.model = Net().eval()  # dropout draws nothing, so gradients can be compared
        self.before = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.explored = explorer.explore(loss_fn, (self.model, X, Y), joint=True)
        self.gradients: list[Any] = []
        timed = compiled.time_kernels

        def watch(kernels: Any, call: Callable[[], Any], *rest: Any) -> Any:
            self.gradients = [value for value in call() if value is not None]
            return timed(kernels, call, *rest)

        patch.setattr(compiled, "time_kernels", watch)
        self.stages = self.explored.stages()


@pytest.fixture(scope="module")
def step() -> Step:
    with pytest.MonkeyPatch.context() as patch:
        return Step(patch)


def lines_of(stages: StagesResult, later: bool) -> set[str]:
    names = [kernel.name for kernel in stages.kernels]
    chosen = names[stages.data.backward :] if later else names[: stages.data.backward]
    return {line for name in chosen for line in stages.kernel(name).lines}


@pytest.mark.slow
def test_kernels_of_both_passes_have_ops_times_and_the_lines_of_the_forward_pass(
    step: Step,
) -> None:
    stages = step.stages
    for kernel in stages.kernels:
        assert kernel.ops, kernel.name
        assert kernel.nodes, kernel.name
        assert kernel.lines, kernel.name
        assert kernel.microseconds >= 0, kernel.name
        code = stages.data.codes[kernel.code].text.splitlines()[kernel.call_line - 1]
        assert kernel.name.rpartition(":")[0] in code
    assert 0 < stages.data.backward < len(stages.kernels)
    assert len({kernel.name for kernel in stages.kernels}) == len(stages.kernels)
    for later in (False, True):
        assert lines_of(stages, later) == {line_of(name) for name in ("up", "down", "loss")}
    assert f"{len(stages.kernels) - stages.data.backward} backward" in str(stages)
    assert f"backward {stages.kernels[-1].name}" in str(stages)


@pytest.mark.slow
def test_the_backward_pass_reads_what_the_forward_pass_saved(step: Step) -> None:
    record = step.explored.record
    check_record(from_json(to_json(record)))
    program = record.graphs[0]
    for graph in step.stages.data.graphs:
        names = [record.strings[program.name[node]] for node in graph.input_nodes]
        assert names == [*(f"primals_{n}" for n in range(1, 7)), "tangents_1"]
        rows = graph.text.splitlines()
        values = [*graph.inputs, *graph.ops]
        for op, line in enumerate(graph.line):
            reads = graph.reads.items[graph.reads.starts[op] : graph.reads.starts[op + 1]]
            assert all(read < len(graph.inputs) + op for read in reads)
            assert all(values[read] in rows[line - 1].partition(" = ")[2] for read in reads)
        assert len(graph.outputs) == 5  # the loss, and a gradient for each of four parameters


@pytest.mark.slow
def test_gradients_are_eagers_and_nothing_is_trained(step: Step) -> None:
    assert all(value.grad is None for value in step.model.parameters())
    assert all(torch.equal(step.before[k], v) for k, v in step.model.state_dict().items())
    own = Net().eval()
    own.load_state_dict(step.before)
    loss_fn(own, X, Y).backward()
    for ours, parameter in zip(step.gradients, own.parameters(), strict=True):
        torch.testing.assert_close(ours, parameter.grad)


@pytest.mark.slow
def test_kernels_are_those_of_torch_compile(step: Step) -> None:
    heard = Codes()
    with compilation_traced(lambda _: None, in_python=True):
        torch._logging._internal.trace_log.addHandler(heard)
        model = Net().eval()
        torch.compile(lambda x, y: loss_fn(model, x, y))(X, Y).backward()
    ours = [code.text for code in step.stages.data.codes]
    assert [kernels_in(code) for code in heard.codes] == [kernels_in(code) for code in ours]


class Codes(logging.Handler):
    """The code of each compilation, as torch's trace tells it."""

    def __init__(self) -> None:
        super().__init__()
        self.codes: list[str] = []

    def emit(self, record: Any) -> None:
        if "inductor_output_code" in getattr(record, "metadata", {}):
            self.codes.append(record.payload)


def kernels_in(code: str) -> list[str]:
    return re.findall(r"r'''(.*?)'''", code, re.DOTALL)


@pytest.mark.slow
def test_what_a_training_step_cannot_be_compiled_by_is_refused(step: Step) -> None:
    with pytest.raises(FixError, match="Only inductor compiles"):
        step.explored.stages("aoti")
    with pytest.raises(FixError, match="with the inputs that it was traced with"):
        step.explored.stages(inputs=(X,))
    with pytest.raises(FixError, match="compiles only with its inputs"):
        explorer.view(joint_graph()).stages()


@pytest.mark.slow
def test_a_kernel_that_only_copies_inputs_belongs_to_the_call_that_reads_them() -> None:
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3))
    call = (model, torch.randn(2, 3, 8, 8), torch.randint(0, 4, (2, 4, 4)))
    stages = explorer.explore(loss_fn, call, joint=True).stages()
    for kernel in stages.kernels:
        assert kernel.ops, kernel.name
        assert kernel.nodes, kernel.name
        assert kernel.lines, kernel.name
    copied = {remark.text for remark in stages.data.remarks if remark.kind == "layout"}
    assert any("`convolution` into the layout that extern_kernels.conv" in text for text in copied)
