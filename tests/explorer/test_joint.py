"""Training steps as joint graphs: what is a weight, a gradient, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import explorer
from export_engine.capture import JointFailed
from export_engine.record import check_record


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(4, 8)
        self.conv = torch.nn.Conv1d(8, 6, 3, padding=1)
        self.register_buffer("scale", torch.ones(6, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.up(x).relu()
        return self.conv(h.mT) * self.scale


def loss_fn(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.mse_loss(model(x), y)


X, Y = torch.randn(2, 5, 4), torch.randn(2, 6, 5)


@pytest.fixture(scope="module")
def step() -> explorer.Exploration:
    return explorer.explore(loss_fn, (Net(), X, Y), joint=True)


@pytest.mark.slow
def test_weights_and_gradients_have_their_names(step: explorer.Exploration) -> None:
    signature = step.record.signature
    assert [(each.kind, each.target or each.path) for each in signature.inputs][:7] == [
        ("parameter", "model.up.weight"),
        ("parameter", "model.up.bias"),
        ("parameter", "model.conv.weight"),
        ("parameter", "model.conv.bias"),
        ("buffer", "model.scale"),
        ("user_input", "x"),
        ("user_input", "y"),
    ]
    gradients = [each.target for each in signature.outputs if each.kind == "gradient_to_parameter"]
    assert gradients == [
        f"model.{layer}.{part}" for layer in ("up", "conv") for part in ("weight", "bias")
    ]
    check_record(step.record)


def test_each_backward_op_names_its_forward_op(step: explorer.Exploration) -> None:
    ops = dict(zip(step.record.overlays[0].nodes, step.record.overlays[0].texts, strict=True))
    graph = step.record.graphs[0]
    texts = {step.record.strings[graph.name[node]]: text for node, text in ops.items()}
    assert texts["threshold_backward"] == "backward of relu"
    assert texts["convolution_backward"] == "backward of convolution"
    assert texts["addmm"] == "forward"
    assert "mse_loss_backward" in step.query("overlay.pass:backward*")


def test_each_pass_has_its_colour_at_first_sight(step: explorer.Exploration) -> None:
    text, *colours = step.record.overlays
    assert [each.name for each in colours] == ["forward pass", "backward pass"]
    assert sorted(node for each in colours for node in each.nodes) == text.nodes
    assert len({colour for each in colours for colour in each.texts}) == 2


@pytest.mark.slow
def test_the_backward_pass_is_counted_as_torch_counts_it(step: explorer.Exploration) -> None:
    model = Net()
    counter = FlopCounterMode(display=False)
    with counter:
        loss_fn(model, X, Y).backward()
    assert step.cost().at().torch_flops == counter.get_total_flops()


@pytest.mark.slow
def test_nothing_is_trained_and_nothing_is_left() -> None:
    model, rng = Net(), torch.get_rng_state()
    before = {name: each.clone() for name, each in model.state_dict().items()}
    explorer.explore(loss_fn, (model, X), {"y": Y}, joint=True)
    assert all(each.grad is None for each in model.parameters())
    assert all(torch.equal(before[name], each) for name, each in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), rng)


@pytest.mark.slow
def test_what_has_no_backward_pass_says_so() -> None:
    with pytest.raises(JointFailed, match="Nothing in the result needs a gradient"):
        explorer.explore(lambda x: x + 1, (torch.randn(3),), joint=True)
    with pytest.raises(TypeError, match=r"Name its parameters"):
        explorer.explore(lambda *given: given[0](given[1]).sum(), (Net(), X), joint=True)


def own_backward(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    loss = loss_fn(model, x, y)
    loss.backward()  # <- backward
    return loss


def own_gradients(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    loss = loss_fn(model, x, y)
    torch.autograd.grad(loss, list(model.parameters()))  # <- gradients
    return loss


def own_step(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    loss = loss_fn(model, x, y)
    torch.optim.SGD(model.parameters(), lr=0.1).step()  # <- optimizer
    return loss


@pytest.mark.parametrize(
    ("step_fn", "mark", "text"),
    [
        (own_backward, "backward", "runs its backward pass itself"),
        (own_gradients, "gradients", "computes its gradients itself"),
        (own_step, "optimizer", "calls an optimizer"),
    ],
)
def test_a_step_that_trains_by_itself_names_the_line_and_what_to_return(
    step_fn: Callable[..., torch.Tensor], mark: str, text: str
) -> None:
    rows = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(n for n, row in enumerate(rows, 1) if row.endswith(f"# <- {mark}"))
    with pytest.raises(JointFailed) as failed:
        explorer.explore(step_fn, (Net(), X, Y), joint=True)
    assert f"The step {text} (test_joint.py:{line}). Return the loss instead" in str(failed.value)


def test_a_joint_graph_is_no_program_to_run(step: explorer.Exploration) -> None:
    with pytest.raises(explorer.errors.FixError, match="a joint graph cannot be run as a program"):
        step.verify()


def test_recurrent_layers_are_traced() -> None:
    model = torch.nn.GRU(4, 8, batch_first=True)
    ex = explorer.explore(lambda m, x: m(x)[0].sum(), (model, torch.randn(2, 3, 4)), joint=True)
    assert ex.ok
    assert ex.cost().at().flops > 0
