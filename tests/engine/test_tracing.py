"""Request → Attempt: modes, callables, progress, interruption, and what is left behind."""

from __future__ import annotations

import functools
import logging
import signal
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.progress import Progress

from ..models import Branching, bert2


class Noisy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("inside forward", tuple(x.shape))
        warnings.warn("mind the gap", UserWarning, stacklevel=1)
        return x.relu()


class Undecided(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x.sin()
        return x.cos()


class Slow(nn.Module):
    """Traces for about ten seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.began = threading.Event()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.began.set()
        for _ in range(1000):
            time.sleep(0.01)
            x = x + 1
        return x


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_a_module_exports_in_both_modes(strict: bool) -> None:
    attempt = capture(Request(target=nn.Linear(3, 2), args=(torch.randn(4, 3),), strict=strict))
    assert isinstance(attempt, Exported)
    assert attempt.mode == ("strict" if strict else "non-strict")
    assert attempt.seconds > 0


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_failure_is_an_attempt_and_not_an_exception(strict: bool) -> None:
    attempt = capture(Request(target=Undecided(), args=(torch.randn(3),), strict=strict))
    assert isinstance(attempt, Failed)


linear = nn.Linear(3, 3)


def doubled(x: torch.Tensor, *, scale: int = 2) -> torch.Tensor:
    return linear(x) * scale


class Holder:
    def __init__(self) -> None:
        self.net = nn.Linear(3, 3)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x) + 1


class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def generate(self, x: torch.Tensor, steps: int) -> torch.Tensor:
        for _ in range(steps):
            x = self.layer(x)
        return x


CALLABLES = {
    "function": (doubled, {"scale": 3}, "linear.weight"),
    "lambda": (lambda x: linear(x).relu(), {}, "linear.weight"),
    "object": (Holder(), {}, "net.weight"),
    "bound method": (Generator().generate, {"steps": 2}, "module.layer.weight"),
    "partial": (functools.partial(doubled, scale=4), {}, "linear.weight"),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", CALLABLES)
@pytest.mark.slow
def test_parameters_of_a_plain_callable_stay_parameters(kind: str, strict: bool) -> None:
    target, kwargs, weight = CALLABLES[kind]
    x = torch.randn(2, 3)
    attempt = capture(Request(target=target, args=(x,), kwargs=kwargs, strict=strict))
    assert isinstance(attempt, Exported)
    assert weight in attempt.program.state_dict
    torch.testing.assert_close(attempt.program.module()(x, **kwargs), target(x, **kwargs))


def test_what_cannot_be_called_is_refused_in_a_sentence() -> None:
    with pytest.raises(TypeError, match="int is not callable"):
        capture(Request(target=3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Linear is a class, not a module"):
        capture(Request(target=torch.nn.Linear, args=(torch.ones(2, 4),)))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_progress_grows_to_the_number_of_modules(strict: bool) -> None:
    seen: list[Progress] = []
    case = bert2()
    attempt = capture(
        Request(target=case.model, args=case.args, kwargs=case.kwargs, strict=strict), seen.append
    )
    assert isinstance(attempt, Exported)
    fractions = [each.done / each.total for each in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] > 0.8
    assert any(each.label.startswith("encoder.layer.1") for each in seen)


def test_output_and_warnings_are_kept_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as leaked:
        attempt = capture(Request(target=Noisy(), args=(torch.randn(2),)))
    assert "inside forward (2,)" in attempt.printed
    assert attempt.warnings == ["mind the gap"]
    assert not leaked
    assert capsys.readouterr() == ("", "")


def test_a_number_from_data_has_no_bound_that_says_nothing() -> None:
    class Counts(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[: x.sum().int().item()]

    record = describe(capture(Request(target=Counts(), args=(torch.ones(4),))))
    unbacked = [symbol for symbol in record.symbols if symbol.kind == "unbacked"]
    assert unbacked
    assert all(symbol.upper is None or symbol.upper < 1 << 40 for symbol in unbacked)


def test_torchs_own_dump_of_a_failure_is_not_what_the_model_printed() -> None:
    class Says(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            print("hello")
            return x if x.sum() > 0 else -x

    attempt = capture(Request(target=Says(), args=(torch.ones(2),)))
    assert isinstance(attempt, Failed)
    assert attempt.printed.strip() == "hello"


@pytest.mark.slow
def test_a_failing_export_writes_nothing_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    for strict in (False, True):
        capture(Request(target=Undecided(), args=(torch.randn(3),), strict=strict))
    assert capfd.readouterr() == ("", "")


def torch_state() -> dict[str, Any]:
    from torch._dynamo import eval_frame
    from torch._export import non_strict_utils
    from torch.export import _trace, dynamic_shapes
    from torch.fx.experimental import proxy_tensor, symbolic_shapes

    modules = (eval_frame, non_strict_utils, _trace, dynamic_shapes)
    owners = (
        nn.Module,
        proxy_tensor.PythonKeyTracer,
        proxy_tensor._ModuleStackTracer,
        symbolic_shapes.ShapeEnv,
    )
    return {
        "patched": [dict(vars(owner)) for owner in owners],
        "inputs": [module._combine_args for module in modules],
        "grad": torch.is_grad_enabled(),
        "filters": list(warnings.filters),
        "handlers": [list(h.filters) for h in logging.getLogger("torch").handlers],
        "rng": torch.get_rng_state().tolist(),
    }


@pytest.mark.after_check
@pytest.mark.parametrize("model", [nn.Linear(3, 3), Undecided()], ids=["exports", "fails"])
@pytest.mark.parametrize("strict", [False, True])
def test_torch_and_the_module_are_left_as_they_were(model: nn.Module, strict: bool) -> None:
    before = torch_state()
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    attributes = set(vars(model))
    capture(Request(target=model, args=(torch.ones(3),), strict=strict))
    assert torch_state() == before
    assert set(vars(model)) == attributes
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, weights[name], rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.usefixtures("sigint_heard")
def test_an_interrupt_gets_through_and_leaves_torch_as_it_was() -> None:
    before = torch_state()
    main = threading.main_thread().ident
    assert main is not None
    slow = Slow()

    def interrupt() -> None:
        slow.began.wait()
        time.sleep(0.2)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        capture(Request(target=slow, args=(torch.ones(2),)))
    assert torch_state() == before
    assert isinstance(capture(Request(target=nn.ReLU(), args=(torch.randn(2),))), Exported)


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_guards_know_the_line_that_asked(strict: bool) -> None:
    class Guarded(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.choose(x)

        def choose(self, x: torch.Tensor) -> torch.Tensor:
            if x.shape[0] > 4:  # the line
                return x.sin()
            return x.cos()

    shapes = {"x": {0: torch.export.Dim.AUTO}}
    request = Request(
        target=Guarded(), args=(torch.randn(8),), dynamic_shapes=shapes, strict=strict
    )
    record = describe(capture(request))
    guard = next(each for each in record.guards if each.text == "x.shape[0] > 4")
    stack = record.stacks.items[
        record.stacks.starts[guard.stack] : record.stacks.starts[guard.stack + 1]
    ]
    innermost = stack[-1]
    assert record.strings[record.frames.function[innermost]] == "choose"
    lines = Path(__file__).read_text().splitlines()
    assert "# the line" in lines[record.frames.line[innermost] - 1]


def test_the_range_that_a_symbol_is_born_with_is_no_guards_doing() -> None:
    def found(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * y).nonzero()  # asks whether x and y are alike, before there is a count

    free = {0: torch.export.Dim.AUTO}
    args = (torch.ones(3), torch.ones(3))
    record = describe(
        capture(Request(target=found, args=args, dynamic_shapes={"x": free, "y": free}))
    )
    assert [each.text for each in record.guards] == ["x.shape[0] == y.shape[0]"]
    [count] = [each for each in record.symbols if each.kind == "unbacked"]
    lower = next(each for each in count.bounds if each.side == "lower")
    assert (lower.value, lower.guard, lower.text) == (0, -1, "no size is negative")
    assert all(each.guard < 0 for each in record.timeline if each.kind == "range")


def test_a_lazy_module_that_was_not_called_is_refused_before_it_is_initialized() -> None:
    model = nn.Sequential(nn.LazyLinear(4))
    with pytest.raises(TypeError, match=r"0\.weight and 1 more are not initialized: .*Call"):
        capture(Request(target=model, args=(torch.ones(2, 3),)))
    assert type(model[0]) is nn.LazyLinear


@pytest.mark.slow
def test_a_branch_of_cond_knows_its_own_lines() -> None:
    attempt = capture(Request(target=Branching(), args=(torch.randn(4, 8),)))
    record = describe(attempt)
    functions = set()
    for graph in record.graphs[1:]:
        for stack in graph.stack:
            if stack >= 0:
                last = record.stacks.items[record.stacks.starts[stack + 1] - 1]
                functions.add(record.strings[record.frames.function[last]])
    assert functions == {"wide", "narrow"}


class InAComprehension(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([row * 2 for row in x.unbind()])


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_comprehension_is_a_line_of_its_function(strict: bool) -> None:
    attempt = capture(Request(target=InAComprehension(), args=(torch.ones(2, 3),), strict=strict))
    assert isinstance(attempt, Exported), attempt
    record = describe(attempt)
    functions = {record.strings[each] for each in record.frames.function}
    assert functions == {"forward"}
    assert not record.graphs[0].groups


def test_a_number_that_python_does_not_write_out_is_refused() -> None:
    def wrapped(x: torch.Tensor, n: int) -> torch.Tensor:
        return x * (n % 7)

    args = (torch.ones(2), 10**5000)
    with pytest.raises(TypeError, match=r"wrapped\(\) is an integer of 16,610 bits.*limit"):
        capture(Request(target=wrapped, args=args))
    assert isinstance(capture(Request(target=wrapped, args=(torch.ones(2), 10**40))), Exported)
